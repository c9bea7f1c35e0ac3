//! Thinking: rule 3.5.

use crate::desk::Desk;
use recount_events::Wire;

const ON: &str = r#"{"params":{"thinking":{"type":"enabled","budget_tokens":2000}}}"#;
const T: &str = r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#;
const CALL: &str = r#"{"type":"tool_use","id":"t1","name":"n","input":{}}"#;
const TEXT: &str = r#"{"type":"text","text":"x"}"#;

fn asked(change: &str) -> Desk {
    let mut desk = Desk::with(change);
    desk.says("go");
    desk
}

#[test]
fn it_is_verbatim_when_the_request_asks_for_it() {
    let mut desk = asked(ON);
    desk.answers(&format!("{T},{TEXT}"));
    desk.says("b");
    assert!(desk.messages().contains(&format!("{T},{TEXT}")));
    desk.profile(r#"{"params":{}}"#);
    assert!(!desk.messages().contains(T));
    assert_eq!(desk.left_out(), ["thinking off"]);
    desk.profile(r#"{"params":{"thinking":{"type":"adaptive"}}}"#);
    assert!(desk.messages().contains(T));
    assert!(!desk.chat_messages().contains("hm"));
}

#[test]
fn a_budget_that_cannot_be_met_turns_it_off() {
    for budget in ["1023", "8000", "null"] {
        let mut desk = asked(&format!(
            r#"{{"params":{{"thinking":{{"type":"enabled","budget_tokens":{budget}}}}}}}"#
        ));
        desk.answers(&format!("{T},{TEXT}"));
        desk.says("b");
        assert!(!desk.messages().contains(T));
        assert!(
            desk.anthropic()
                .contains(r#""thinking":{"type":"disabled"}"#),
            "{}",
            desk.anthropic()
        );
        assert_eq!(desk.repairs(), ["thinking turned off"]);
    }
}

#[test]
fn other_issuers_and_unsigned_blocks_are_left_out() {
    let mut desk = asked(ON);
    desk.log(&format!(
        r#"{{"type":"message","role":"assistant","issuer":"bedrock","content":[{T},{TEXT}]}}"#
    ));
    desk.answers(&format!(
        r#"{{"type":"thinking","thinking":"hm","signature":""}},{TEXT}"#
    ));
    desk.answers(&format!(
        r#"{{"type":"redacted_thinking","data":""}},{TEXT}"#
    ));
    desk.answers(&format!(
        r#"{{"type":"thinking","thinking":"\ud800","signature":"s"}},{TEXT}"#
    ));
    desk.log(&format!(
        r#"{{"type":"message","role":"assistant","issuer":"anthropic","content":[{T},{TEXT}]}}"#
    ));
    desk.says("b");
    assert_eq!(
        desk.left_out(),
        ["issuer", "unsigned", "unsigned", "unicode"]
    );
    assert_eq!(desk.messages().matches(T).count(), 1);
}

#[test]
fn a_profile_that_keeps_the_last_turn_shows_no_older_thinking() {
    let keeps =
        r#"{"thinking":{"binds":false,"keeps":"last"},"params":{"thinking":{"type":"adaptive"}}}"#;
    let mut desk = asked(keeps);
    desk.answers(&format!("{T},{CALL}"));
    desk.log(r#"{"type":"tool_result","call":"t1","content":"r"}"#);
    assert!(desk.messages().contains(T));
    desk.says("next");
    assert!(!desk.messages().contains(T));
    assert_eq!(desk.left_out(), ["kept"]);
}

#[test]
fn an_open_loop_that_does_not_begin_with_it_turns_it_off() {
    let mut desk = asked(ON);
    desk.answers(&format!("{T},{TEXT}"));
    desk.says("more");
    desk.answers(CALL);
    desk.log(r#"{"type":"tool_result","call":"t1","content":"r"}"#);
    assert!(
        desk.anthropic()
            .contains(r#""thinking":{"type":"disabled"}"#)
    );
    assert!(!desk.messages().contains(T));
    assert_eq!(desk.repairs(), ["thinking turned off"]);
    assert_eq!(desk.left_out(), ["thinking off"]);
    desk.says("the loop is over");
    assert!(desk.anthropic().contains(r#""type":"enabled""#));
    assert!(desk.messages().contains(T));
}

#[test]
fn on_a_binding_profile_it_stands_only_behind_the_prompt_that_it_answers() {
    let binds =
        r#"{"thinking":{"binds":true,"keeps":"all"},"params":{"thinking":{"type":"adaptive"}}}"#;
    let mut desk = asked(binds);
    let answer = |desk: &mut Desk| {
        let issued = desk.project(Wire::Anthropic).digest;
        desk.log(&format!(
            r#"{{"type":"message","role":"assistant","issued":"{issued}","model":"claude-test","content":[{T},{TEXT}]}}"#
        ));
        desk.says("next");
    };
    answer(&mut desk);
    answer(&mut desk);
    answer(&mut desk);
    assert_eq!(desk.messages().matches(T).count(), 3);
    // Another word before the second one: it and all later ones are left out.
    desk.log(r#"{"type":"replace","block":[3,0],"with":"changed"}"#);
    assert_eq!(desk.messages().matches(T).count(), 1);
    assert_eq!(desk.left_out(), ["prefix", "prefix"]);
    desk.profile(r#"{"model":"other","thinking":{"binds":true,"keeps":"all"},"params":{"thinking":{"type":"adaptive"}}}"#);
    assert_eq!(desk.left_out(), ["issuer", "issuer", "issuer"]);
}
