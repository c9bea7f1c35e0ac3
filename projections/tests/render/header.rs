//! Tools, system prompt, parameters: rules 1, 4.1 and 5.

use crate::desk::Desk;
use recount_events::Wire;

#[test]
fn tools_are_ordered_by_name_and_the_last_of_a_name_counts() {
    let mut desk = Desk::new();
    desk.says("a");
    desk.log(
        r#"{"type":"tools","tools":[{"name":"b","input_schema":{"type":"object"}},5,{"name":"a","description":"1","input_schema":{"type":"object"},"cache_control":{}},{"description":"no name"},{"name":"b","description":"2","input_schema":{"type":"object","properties":{}}}]}"#,
    );
    assert!(
        desk.anthropic().starts_with(
            r#"{"tools":[{"name":"a","description":"1","input_schema":{"type":"object"}},{"name":"b","description":"2","input_schema":{"type":"object","properties":{}}}],"messages":["#
        ),
        "{}",
        desk.anthropic()
    );
    assert_eq!(
        desk.repairs(),
        ["duplicate tool", "bad tool", "bad tool", "cache_control"]
    );
    assert!(
        desk.chat().starts_with(
            r#"{"tools":[{"type":"function","function":{"name":"a","description":"1","parameters":{"type":"object"}}},{"type":"function","function":{"name":"b","description":"2","parameters":{"type":"object","properties":{}}}}],"messages":["#
        ),
        "{}",
        desk.chat()
    );
}

#[test]
fn tools_go_from_one_wire_to_the_other() {
    let mut desk = Desk::new();
    desk.says("a");
    desk.log(
        r#"{"type":"tools","tools":[{"type":"function","function":{"name":"f.x","parameters":{"type":"object","x":1}}},{"type":"web_search_20250305","name":"web_search"},{"name":"bare"}]}"#,
    );
    assert!(
        desk.anthropic().starts_with(
            r#"{"tools":[{"name":"bare","input_schema":{"type":"object","properties":{}}},{"name":"f_x","input_schema":{"type":"object","x":1}},{"type":"web_search_20250305","name":"web_search"}],"#
        ),
        "{}",
        desk.anthropic()
    );
    assert!(
        desk.chat().starts_with(
            r#"{"tools":[{"type":"function","function":{"name":"bare","parameters":{"type":"object","properties":{}}}},{"type":"function","function":{"name":"f_x","parameters":{"type":"object","x":1}}}],"#
        ),
        "{}",
        desk.chat()
    );
}

#[test]
fn the_system_prompt_is_a_piece_a_block() {
    let mut desk = Desk::new();
    desk.says("a");
    desk.log(r#"{"type":"system","content":[{"type":"text","text":"one","cache_control":{"type":"ephemeral"}},{"type":"text","text":" "},{"type":"image","source":{"type":"url","url":"u"}},{"type":"text","text":"two"}]}"#);
    let parts = r#"[{"type":"text","text":"one"},{"type":"text","text":"two"}]"#;
    assert!(desk.anthropic().starts_with(&format!(
        r#"{{"system":{parts},"messages":[{{"role":"user""#
    )));
    assert!(desk.chat().starts_with(&format!(
        r#"{{"messages":[{{"role":"system","content":{parts}}},{{"role":"user""#
    )));
    assert_eq!(desk.repairs(), ["cache_control", "blank", "kind"]);
}

#[test]
fn parameters_are_passed_in_order_and_those_that_the_wire_lacks_are_told_of() {
    let mut desk = Desk::with(
        r#"{"params":{"temperature":0.5,"max_tokens":100,"seed":7,"tool_choice":{"type":"auto"},"metadata":{"user_id":"u"},"betas":["b"],"model":"x"}}"#,
    );
    desk.says("a");
    let (one, two) = (
        desk.project(Wire::Anthropic),
        desk.project(Wire::OpenaiChat),
    );
    assert!(desk.anthropic().ends_with(r#"],"model":"claude-test","max_tokens":100,"metadata":{"user_id":"u"},"temperature":0.5}"#) || desk.anthropic().ends_with(r#"],"model":"claude-test","max_tokens":100,"temperature":0.5,"metadata":{"user_id":"u"}}"#), "{}", desk.anthropic());
    let mut left_out = one.params_left_out.clone();
    left_out.sort();
    assert_eq!(left_out, ["betas", "seed", "tool_choice"]);
    assert!(
        desk.chat().contains(r#""max_completion_tokens":100"#)
            && desk.chat().contains(r#""seed":7"#)
    );
    assert!(!two.params_left_out.contains(&"seed".to_string()));
    assert_eq!(one.digest, {
        desk.profile(r#"{"params":{}}"#);
        desk.project(Wire::Anthropic).digest
    });
}

#[test]
fn an_empty_session_has_a_body_all_the_same() {
    let desk = Desk::new();
    assert_eq!(
        desk.anthropic(),
        r#"{"messages":[],"model":"claude-test","max_tokens":8000}"#
    );
    assert_eq!(
        desk.chat(),
        r#"{"messages":[],"model":"claude-test","max_completion_tokens":8000}"#
    );
}

#[test]
fn a_servers_tool_is_known_by_the_name_that_it_has() {
    let mut desk = Desk::new();
    desk.log(r#"{"type":"tools","tools":[{"type":"web_search_20250305","name":"web.search"}]}"#);
    desk.says("go");
    let call = r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#;
    desk.log(&format!(
        r#"{{"type":"message","role":"assistant","stop":"pause_turn","content":[{call}]}}"#
    ));
    assert!(!desk.messages().contains(call), "no tool of that name");
}
