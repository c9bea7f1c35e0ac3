//! Calls and results: rules 3.2 to 3.4 and 3.7, and their places on Chat.

use crate::desk::Desk;
use recount_events::Wire;

fn asked() -> Desk {
    let mut desk = Desk::new();
    desk.says("go");
    desk
}

fn behind_go(desk: &Desk) -> String {
    let all = desk.messages();
    all.strip_prefix(r#"[{"role":"user","content":[{"type":"text","text":"go"}]},"#)
        .expect(&all)
        .to_string()
}

fn chat_behind_go(desk: &Desk) -> String {
    let all = desk.chat_messages();
    all.strip_prefix(r#"[{"role":"user","content":[{"type":"text","text":"go"}]},"#)
        .expect(&all)
        .to_string()
}

#[test]
fn results_stand_behind_their_response_in_call_order() {
    let mut desk = asked();
    desk.answers(
        r#"{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"ls","input":{"a":1}},{"type":"tool_use","id":"t2","name":"ls","input":{}}"#,
    );
    desk.log(r#"{"type":"tool_result","call":"t2","content":"two"}"#);
    desk.log(r#"{"type":"inject","slot":"s","content":"between"}"#);
    desk.log(r#"{"type":"tool_result","call":"t1","content":"one","status":"error"}"#);
    assert_eq!(
        behind_go(&desk),
        r#"{"role":"assistant","content":[{"type":"text","text":"x"},{"type":"tool_use","id":"t1","name":"ls","input":{"a":1}},{"type":"tool_use","id":"t2","name":"ls","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"one","is_error":true},{"type":"tool_result","tool_use_id":"t2","content":"two"},{"type":"text","text":"between"}]}]"#
    );
    assert_eq!(
        chat_behind_go(&desk),
        r#"{"role":"assistant","content":[{"type":"text","text":"x"}],"tool_calls":[{"id":"t1","type":"function","function":{"name":"ls","arguments":"{\"a\":1}"}},{"id":"t2","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"t1","content":"one"},{"role":"tool","tool_call_id":"t2","content":"two"},{"role":"user","content":[{"type":"text","text":"between"}]}]"#
    );
}

#[test]
fn an_error_holds_text_only_since_a_picture_in_it_would_be_refused() {
    let picture =
        r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}"#;
    let document =
        r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"d"}}"#;
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"no"},{"type":"text","text":"[image]"},{"type":"text","text":"[document]"}],"is_error":true}"#;
    let content = format!(r#"[{{"type":"text","text":"no"}},{picture},{document}]"#);
    let mut event = asked();
    event.answers(r#"{"type":"tool_use","id":"t1","name":"n","input":{}}"#);
    event.log(&format!(
        r#"{{"type":"tool_result","call":"t1","status":"error","content":{content}}}"#
    ));
    assert_eq!(behind_go(&event), format!("{call}]}}]"));
    let mut block = asked();
    block.answers(r#"{"type":"tool_use","id":"t1","name":"n","input":{}}"#);
    block.log(&format!(
        r#"{{"type":"message","role":"user","content":[{{"type":"tool_result","tool_use_id":"t1","content":{content},"is_error":true}}]}}"#
    ));
    assert_eq!(behind_go(&block), format!("{call}]}}]"));
}

#[test]
fn on_chat_texts_stand_before_calls_and_content_is_null_without_text() {
    let mut desk = asked();
    desk.answers(
        r#"{"type":"tool_use","id":"t1","name":"n","input":{}},{"type":"text","text":"x"}"#,
    );
    desk.log(r#"{"type":"tool_result","call":"t1","content":"r"}"#);
    desk.answers(r#"{"type":"tool_use","id":"t2","name":"n","input":{}}"#);
    desk.log(r#"{"type":"tool_result","call":"t2","content":"r"}"#);
    let call = |id: &str| {
        format!(r#"{{"id":"{id}","type":"function","function":{{"name":"n","arguments":"{{}}"}}}}"#)
    };
    let (one, two) = (call("t1"), call("t2"));
    assert_eq!(
        chat_behind_go(&desk),
        format!(
            r#"{{"role":"assistant","content":[{{"type":"text","text":"x"}}],"tool_calls":[{one}]}},{{"role":"tool","tool_call_id":"t1","content":"r"}},{{"role":"assistant","content":null,"tool_calls":[{two}]}},{{"role":"tool","tool_call_id":"t2","content":"r"}}]"#
        )
    );
}

#[test]
fn ids_that_cannot_travel_are_made_from_their_place() {
    let mut desk = asked();
    desk.answers(
        r#"{"type":"tool_use","id":"functions.ls:0","name":"ls","input":{}},{"type":"tool_use","id":"t","name":"ls","input":{}},{"type":"tool_use","id":"t","name":"ls","input":{}}"#,
    );
    desk.log(r#"{"type":"tool_result","block":[2,0],"content":"0"}"#);
    desk.log(r#"{"type":"tool_result","block":[2,1],"content":"1"}"#);
    desk.log(r#"{"type":"tool_result","block":[2,2],"content":"2"}"#);
    let shown = behind_go(&desk);
    for id in ["call_2_0", "t", "call_2_2"] {
        assert_eq!(
            shown.matches(&format!("\"id\":\"{id}\"")).count(),
            1,
            "{shown}"
        );
        assert_eq!(
            shown.matches(&format!("\"tool_use_id\":\"{id}\"")).count(),
            1,
            "{shown}"
        );
    }
}

#[test]
fn names_and_inputs_are_made_acceptable() {
    let mut desk = asked();
    desk.answers(
        r#"{"type":"tool_use","id":"t1","name":"a.b é","input":[1]},{"type":"tool_use","id":"t2","name":""},{"type":"tool_use","id":"t3","name":"n","input":{ "k" : 1 }}"#,
    );
    let shown = behind_go(&desk);
    assert!(
        shown.contains(r#"{"type":"tool_use","id":"t1","name":"a_b__","input":{"value":[1]}}"#),
        "{shown}"
    );
    assert!(
        shown.contains(r#"{"type":"tool_use","id":"t2","name":"unknown","input":{}}"#),
        "{shown}"
    );
    assert!(
        shown.contains(r#"{"type":"tool_use","id":"t3","name":"n","input":{ "k" : 1 }}"#),
        "{shown}"
    );
    assert!(chat_behind_go(&desk).contains(r#""arguments":"{ \"k\" : 1 }""#));
}

#[test]
fn open_calls_get_fixed_words_and_interim_results_stand() {
    let mut desk = asked();
    desk.answers(r#"{"type":"tool_use","id":"t1","name":"n","input":{}},{"type":"tool_use","id":"t2","name":"n","input":{}}"#);
    desk.log(r#"{"type":"tool_result","call":"t1","status":"interim","content":"half"}"#);
    desk.says("more");
    let shown = behind_go(&desk);
    assert!(
        shown.ends_with(
            r#"{"type":"tool_result","tool_use_id":"t1","content":"half"},{"type":"tool_result","tool_use_id":"t2","content":"[No result: the call was not answered.]","is_error":true},{"type":"text","text":"more"}]}]"#
        ),
        "{shown}"
    );
    assert_eq!(desk.repairs(), ["open call"]);
}

#[test]
fn empty_results_say_so() {
    for content in [
        r#""""#,
        r#"" \n""#,
        "[]",
        "null",
        r#"[{"type":"text","text":" "}]"#,
    ] {
        let mut desk = asked();
        desk.answers(r#"{"type":"tool_use","id":"t1","name":"n","input":{}}"#);
        desk.log(&format!(
            r#"{{"type":"tool_result","call":"t1","content":{content}}}"#
        ));
        let shown = behind_go(&desk);
        assert!(
            shown.ends_with(
                r#"{"type":"tool_result","tool_use_id":"t1","content":"(no output)"}]}]"#
            ),
            "{shown}"
        );
        assert!(desk.repairs().contains(&"empty result"));
        assert!(
            chat_behind_go(&desk)
                .ends_with(r#"{"role":"tool","tool_call_id":"t1","content":"(no output)"}]"#)
        );
    }
}

#[test]
fn a_result_block_keeps_its_members_and_the_words_beside_it_stand_behind() {
    let mut desk = asked();
    desk.answers(r#"{"type":"tool_use","id":"bad id","name":"n","input":{}}"#);
    desk.log(
        r#"{"type":"message","role":"user","content":[{"type":"text","text":"stop"},{"is_error":true,"tool_use_id":"bad id","type":"tool_result","content":[{"type":"text","text":"a","x":1},{"type":"text","text":"b"},{"type":"odd"}],"name":"n"}]}"#,
    );
    let shown = behind_go(&desk);
    assert!(
        shown.ends_with(
            r#"{"role":"user","content":[{"is_error":true,"tool_use_id":"call_2_0","type":"tool_result","content":[{"type":"text","text":"a"},{"type":"text","text":"b"},{"type":"text","text":"{\"type\":\"odd\"}"}]},{"type":"text","text":"stop"}]}]"#
        ),
        "{shown}"
    );
    assert!(
        chat_behind_go(&desk).contains(
            r#"{"role":"tool","tool_call_id":"call_2_0","content":"a\nb\n{\"type\":\"odd\"}"}"#
        ),
        "{}",
        chat_behind_go(&desk)
    );
}

#[test]
fn a_replaced_result_keeps_its_envelope() {
    let mut desk = asked();
    desk.answers(r#"{"type":"tool_use","id":"t1","name":"n","input":{}}"#);
    desk.log(r#"{"type":"tool_result","call":"t1","status":"error","content":"long"}"#);
    desk.log(r#"{"type":"replace","block":[3,0],"with":"short"}"#);
    assert!(behind_go(&desk).ends_with(
        r#"{"type":"tool_result","tool_use_id":"t1","content":"short","is_error":true}]}]"#
    ));
    desk.log(r#"{"type":"replace","block":[3,0],"with":[]}"#);
    assert!(behind_go(&desk).contains(r#""content":"(no output)""#));
}

#[test]
fn calls_and_results_out_of_place_are_shown_as_text() {
    let mut desk = Desk::new();
    desk.log(r#"{"type":"message","role":"user","content":[{"type":"tool_use","id":"t1","name":"n","input":{}},{"type":"thinking","thinking":"x","signature":"s"}]}"#);
    desk.answers(r#"{"type":"tool_result","tool_use_id":"t1","content":"r"}"#);
    desk.says("b");
    assert_eq!(
        desk.messages(),
        r#"[{"role":"user","content":[{"type":"text","text":"{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"n\",\"input\":{}}"}]},{"role":"assistant","content":[{"type":"text","text":"{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"r\"}"}]},{"role":"user","content":[{"type":"text","text":"b"}]}]"#
    );
    assert_eq!(desk.left_out(), ["issuer"]);
}

const SERVER: &str =
    r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#;
const FOUND: &str = r#"{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}"#;

#[test]
fn server_calls_stand_with_tool_and_result_only() {
    let mut desk = asked();
    desk.answers(&format!("{SERVER},{FOUND}"));
    desk.says("b");
    assert!(!desk.messages().contains(SERVER));
    assert_eq!(desk.repairs(), ["server tool", "server tool"]);
    desk.log(r#"{"type":"tools","tools":[{"type":"web_search_20250305","name":"web_search"}]}"#);
    assert!(
        desk.messages().contains(&format!("{SERVER},{FOUND}")),
        "{}",
        desk.messages()
    );
    assert!(!desk.chat_messages().contains(SERVER));
    // The same id once more names no call.
    desk.answers(&format!("{SERVER},{FOUND}"));
    assert_eq!(desk.messages().matches(SERVER).count(), 1);
}

#[test]
fn a_paused_server_call_stands_while_it_is_last() {
    let mut desk = asked();
    desk.log(r#"{"type":"tools","tools":[{"type":"web_search_20250305","name":"web_search"}]}"#);
    desk.log(&format!(
        r#"{{"type":"message","role":"assistant","stop":"pause_turn","content":[{SERVER}]}}"#
    ));
    assert!(desk.messages().contains(SERVER));
    assert_eq!(
        format!("{:?}", desk.project(Wire::Anthropic).outcome),
        "Ready"
    );
    desk.says("b");
    assert!(!desk.messages().contains(SERVER));
}

#[test]
fn a_server_result_before_its_call_lets_neither_stand() {
    let mut desk = asked();
    desk.log(r#"{"type":"tools","tools":[{"type":"web_search_20250305","name":"web_search"}]}"#);
    desk.log(&format!(
        r#"{{"type":"message","role":"assistant","stop":"pause_turn","content":[{FOUND},{SERVER}]}}"#
    ));
    assert!(!desk.messages().contains(SERVER), "{}", desk.messages());
    assert!(!desk.messages().contains(FOUND), "{}", desk.messages());
}
