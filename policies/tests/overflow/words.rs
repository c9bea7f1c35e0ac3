//! R1: what a provider's words mean.

use proptest::prelude::*;
use recount_events::Excess::{self, Bytes, Images, Tokens};
use recount_policies::overflow::{Said, Verdict, parse};

fn read(status: Option<u16>, code: Option<&str>, body: &str) -> Verdict {
    parse(&Said { status, code, body })
}

type Row = (
    Option<u16>,
    &'static str,
    Option<Excess>,
    Option<u64>,
    Option<u64>,
);

/// Wordings of the providers, as they come: bare, in the provider's own JSON, in a gateway's.
const ROWS: &[Row] = &[
    (
        None,
        "prompt is too long: 210118 tokens > 200000 maximum",
        Some(Tokens),
        Some(210_118),
        Some(200_000),
    ),
    (
        Some(400),
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210118 tokens > 200000 maximum"}}"#,
        Some(Tokens),
        Some(210_118),
        Some(200_000),
    ),
    (
        Some(400),
        r#"400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 1,210,118 tokens > 1,000,000 maximum"}}"#,
        Some(Tokens),
        Some(1_210_118),
        Some(1_000_000),
    ),
    (
        Some(400),
        "input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again",
        Some(Tokens),
        Some(188_059),
        Some(200_000),
    ),
    (None, "Prompt is too long", Some(Tokens), None, None),
    (
        None,
        "Input is too long for requested model.",
        Some(Tokens),
        None,
        None,
    ),
    (
        None,
        "capability_rejected: prompt_too_long",
        Some(Tokens),
        None,
        None,
    ),
    (
        Some(400),
        r#"{"error":{"message":"prompt token count of 74490 exceeds the limit of 72000","code":"model_max_prompt_tokens_exceeded"}}"#,
        Some(Tokens),
        Some(74_490),
        Some(72_000),
    ),
    (
        Some(400),
        r#"{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
        Some(Tokens),
        Some(130_000),
        Some(128_000),
    ),
    (
        Some(400),
        "This model's maximum context length is 40960 tokens. However, you requested 100 output tokens and your prompt contains at least 40861 input tokens, for a total of at least 40961 tokens.",
        Some(Tokens),
        Some(40_861),
        Some(40_960),
    ),
    (
        Some(200),
        r#"{"type":"response.failed","response":{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again."}}}"#,
        Some(Tokens),
        None,
        None,
    ),
    (
        Some(400),
        r#"{"error":{"code":400,"message":"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).","status":"INVALID_ARGUMENT"}}"#,
        Some(Tokens),
        Some(1_196_265),
        Some(1_048_575),
    ),
    (
        Some(400),
        "The input token count exceeds the maximum number of tokens allowed (1048576).",
        Some(Tokens),
        None,
        Some(1_048_576),
    ),
    (
        Some(400),
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.",
        Some(Tokens),
        Some(300_000),
        Some(272_000),
    ),
    (
        Some(400),
        "Requested tokens (5000) exceed context window of 4096",
        Some(Tokens),
        Some(5_000),
        Some(4_096),
    ),
    (
        Some(400),
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        Some(Tokens),
        Some(5_000),
        Some(4_096),
    ),
    (
        Some(400),
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        Some(Tokens),
        Some(537_812),
        Some(131_072),
    ),
    (
        Some(400),
        "This endpoint's maximum context length is 65536 tokens. However, you requested about 70000 tokens (60000 of text input, 10000 in the output).",
        Some(Tokens),
        Some(60_000),
        Some(65_536),
    ),
    (
        Some(400),
        "This endpoint's maximum context length is 65536 tokens.",
        Some(Tokens),
        None,
        Some(65_536),
    ),
    (
        Some(402),
        r#"{"error":{"message":"Prompt tokens limit exceeded: 256772 > 229126. To increase, visit the settings.","code":402}}"#,
        Some(Tokens),
        Some(256_772),
        Some(229_126),
    ),
    // The stop reason of a stream that ended early.
    (
        None,
        r#"{"stop_reason":"model_context_window_exceeded"}"#,
        Some(Tokens),
        None,
        None,
    ),
    // Bytes.
    (
        Some(413),
        r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
        Some(Bytes),
        None,
        None,
    ),
    (Some(413), "", Some(Bytes), None, None),
    (
        Some(413),
        "<html>413 Request Entity Too Large</html>",
        Some(Bytes),
        None,
        None,
    ),
    (
        Some(400),
        "Request payload size exceeds the limit: 20971520 bytes.",
        Some(Bytes),
        None,
        Some(20_971_520),
    ),
    // Pictures.
    (
        Some(400),
        "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes",
        Some(Images),
        Some(7_340_032),
        Some(5_242_880),
    ),
    (
        Some(400),
        "Too many images and documents: 101 + 2 > 100",
        Some(Images),
        Some(103),
        Some(100),
    ),
    (
        Some(400),
        "too many images in the request: 21 > 20",
        Some(Images),
        Some(21),
        Some(20),
    ),
    (
        Some(400),
        "At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels",
        Some(Images),
        None,
        Some(2_000),
    ),
    // Something else.
    (
        Some(429),
        r#"{"error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 40,000 input tokens per minute."}}"#,
        None,
        None,
        None,
    ),
    (
        Some(413),
        "Request too large for model on tokens per minute (TPM): Limit 12000, Requested 15000",
        None,
        None,
        None,
    ),
    (
        Some(400),
        "Request too large: maximum context length is 8192 tokens per min",
        None,
        None,
        None,
    ),
    (
        Some(400),
        "max_tokens: 20000 > 8192, which is the maximum allowed number of output tokens for this model",
        None,
        None,
        None,
    ),
    (
        Some(401),
        "prompt is too long: 3 tokens > 2 maximum",
        None,
        None,
        None,
    ),
    (Some(529), "Overloaded", None, None, None),
    (
        Some(400),
        "messages: roles must alternate",
        None,
        None,
        None,
    ),
    (Some(500), "Internal server error", None, None, None),
    (None, "", None, None, None),
];

#[test]
fn r1_each_wording_says_of_what_and_how_much() {
    for (status, body, excess, actual, limit) in ROWS {
        let verdict = read(*status, None, body);
        assert_eq!(
            (verdict.excess, verdict.actual, verdict.limit),
            (*excess, *actual, *limit),
            "{status:?} {body}"
        );
    }
}

#[test]
fn r1_case_does_not_matter() {
    for (status, body, excess, actual, limit) in ROWS {
        let plain = !body.contains('{');
        for body in [body.to_uppercase(), body.to_lowercase()] {
            if plain {
                let verdict = read(*status, None, &body);
                let found = (verdict.excess, verdict.actual, verdict.limit);
                assert_eq!(found, (*excess, *actual, *limit), "{body}");
            }
        }
    }
}

#[test]
fn r1_a_code_alone_is_enough() {
    for (code, excess) in [
        ("context_length_exceeded", Some(Tokens)),
        ("model_max_prompt_tokens_exceeded", Some(Tokens)),
        ("exceed_context_size_error", Some(Tokens)),
        ("request_too_large", Some(Bytes)),
        ("rate_limit_exceeded", None),
        ("invalid_request_error", None),
    ] {
        assert_eq!(read(Some(400), Some(code), "").excess, excess, "{code}");
    }
}

/// Nested in causes, bodies and strings of JSON, to the eighth level and not beyond.
#[test]
fn r1_nested_errors_are_found_to_the_eighth_level() {
    let inner = r#"{"message":"prompt is too long: 11 tokens > 10 maximum"}"#;
    for (key, in_string) in [
        ("error", false),
        ("cause", false),
        ("data", false),
        ("responseBody", true),
        ("message", true),
    ] {
        let mut body = inner.to_owned();
        let mut deepest = 0;
        for level in 1..=20 {
            body = if in_string {
                format!(r#"{{"{key}":{}}}"#, recount_events::escape(&body))
            } else {
                format!(r#"{{"{key}":{body}}}"#)
            };
            if body.len() > 60_000 {
                break;
            }
            if read(None, None, &body).actual == Some(11) {
                deepest = level;
            }
        }
        // Deeper strings are still read as words.
        assert!(
            deepest == 8 || (in_string && deepest > 8),
            "{key}: {deepest}"
        );
    }
}

#[test]
fn r1_a_hostile_body_is_read_in_bounds() {
    let deep = "[".repeat(100_000);
    let wide = format!("[{}1]", "1,".repeat(200_000));
    let many = format!(
        r#"{{"errors":[{}"x"]}}"#,
        r#""image image image","#.repeat(3_000)
    );
    let again = "image prompt is too long: ".repeat(10_000);
    let digits = "9".repeat(60_000);
    let number = format!("prompt is too long: {digits} tokens > {digits} maximum");
    for body in [&deep, &wide, &many, &again, &number] {
        let _ = read(Some(400), None, body);
    }
    assert_eq!(read(Some(400), None, &number).excess, Some(Tokens));
    assert_eq!(read(Some(400), None, &number).actual, None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever it says: no panic, and without any of the words nothing is concluded.
    #[test]
    fn r1_any_text_has_an_answer(body in any::<String>(), code in proptest::option::of(any::<String>()), status in proptest::option::of(any::<u16>())) {
        let _ = read(status, code.as_deref(), &body);
    }

    /// Any numbers in any JSON wrapping are read as they are.
    #[test]
    fn r1_counts_are_read_exactly(actual in 0..u64::MAX / 2, limit in 0..u64::MAX / 2, key in "error|cause|data|message|body") {
        let words = format!("prompt is too long: {actual} tokens > {limit} maximum");
        let body = format!(r#"{{"{key}":{}}}"#, recount_events::escape(&words));
        let verdict = read(Some(400), None, &body);
        prop_assert_eq!(verdict, Verdict { excess: Some(Tokens), actual: Some(actual), limit: Some(limit), ..Verdict::default() });
    }
}
