//! A provider's own compaction: for its issuer everything before it is gone, for everybody else it is.

use crate::desk::Desk;
use recount_events::{BlockId, Body, Event, Millis, Seq, Wire};
use recount_projections::render::{Budget, ByBytes, Category};
use recount_projections::{Outcome, Projection, Request, State, project, replay};

const SHORT: &str = r#"{"type":"compaction","content":"In short."}"#;

/// A turn with a call, then an answer that begins with this block, then one more word of the person.
fn talk(profile: &str, block: &str, issuer: &str) -> Desk {
    let mut desk = Desk::with(profile);
    desk.log(r#"{"type":"system","content":"Be kind."}"#);
    desk.says("one");
    desk.answers(r#"{"type":"tool_use","id":"a","name":"n","input":{}}"#);
    desk.log(r#"{"type":"tool_result","call":"a","content":"r"}"#);
    desk.log(&format!(
        r#"{{"type":"message","role":"assistant","issuer":"{issuer}","content":[{block},{{"type":"text","text":"two"}}]}}"#
    ));
    desk.says("three");
    desk
}

const AFTER: &str =
    r#"{"type":"text","text":"two"}]},{"role":"user","content":[{"type":"text","text":"three"}]}]"#;
const BEFORE: &str = r#"[{"role":"user","content":[{"type":"text","text":"one"}]},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]},{"role":"assistant","content":["#;

#[test]
fn a12_on_its_issuer_s_wire_it_stands_for_everything_before_it() {
    let desk = talk("{}", SHORT, "anthropic");
    assert_eq!(
        desk.messages(),
        format!(r#"[{{"role":"assistant","content":[{SHORT},{AFTER}"#)
    );
    assert!(desk.anthropic().contains("Be kind."));
    assert_eq!(desk.left_out(), ["compaction"; 3]);
    let projection = desk.project(Wire::Anthropic);
    let left: Vec<u64> = projection.left_out.iter().map(|l| l.block.seq.0).collect();
    assert_eq!(left, [2, 3, 4]);
    assert_eq!(projection.outcome, Outcome::Ready);
    let piece = projection.pieces.get(1).unwrap();
    assert_eq!(piece.category, Category::Summaries);
    assert_eq!(
        piece.counted,
        Some(BlockId {
            seq: Seq(5),
            index: 0
        })
    );
    assert_eq!(desk.repairs(), [""; 0]);
}

#[test]
fn a12_for_another_provider_wire_or_failure_the_originals_are_shown() {
    let foreign = talk("{}", SHORT, "bedrock");
    assert_eq!(foreign.messages(), format!("{BEFORE}{AFTER}"));
    assert_eq!(foreign.left_out(), ["issuer"]);
    let own = talk("{}", SHORT, "anthropic");
    assert!(own.chat_messages().contains(r#""text":"one""#));
    assert!(!own.chat().contains("In short."));
    for failed in [
        r#"{"type":"compaction","content":null}"#,
        r#"{"type":"compaction","content":" "}"#,
        r#"{"type":"compaction","content":"half \ud800"}"#,
    ] {
        let desk = talk("{}", failed, "anthropic");
        assert_eq!(desk.messages(), format!("{BEFORE}{AFTER}"), "{failed}");
        assert_eq!(desk.left_out(), ["issuer"]);
    }
    // A call before it in its response would lose its result.
    let call = r#"{"type":"tool_use","id":"b","name":"n","input":{}}"#;
    let desk = talk("{}", &[call, SHORT].join(","), "anthropic");
    assert!(desk.messages().starts_with(BEFORE));
    assert!(!desk.anthropic().contains("In short."));
}

#[test]
fn a12_of_several_the_last_one_counts_and_nothing_of_its_response_before_it() {
    let mut desk = talk("{}", SHORT, "anthropic");
    let blocks = r#"{"type":"text","text":"before"},{"type":"compaction","content":"Shorter."}"#;
    desk.answers(blocks);
    assert_eq!(
        desk.messages(),
        r#"[{"role":"assistant","content":[{"type":"compaction","content":"Shorter."}]}]"#
    );
    // The provider paused right behind it: it is sent back as it is.
    assert_eq!(desk.project(Wire::Anthropic).outcome, Outcome::Ready);
    assert_eq!(desk.left_out(), ["compaction"; 7]);
}

#[test]
fn a12_thinking_behind_it_in_its_response_is_kept() {
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#;
    let call = r#"{"type":"tool_use","id":"b","name":"n","input":{}}"#;
    let binds = r#"{"thinking":{"binds":true,"keeps":"all"},"params":{"thinking":{"type":"enabled","budget_tokens":1024}}}"#;
    let mut desk = Desk::with(binds);
    desk.says("one");
    desk.answers(&[SHORT, thinking, call].join(","));
    desk.log(r#"{"type":"tool_result","call":"b","content":"r"}"#);
    assert_eq!(
        desk.messages(),
        format!(
            r#"[{{"role":"assistant","content":[{SHORT},{thinking},{call}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"b","content":"r"}}]}}]"#
        )
    );
    assert!(desk.anthropic().contains(r#""type":"enabled""#));
    assert_eq!(desk.left_out(), ["compaction"]);
}

fn shown(state: &State) -> Projection {
    let profile = &state.timeline().header.profile.as_ref().unwrap().event.body;
    let Body::Profile(profile) = profile else {
        panic!("no profile");
    };
    project(&Request {
        timeline: state.timeline(),
        profile,
        wire: Wire::Anthropic,
        heal: true,
        counts: &ByBytes,
        budget: Budget::default(),
    })
}

#[test]
fn a12_undo_and_rollback_show_the_originals_byte_for_byte() {
    let mut state = State::new();
    let log = |state: &mut State, json: &str| {
        let admitted = state
            .admit(Event::from_json(json, Millis(0)).unwrap())
            .unwrap();
        state.apply(admitted).seq.0
    };
    log(&mut state, crate::desk::PLAIN);
    log(
        &mut state,
        r#"{"type":"message","role":"user","content":"one"}"#,
    );
    log(
        &mut state,
        r#"{"type":"message","role":"assistant","content":"two"}"#,
    );
    log(
        &mut state,
        r#"{"type":"message","role":"user","content":"three"}"#,
    );
    let before = shown(&state).body();
    log(
        &mut state,
        &format!(
            r#"{{"type":"message","role":"assistant","issuer":"anthropic","content":[{SHORT}]}}"#
        ),
    );
    log(
        &mut state,
        r#"{"type":"message","role":"user","content":"four"}"#,
    );
    let compacted = shown(&state).body();
    assert!(!String::from_utf8_lossy(&compacted).contains("three"));
    // Hidden by a mask, and shown again by its undo.
    let mask = log(&mut state, r#"{"type":"delete_range","first":4,"last":5}"#);
    assert_eq!(shown(&state).body(), before);
    log(&mut state, &format!(r#"{{"type":"undo","event":{mask}}}"#));
    assert_eq!(shown(&state).body(), compacted);
    // A rollback, and its undo.
    let back = log(&mut state, r#"{"type":"rollback","to":{"seq":3}}"#);
    assert_eq!(shown(&state).body(), before);
    log(&mut state, &format!(r#"{{"type":"undo","event":{back}}}"#));
    assert_eq!(shown(&state).body(), compacted);
    // Another profile gets the originals; the old one again what it had.
    let other = log(
        &mut state,
        &crate::desk::PLAIN.replace("\"anthropic\",\"model\"", "\"bedrock\",\"model\""),
    );
    let foreign = String::from_utf8(shown(&state).body()).unwrap();
    assert!(foreign.contains("three"), "{foreign}");
    log(&mut state, &format!(r#"{{"type":"undo","event":{other}}}"#));
    assert_eq!(shown(&state).body(), compacted);
    let events = (0..state.head().unwrap().0 + 1)
        .map(|seq| Ok(state.event(Seq(seq)).unwrap().event.clone()));
    assert_eq!(shown(&replay(events)).body(), compacted);
}
