//! Words: rules 2 and 3.1, messages, injections, summaries, replacements, lost and erased bytes.

use crate::desk::Desk;
use recount_events::{Body, Event, Held, Millis, Wire};

const TEXT_A: &str = r#"{"type":"text","text":"a"}"#;

#[test]
fn strings_and_blocks_of_one_role_form_one_message() {
    let mut desk = Desk::new();
    desk.says("a");
    desk.says("b\n\"c\"");
    desk.answers(TEXT_A);
    let (user, b) = (
        r#"[{"role":"user","content":["#,
        r#"{"type":"text","text":"b\n\"c\""}"#,
    );
    let rest = r#"]},{"role":"assistant","content":["#;
    assert_eq!(
        desk.messages(),
        format!("{user}{TEXT_A},{b}{rest}{TEXT_A}]}}]")
    );
    assert_eq!(desk.messages(), desk.chat_messages());
}

#[test]
fn members_keep_their_order_and_foreign_ones_are_left_out() {
    let mut desk = Desk::new();
    let block = r#"{ "text" : "a" , "index":3, "type":"text", "cache_control":{"type":"ephemeral"}, "citations": null }"#;
    desk.log(&format!(
        r#"{{"type":"message","role":"user","content":[{block}]}}"#
    ));
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"text":"a","type":"text","citations":null}]}]"#
    );
    assert_eq!(desk.repairs(), ["keys", "cache_control"]);
}

#[test]
fn of_members_of_one_name_the_last_is_written() {
    let mut desk = Desk::new();
    desk.log(
        r#"{"type":"message","role":"user","content":[{"type":"text","text":"a","text":"b"}]}"#,
    );
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"b"}]}]"#
    );
    assert_eq!(desk.repairs(), ["keys"]);
}

#[test]
fn blank_texts_are_left_out() {
    let mut desk = Desk::new();
    desk.says(" \n\u{2003}");
    desk.says("a");
    desk.answers(r#"{"type":"text","text":""},{"type":"text","text":"b"}"#);
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"assistant","content":[{"type":"text","text":"b"}]}]"#
    );
    assert_eq!(desk.repairs(), ["blank", "blank"]);
}

#[test]
fn what_no_provider_accepts_becomes_a_replacement_character() {
    let mut desk = Desk::new();
    desk.log(r#"{"type":"message","role":"user","content":"a\ud800b\u0000 \ud83d\ude00 \\ud800"}"#);
    let shown = r#"[{"role":"user","content":[{"type":"text","text":"a\ufffdb\ufffd \ud83d\ude00 \\ud800"}]}]"#;
    assert_eq!(desk.messages(), shown);
    assert_eq!(desk.chat_messages(), shown);
    assert_eq!(desk.repairs(), ["unicode"]);
}

#[test]
fn a_text_without_words_of_its_own_is_shown_as_its_json() {
    let mut desk = Desk::new();
    desk.log(r#"{"type":"message","role":"user","content":[{"type":"text","text":5}]}"#);
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"{\"type\":\"text\",\"text\":5}"}]}]"#
    );
    assert_eq!(desk.repairs(), ["kind"]);
}

#[test]
fn a_system_message_stands_wrapped_or_in_its_own_role() {
    let mut desk = Desk::with(r#"{"system_role":true}"#);
    desk.says("a");
    desk.log(r#"{"type":"message","role":"system","content":"be brief"}"#);
    let wrapped = r#"[{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"<system>\nbe brief\n</system>"}]}]"#;
    assert_eq!(desk.messages(), wrapped);
    assert_eq!(
        desk.chat_messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"a"}]},{"role":"system","content":[{"type":"text","text":"be brief"}]}]"#
    );
    desk.profile(r#"{"system_role":false}"#);
    assert_eq!(desk.chat_messages(), wrapped);
}

#[test]
fn the_first_words_of_the_assistant_get_something_before_them() {
    let mut desk = Desk::new();
    desk.answers(TEXT_A);
    desk.says("b");
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"[The earlier conversation is not shown.]"}]},{"role":"assistant","content":[{"type":"text","text":"a"}]},{"role":"user","content":[{"type":"text","text":"b"}]}]"#
    );
    assert_eq!(desk.repairs(), ["starts with assistant"]);
}

#[test]
fn folds_show_their_summaries_where_they_began() {
    let mut desk = Desk::new();
    desk.says("a");
    desk.says("b");
    desk.says("c");
    desk.log(r#"{"type":"collapse_commit","id":"x<\"&>","first":1,"last":1,"summary":"s \"1\""}"#);
    desk.log(r#"{"type":"compact_commit","id":"k","first":2,"last":3,"summary":"s2"}"#);
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"<collapsed id=\"x&lt;&quot;&amp;&gt;\">\ns \"1\"\n</collapsed>"},{"type":"text","text":"<summary>\ns2\n</summary>"}]}]"#
    );
}

#[test]
fn injections_stand_at_their_place_and_tails_at_the_end() {
    let mut desk = Desk::new();
    desk.log(r#"{"type":"inject","slot":"t","lifetime":"tail","content":"tail"}"#);
    desk.log(r#"{"type":"inject","slot":"o","content":"once"}"#);
    desk.says("a");
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"once"},{"type":"text","text":"a"},{"type":"text","text":"tail"}]}]"#
    );
}

#[test]
fn replaced_words_show_what_replaces_them() {
    let mut desk = Desk::new();
    desk.log(r#"{"type":"message","role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#);
    desk.log(r#"{"type":"replace","block":[1,0],"with":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}"#);
    desk.log(r#"{"type":"replace","block":[1,1],"with":[]}"#);
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}]}]"#
    );
    let whys: Vec<_> = desk
        .project(Wire::Anthropic)
        .pieces
        .iter()
        .map(|piece| (piece.source, piece.why))
        .collect();
    assert_eq!(whys.len(), 2);
    assert!(
        whys.iter()
            .all(|(source, why)| source.seq.0 == 1 && format!("{why:?}") == "Replaced(Seq(2))")
    );
}

#[test]
fn lost_and_erased_bytes_leave_a_mark() {
    let mut desk = Desk::new();
    for held in [Held::Lost, Held::Erased] {
        let raw = r#"{"type":"message","role":"user","content":"a"}"#;
        let mut event = Event::from_json(raw, Millis(0)).unwrap();
        if let Body::Message(message) = &mut event.body {
            message.content.blocks[0].raw.held = held;
        }
        desk.apply(event);
    }
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"[lost]"},{"type":"text","text":"[erased]"}]}]"#
    );
}

#[test]
fn raw_bytes_are_read_as_utf8() {
    let mut desk = Desk::new();
    desk.says("a");
    desk.answers(r#"{"type":"tool_use","id":"t1","name":"n","input":{}}"#);
    desk.log(r#"{"type":"tool_result","call":"t1","bytes":"Yf9i"}"#);
    assert!(
        desk.messages().contains("\"content\":\"a\u{fffd}b\""),
        "{}",
        desk.messages()
    );
}
