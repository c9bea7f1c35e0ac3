//! The same law through the state: what an event touched is all that the prompt has to know.

use crate::desk::PLAIN;
use proptest::prelude::*;
use recount_events::{Body, Event, Millis, Profile, Wire};
use recount_projections::render::{Budget, ByBytes};
use recount_projections::{Prompt, Request, State, project};

const EVENTS: [&str; 24] = [
    r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"x"},{"type":"compaction","content":"c"},{"type":"thinking","thinking":"h","signature":"s"}]}"#,
    r#"{"type":"message","role":"assistant","issuer":"other","response":"r","content":[{"type":"compaction","content":"c"},{"type":"tool_use","id":"v","name":"n","input":{}}]}"#,
    r#"{"type":"message","role":"user","content":"hello"}"#,
    r#"{"type":"message","role":"user","content":" "}"#,
    r#"{"type":"message","role":"system","content":"s"}"#,
    r#"{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"text","text":"x"}]}"#,
    r#"{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"tool_use","id":"t","name":"n","input":{}}]}"#,
    r#"{"type":"message","role":"assistant","response":"r","content":[{"type":"tool_use","id":"u","name":"n","input":{}}]}"#,
    r#"{"type":"message","role":"assistant","response":"r","stop":"pause_turn","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]}"#,
    r#"{"type":"tool_result","call":"t","content":"r"}"#,
    r#"{"type":"tool_result","call":"u","status":"interim","content":"half"}"#,
    r#"{"type":"tool_result","call":"u","content":"r"}"#,
    r#"{"type":"message","role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"b"},{"type":"text","text":"w"}]}"#,
    r#"{"type":"inject","slot":"s","content":"once"}"#,
    r#"{"type":"inject","slot":"s","lifetime":"tail","content":"tail"}"#,
    r#"{"type":"inject","slot":"s","lifetime":"tail","content":""}"#,
    r#"{"type":"inject","slot":"s","content":"new","supersede":true}"#,
    r#"{"type":"system","content":"head"}"#,
    r#"{"type":"tools","tools":[{"type":"web_search_20250305","name":"web_search"}]}"#,
    r#"{"type":"profile","provider":"anthropic","model":"m","window":100000,"max_output":4000,"thinking":{"binds":false,"keeps":"last"},"params":{"thinking":{"type":"enabled","budget_tokens":1024}}}"#,
    r#"{"type":"profile","provider":"anthropic","model":"m","window":100000,"max_output":4000,"params":{"thinking":{"type":"enabled","budget_tokens":1024}}}"#,
    r#"{"type":"checkpoint","label":"c"}"#,
    r#"{"type":"rollback","to":{"turns":1}}"#,
    r#"{"type":"rollback","to":{"checkpoint":"c"}}"#,
];

/// An event; some name positions.
fn event() -> impl Strategy<Value = String> {
    prop_oneof![
        10 => prop::sample::select(EVENTS.to_vec()).prop_map(String::from),
        1 => (0_u64..30).prop_map(|seq| format!(r#"{{"type":"undo","event":{seq}}}"#)),
        1 => (0_u64..30).prop_map(|seq| format!(r#"{{"type":"rollback","to":{{"seq":{seq}}}}}"#)),
        1 => (0_u64..30, 0_u32..2).prop_map(|(seq, index)| format!(r#"{{"type":"replace","block":[{seq},{index}],"with":"other"}}"#)),
        1 => (0_u64..30, 0_u64..4).prop_map(|(first, length)| format!(r#"{{"type":"delete_range","first":{first},"last":{}}}"#, first + length)),
        1 => (0_u64..30, 0_u64..6).prop_map(|(first, length)| format!(r#"{{"type":"compact_commit","first":{first},"last":{},"summary":"s"}}"#, first + length)),
        1 => (0_u64..30, 0_u64..6, 0..3).prop_map(|(first, length, id)| format!(r#"{{"type":"collapse_commit","id":"{id}","first":{first},"last":{},"summary":"s"}}"#, first + length)),
        1 => (0_u64..30).prop_map(|seq| format!(r#"{{"type":"snip","messages":[{seq}]}}"#)),
    ]
}

fn in_force(state: &State) -> Option<Profile> {
    match &state.timeline().header.profile.as_ref()?.event.body {
        Body::Profile(profile) => Some(profile.clone()),
        _ => None,
    }
}

fn cases() -> u32 {
    std::env::var("RECOUNT_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_state_says_was_touched_is_enough(events in prop::collection::vec(event(), 1..50)) {
        let mut state = State::new();
        let wires = [Wire::Anthropic, Wire::OpenaiChat];
        let mut prompts: [Option<Prompt>; 2] = [None, None];
        let mut applied = 0;
        for json in std::iter::once(PLAIN.to_string()).chain(events) {
            let event = Event::from_json(&json, Millis(applied)).unwrap();
            let Ok(admitted) = state.admit(event) else { continue };
            let change = state.apply(admitted);
            applied += 1;
            let Some(profile) = in_force(&state) else {
                prompts = [None, None];
                continue;
            };
            for (prompt, wire) in prompts.iter_mut().zip(wires) {
                let request = Request { timeline: state.timeline(), profile: &profile, wire, heal: false, counts: &ByBytes, budget: Budget::default() };
                let next = match prompt {
                    Some(prompt) => prompt.update(&request, change.touched, change.header),
                    None => Prompt::render(&request),
                };
                let (grown, fresh) = (next.project(&request), project(&request));
                prop_assert_eq!(String::from_utf8(grown.body()), String::from_utf8(fresh.body()), "after {}", json);
                prop_assert_eq!(grown.pieces, fresh.pieces);
                prop_assert_eq!(grown.outcome, fresh.outcome);
                prop_assert_eq!(grown.repairs, fresh.repairs);
                prop_assert_eq!(grown.left_out, fresh.left_out);
                *prompt = Some(next);
            }
        }
    }
}
