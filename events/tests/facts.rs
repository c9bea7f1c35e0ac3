//! What is read from raw blocks, by dialect.

use recount_events::raw::{elements, has_lone_surrogate, is_json, member, members, words};
use recount_events::{Block, BlockKind, Format, bytes_to_token, escape, pixels, sanitize};

#[track_caller]
fn kind(format: Format, raw: &str, expected: BlockKind) {
    assert!(is_json(raw), "{raw}");
    assert_eq!(Block::from_raw(format, raw).kind, expected, "{raw}");
}

#[test]
fn kinds_by_dialect() {
    use BlockKind::*;
    let a = Format::Anthropic;
    kind(a, r#""words""#, Text);
    kind(a, r#"{"type":"text","text":"x"}"#, Text);
    kind(a, r#"{"text":"x","type":"tool_use"}"#, Call);
    kind(a, r#"{"type":"\u0074ool_result"}"#, Result);
    kind(a, r#"{"type":"web_search_tool_result"}"#, ServerResult);
    kind(a, r#"{"type":"server_tool_use"}"#, ServerCall);
    kind(a, r#"{"type":"redacted_thinking"}"#, Thinking);
    kind(a, r#"{"type":"compaction"}"#, Compaction);
    kind(a, r#"{"type":"novelty"}"#, Other);
    kind(a, r#"{"x":{"type":"text"}}"#, Other);
    kind(a, "17", Other);
    let c = Format::OpenaiChat;
    kind(
        c,
        r#"{"type":"image_url","image_url":{"url":"https://x"}}"#,
        Image,
    );
    kind(c, r#"{"type":"function","id":"a","function":{}}"#, Call);
    kind(c, r#"{"id":"a","function":{}}"#, Call);
    let r = Format::OpenaiResponses;
    kind(r, r#"{"type":"function_call"}"#, Call);
    kind(r, r#"{"type":"custom_tool_call_output"}"#, Result);
    kind(r, r#"{"type":"web_search_call"}"#, ServerCall);
    kind(r, r#"{"type":"reasoning"}"#, Thinking);
    kind(r, r#"{"type":"message","role":"user","content":[]}"#, Text);
    let g = Format::Gemini;
    kind(g, r#"{"text":"x"}"#, Text);
    kind(g, r#"{"text":"x","thought":true}"#, Thinking);
    kind(
        g,
        r#"{"thoughtSignature":"s","functionCall":{"name":"f"}}"#,
        Call,
    );
    kind(g, r#"{"functionResponse":{"name":"f"}}"#, Result);
    kind(
        g,
        r#"{"inlineData":{"mimeType":"image/png","data":""}}"#,
        Image,
    );
    kind(
        g,
        r#"{"inlineData":{"mimeType":"application/pdf","data":""}}"#,
        Document,
    );
}

#[test]
fn calls_by_dialect() {
    #[track_caller]
    fn call(format: Format, raw: &str, id: &str, name: &str, input: &str) {
        let block = Block::from_raw(format, raw);
        let facts = block.call(format).unwrap();
        assert_eq!(
            (facts.id.as_str(), facts.name.as_str(), facts.input),
            (id, name, input)
        );
    }
    call(
        Format::Anthropic,
        r#"{"type":"tool_use","id":"t\ud800","name":"f","input":{ "a" : [1, "}"] }}"#,
        "t\u{fffd}",
        "f",
        r#"{ "a" : [1, "}"] }"#,
    );
    call(
        Format::OpenaiChat,
        r#"{"id":"c","type":"function","function":{"name":"f","arguments":"{bad"}}"#,
        "c",
        "f",
        r#""{bad""#,
    );
    call(
        Format::OpenaiChat,
        r#"{"id":"c","type":"custom","custom":{"name":"f","input":"raw"}}"#,
        "c",
        "f",
        r#""raw""#,
    );
    call(
        Format::OpenaiResponses,
        r#"{"type":"function_call","id":"fc_1","call_id":"c","name":"f","arguments":"{}"}"#,
        "c",
        "f",
        r#""{}""#,
    );
    call(
        Format::OpenaiResponses,
        r#"{"type":"local_shell_call","call_id":"c","action":{"x":1}}"#,
        "c",
        "local_shell",
        r#"{"x":1}"#,
    );
    call(
        Format::Gemini,
        r#"{"functionCall":{"name":"f","args":{}}}"#,
        "",
        "f",
        "{}",
    );
    assert_eq!(
        Block::from_raw(Format::Anthropic, r#"{"type":"text","text":""}"#).call(Format::Anthropic),
        None
    );
}

#[test]
fn results_by_dialect() {
    let block = Block::from_raw(
        Format::Anthropic,
        r#"{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text"}]}"#,
    );
    let facts = block.result(Format::Anthropic).unwrap();
    assert_eq!(
        (facts.call_id.as_str(), facts.is_error, facts.content),
        ("t", Some(true), Some(r#"[{"type":"text"}]"#))
    );
    let block = Block::from_raw(
        Format::Gemini,
        r#"{"functionResponse":{"id":"i","name":"f","response":{"error":"x"}}}"#,
    );
    let facts = block.result(Format::Gemini).unwrap();
    assert_eq!(
        (
            facts.call_id.as_str(),
            facts.name.as_deref(),
            facts.is_error
        ),
        ("i", Some("f"), Some(true))
    );
    let block = Block::from_raw(
        Format::OpenaiResponses,
        r#"{"type":"function_call_output","call_id":"c","output":"x"}"#,
    );
    assert_eq!(
        block.result(Format::OpenaiResponses).unwrap().content,
        Some(r#""x""#)
    );
}

#[test]
fn pictures() {
    let png = "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAUCAYAAAC07w7bAAAA";
    for raw in [
        format!(
            r#"{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{png}"}}}}"#
        ),
        format!(
            r#"{{"type":"tool_result","tool_use_id":"t","content":[{{"type":"image","source":{{"data":"{png}"}}}}]}}"#
        ),
    ] {
        let image = Block::from_raw(Format::Anthropic, &raw).images(Format::Anthropic);
        assert_eq!(image.len(), 1, "{raw}");
        assert_eq!(
            (image[0].width, image[0].height, image[0].bytes),
            (10, 20, png.len() as u64)
        );
    }
    let raw =
        format!(r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{png}"}}}}"#);
    assert_eq!(
        Block::from_raw(Format::OpenaiChat, &raw)
            .image
            .unwrap()
            .width,
        10
    );
    let raw = r#"{"type":"image","source":{"type":"url","url":"https://x/y.png"}}"#;
    assert_eq!(
        Block::from_raw(Format::Anthropic, raw).image.unwrap().bytes,
        0
    );
}

#[test]
fn items_of_responses() {
    let raw = r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/gif;base64,R0lGODlhLAHIAA=="},{"type":"input_text","text":"b"}]}"#;
    let block = Block::from_raw(Format::OpenaiResponses, raw);
    assert_eq!(block.words().unwrap(), "ab");
    assert_eq!(block.images(Format::OpenaiResponses)[0].width, 300);
    let raw = r#"{"functionResponse":{"name":"f","response":{},"parts":[{"inlineData":{"mimeType":"image/gif","data":"R0lGODlhLAHIAA=="}}]}}"#;
    assert_eq!(
        Block::from_raw(Format::Gemini, raw).images(Format::Gemini)[0].height,
        200
    );
}

#[test]
fn picture_headers() {
    assert_eq!(pixels(b"GIF89a\x2c\x01\xc8\x00rest"), Some((300, 200)));
    let jpeg = [
        &[
            0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xff, 0xc2, 0, 17, 8,
        ][..],
        &[0x01, 0x00, 0x02, 0x00, 3],
    ]
    .concat();
    assert_eq!(pixels(&jpeg), Some((512, 256)));
    assert_eq!(
        pixels(b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\x00\x00\x1f\x00\x00"),
        Some((16, 32))
    );
    assert_eq!(
        pixels(b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x40\x01\xf0\x00"),
        Some((320, 240))
    );
    assert_eq!(
        pixels(b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f\x3f\xc1\x13\x00"),
        Some((320, 80))
    );
    // Huffman tables have a marker among those of the frames.
    let tables = [
        &[0xff, 0xd8, 0xff, 0xc4, 0, 8, 9, 9, 9, 9, 9, 9][..],
        &jpeg[2..],
    ]
    .concat();
    assert_eq!(pixels(&tables), Some((512, 256)));
    for cut in 0..jpeg.len() {
        let _ = pixels(&jpeg[..cut]);
    }
    assert_eq!(pixels(&[0xff, 0xd8, 0xff, 0xe1, 0, 0, 0xff, 0xd9]), None);
}

#[test]
fn readers_of_raw_json() {
    let raw = " { \"a\" : 1 , \"b\\n\":[ {\"}\":\"\\\"]\"} , -2.5e3, null ] ,\"a\":\"x\" } ";
    let all: Vec<_> = members(raw)
        .unwrap()
        .map(|one| (one.key().into_owned(), one.value))
        .collect();
    assert_eq!(
        all,
        [
            ("a".into(), "1"),
            ("b\n".into(), r#"[ {"}":"\"]"} , -2.5e3, null ]"#),
            ("a".into(), r#""x""#)
        ]
    );
    assert_eq!(member(raw, "a"), Some(r#""x""#));
    assert_eq!(elements("[ ]").unwrap().count(), 0);
    assert_eq!(
        elements(r#"[1,"a,]",[2]]"#).unwrap().collect::<Vec<_>>(),
        ["1", r#""a,]""#, "[2]"]
    );
    assert!(members("[]").is_none() && elements("{}").is_none() && members("").is_none());
}

#[test]
fn words_of_tokens() {
    assert_eq!(
        words(r#""a\"\\\/\b\f\n\r\t\u0041\ud83d\ude00""#).unwrap(),
        "a\"\\/\u{8}\u{c}\n\r\tA😀"
    );
    assert_eq!(
        words(r#""\ud83d!\ude00\ud83d\ud83d\ude00""#).unwrap(),
        "\u{fffd}!\u{fffd}\u{fffd}😀"
    );
    assert!(
        has_lone_surrogate(r#""\\\ud800""#) && !has_lone_surrogate(r#""\\ud800 \ud83d\ude00""#)
    );
    assert_eq!(words("17"), None);
}

#[test]
fn tokens_of_words() {
    assert_eq!(
        escape("a\"\\\n\u{1}\u{0}é😀"),
        r#""a\"\\\n\u0001\u0000é😀""#
    );
    assert_eq!(bytes_to_token(b"a\0\xff\"b"), "\"a\u{fffd}\u{fffd}\\\"b\"");
    assert_eq!(
        sanitize(r#"{"k\u0000":["\ud800x","\ud83d\ude00","\\u0000","\uDC00\uD800"]}"#),
        r#"{"k\ufffd":["\ufffdx","\ud83d\ude00","\\u0000","\ufffd\ufffd"]}"#
    );
    assert_eq!(sanitize(r#""\ud800\u0041""#), r#""\ufffd\u0041""#);
    assert_eq!(sanitize(r#""\udc00\udc00""#), r#""\ufffd\ufffd""#);
    assert_eq!(words(r#""\udc00\udc00""#).unwrap(), "\u{fffd}\u{fffd}");
    assert!(matches!(
        sanitize(r#""\u00e9 plain""#),
        std::borrow::Cow::Borrowed(_)
    ));
}
