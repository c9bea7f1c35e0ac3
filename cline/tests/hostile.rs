//! Whatever stands in Cline's files, nothing panics, and what is not looked at passes through.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use proptest::prelude::*;
use recount_cline::{
    Edits, Helper, Keep, Message, Overlaid, Range, Text, UiMessage, Window, pair, render,
};

/// Words that mean something to the rules, cut anywhere.
fn words() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "[read_file for 'a.rs'] Result:",
        "[write_to_file for 'a.rs'] Result:",
        "<final_file_content path=\"a.rs\">x</final_file_content>",
        "<file_content path=\"$&\">y</file_content>",
        "<file_content path=\"a\">",
        "</file_content>",
        "\u{1f600}",
        "$$ $` $'",
        "",
        "\u{2028}",
    ]);
    (known, known_cut(), ".{0,8}").prop_map(|(one, two, three)| format!("{one}{two}{three}"))
}

fn known_cut() -> impl Strategy<Value = String> {
    (0_usize..40).prop_map(|at| {
        "[replace_in_file for 'b c'] Result:\nmore"
            .chars()
            .take(at)
            .collect()
    })
}

fn block() -> impl Strategy<Value = String> {
    let id = prop::sample::select(vec!["\"\"", "\"a\"", "\"b\"", "null", "7"]);
    let token = words().prop_map(|words| Text::from(words.as_str()).to_token());
    (0_u8..8, token, id).prop_map(|(kind, token, id)| match kind {
        0 | 1 => format!(r#"{{"type":"text","text":{token}}}"#),
        2 => format!(r#"{{"type":"tool_use","id":{id},"input":{{}}}}"#),
        3 => format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{token}}}"#),
        4 => format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":[{{"type":"text","text":{token}}}]}}"#),
        5 => format!(r#"{{"type":"image","source":{{"type":"base64","data":{token}}}}}"#),
        6 => r#"{"type":"text"}"#.to_owned(),
        _ => token,
    })
}

fn history() -> impl Strategy<Value = String> {
    let blocks =
        prop::collection::vec(block(), 0..4).prop_map(|blocks| format!("[{}]", blocks.join(",")));
    let content = prop_oneof![4 => blocks, 1 => block(), 1 => Just("\"words\"".to_owned())];
    let role = prop::sample::select(vec!["\"user\"", "\"assistant\"", "\"system\"", "0"]);
    let message = (role, content)
        .prop_map(|(role, content)| format!(r#"{{"role":{role},"ts":5,"content":{content}}}"#));
    prop::collection::vec(message, 0..12).prop_map(|messages| format!("[{}]", messages.join(",")))
}

fn range() -> impl Strategy<Value = Option<Range>> {
    let end = prop_oneof![-4_i64..14, Just(i64::MAX), Just(i64::MIN)];
    prop::option::of(end.prop_map(|end| Range { start: 2, end }))
}

proptest! {
    #[test]
    fn no_history_stops_the_rules(json in history(), range in range(), used in 0.0_f64..400_000.0) {
        let history = Message::list(&json).unwrap();
        let mut edits = Edits::new();
        edits.note_both(&history, 1.0);
        let overlaid = Overlaid { history: &history, range };
        let request = UiMessage::from_json(&format!(r#"{{"ts":2,"say":"api_req_started","text":"{{\"tokensIn\":{used}}}"}}"#));
        let turn = overlaid.turn(&mut edits, &[request], 0, Window::of(None, "", false), false).unwrap();
        prop_assert!(turn.rendered.messages.len() <= history.len() + 2);
        // What the file says is what memory says.
        prop_assert_eq!(Edits::from_json(&edits.to_json()).unwrap().to_json(), edits.to_json());
        let mut helper = Helper { conversation: history.clone(), range, edits };
        helper.compact(3.0);
        let _ = helper.render();
        for keep in [Keep::None, Keep::LastTwo, Keep::Half, Keep::Quarter] {
            let next = Range::next(&history, range, keep);
            let _ = render(&history, Some(next), &helper.edits);
        }
        let _ = pair(history);
    }

    #[test]
    fn junk_in_the_edit_history_is_refused_or_read(json in "[\\[\\]0-9,\"a-z.-]{0,60}") {
        if let Some(edits) = Edits::from_json(&json) {
            prop_assert_eq!(Edits::from_json(&edits.to_json()), Some(edits));
        }
    }

    #[test]
    fn text_is_written_as_it_was_read(units in prop::collection::vec(any::<u16>(), 0..30)) {
        let text = Text::from(units.as_slice());
        let token = text.to_token();
        prop_assert!(recount_events::raw::is_json(&token) || recount_events::raw::has_lone_surrogate(&token));
        prop_assert_eq!(Text::from_token(&token).unwrap(), text);
    }
}

#[test]
fn lone_halves_of_a_pair_keep_their_place_and_their_length() {
    let token = r#""a\ud83d\n\ude00b\u0041""#;
    let text = Text::from_token(token).unwrap();
    assert_eq!(text.units(), [0x61, 0xd83d, 0x0a, 0xde00, 0x62, 0x41]);
    assert_eq!(text.to_token(), r#""a\ud83d\n\ude00bA""#);
}

#[test]
fn unknown_keys_and_their_order_pass_through() {
    let json = r#"[{"ts":1,"role":"user","content":[{"x":1,"type":"text","text":"a","y":[ 2 ]}],"z":null},{"role":"assistant","content":"b"}]"#;
    let history = Message::list(json).unwrap();
    let sent = render(&history, None, &Edits::new()).messages;
    assert_eq!(recount_cline::to_json(&sent), json);
    let mut edits = Edits::new();
    edits.note_both(&history, 9.0);
    let sent = render(&history, None, &edits).messages;
    let expected = r#"{"ts":1,"role":"user","content":[{"x":1,"type":"text","text":"[Continue assisting the user!]","y":[ 2 ]}],"z":null}"#;
    assert_eq!(sent[0].as_json(), expected);
}
