//! Marks for the provider's cache: where they may stand, and that they change nothing else.

use crate::desk::Desk;
use recount_events::{Body, Event, Millis, Seq, Wire};
use recount_projections::render::{
    Budget, ByBytes, Edit, MOST_CONTROLS, Marks, Ttl, may_carry, pinned,
};
use recount_projections::{Outcome, Projection, Request, State, project, replay};

const EDITS: &str = r#"{"cache_edits":true,"params":{"thinking":{"type":"adaptive"}}}"#;

fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"n","input":{{}}}}"#)
}

/// A tool that is loaded later, a system prompt, thinking, two calls with results, and words behind them.
///
/// Pieces: 0 tool, 1 system, 2 "go", 3 thinking, 4 and 5 calls, 6 and 7 results, 8 "and?".
fn talk(profile: &str) -> Desk {
    let mut desk = Desk::with(profile);
    desk.log(r#"{"type":"tools","tools":[{"name":"later","input_schema":{"type":"object"},"defer_loading":true}]}"#);
    desk.log(r#"{"type":"system","content":"Be kind."}"#);
    desk.says("go");
    let thinking = r#"{"type":"thinking","thinking":"hm","signature":"c2ln"}"#;
    desk.answers(&[thinking, &call("a"), &call("b")].join(","));
    desk.log(r#"{"type":"tool_result","call":"a","content":"one"}"#);
    desk.log(r#"{"type":"tool_result","call":"b","content":"two"}"#);
    desk.says("and?");
    desk
}

fn text(projection: &Projection) -> String {
    let body = String::from_utf8(projection.body()).unwrap();
    assert_eq!(body.len() as u64, projection.bytes);
    body
}

fn controls(all: &[(usize, Ttl)]) -> Marks {
    Marks {
        controls: all.to_vec(),
        ..Marks::default()
    }
}

/// Nothing that a provider reads into the prompt differs.
fn same_prompt(plain: &Projection, marked: &Projection) {
    assert_eq!(plain.digest, marked.digest);
    assert_eq!(plain.tokens, marked.tokens);
    assert!(plain.pieces.iter().eq(&marked.pieces));
}

#[test]
fn p4_a_breakpoint_is_a_member_of_its_block_and_of_nothing_else() {
    let desk = talk(EDITS);
    let plain = desk.project(Wire::Anthropic);
    let marked = plain
        .clone()
        .marked(&controls(&[(1, Ttl::Hour), (8, Ttl::FiveMinutes)]));
    same_prompt(&plain, &marked);
    let expected = text(&plain)
        .replace(
            r#""text":"Be kind."}"#,
            r#""text":"Be kind.","cache_control":{"type":"ephemeral","ttl":"1h"}}"#,
        )
        .replace(
            r#""text":"and?"}"#,
            r#""text":"and?","cache_control":{"type":"ephemeral"}}"#,
        );
    assert_eq!(text(&marked), expected);
    // Marked anew, the old marks are gone.
    assert_eq!(text(&marked.marked(&Marks::default())), text(&plain));
}

#[test]
fn p4_at_most_four_breakpoints_none_on_thinking_an_hour_first() {
    let desk = talk(EDITS);
    let plain = desk.project(Wire::Anthropic);
    let carries: Vec<bool> = plain.pieces.iter().map(may_carry).collect();
    assert_eq!(
        carries,
        [false, true, true, false, true, true, true, true, true]
    );
    let all: Vec<(usize, Ttl)> = (0..20).map(|place| (place, Ttl::Hour)).collect();
    let marked = plain.clone().marked(&controls(&all));
    let kept: Vec<usize> = marked.marks().controls.iter().map(|(at, _)| *at).collect();
    assert_eq!(kept, [5, 6, 7, 8]);
    assert_eq!(kept.len(), MOST_CONTROLS);
    assert_eq!(
        text(&marked).matches("cache_control").count(),
        MOST_CONTROLS
    );
    // Behind five minutes there are five minutes only; of two on one piece the longer counts; order is that of the prompt.
    let mixed = [
        (8, Ttl::Hour),
        (4, Ttl::FiveMinutes),
        (2, Ttl::FiveMinutes),
        (2, Ttl::Hour),
    ];
    let marked = plain.marked(&controls(&mixed));
    assert_eq!(
        marked.marks().controls,
        [(2, Ttl::Hour), (4, Ttl::FiveMinutes), (8, Ttl::FiveMinutes)]
    );
}

#[test]
fn m3_references_and_edits_stand_in_what_is_kept() {
    let desk = talk(EDITS);
    let plain = desk.project(Wire::Anthropic);
    let wanted = Marks {
        controls: vec![(7, Ttl::FiveMinutes)],
        references: vec![6, 7, 8, 4, 99],
        edits: vec![
            // Behind the first result of two: results stand first.
            Edit {
                after: 6,
                results: vec![6, 6, 7, 2],
            },
            // Named before; in the assistant's words; in front of what it names.
            Edit {
                after: 8,
                results: vec![6],
            },
            Edit {
                after: 4,
                results: vec![6],
            },
        ],
    };
    let marked = plain.clone().marked(&wanted);
    same_prompt(&plain, &marked);
    // The last breakpoint's own piece has no reference: it is not in front of it.
    assert_eq!(marked.marks().references, [6]);
    let edits = [Edit {
        after: 7,
        results: vec![6],
    }];
    assert_eq!(marked.marks().edits, edits);
    let expected = text(&plain)
        .replace(
            r#""tool_use_id":"a","content":"one"}"#,
            r#""tool_use_id":"a","content":"one","cache_reference":"a"}"#,
        )
        .replace(
            r#""tool_use_id":"b","content":"two"}"#,
            r#""tool_use_id":"b","content":"two","cache_control":{"type":"ephemeral"}},{"type":"cache_edits","edits":[{"type":"delete","cache_reference":"a"}]}"#,
        );
    assert_eq!(text(&marked), expected);
    let both = Marks {
        controls: vec![(8, Ttl::FiveMinutes)],
        references: vec![],
        edits: vec![Edit {
            after: 8,
            results: vec![7, 6],
        }],
    };
    let both = text(&plain.marked(&both));
    assert!(both.contains(r#"{"type":"cache_edits","edits":[{"type":"delete","cache_reference":"b"},{"type":"delete","cache_reference":"a"}]}]}"#), "{both}");
}

#[test]
fn m3_without_a_breakpoint_the_capability_or_the_wire_there_is_none() {
    let wanted = Marks {
        controls: vec![(8, Ttl::FiveMinutes)],
        references: vec![6, 7],
        edits: vec![Edit {
            after: 8,
            results: vec![6],
        }],
    };
    let desk = talk(EDITS);
    let chat = desk.project(Wire::OpenaiChat);
    assert_eq!(text(&chat.clone().marked(&wanted)), text(&chat));
    let bare = Marks {
        controls: vec![],
        ..wanted.clone()
    };
    let plain = desk.project(Wire::Anthropic);
    assert_eq!(text(&plain.clone().marked(&bare)), text(&plain));
    let without = talk(r#"{"params":{"thinking":{"type":"adaptive"}}}"#);
    let marked = text(&without.project(Wire::Anthropic).marked(&wanted));
    assert!(marked.contains("cache_control"), "{marked}");
    assert!(!marked.contains("cache_edits") && !marked.contains("cache_reference"));
}

#[test]
fn b9_marks_never_make_a_body_too_large() {
    let wanted = controls(&[(8, Ttl::FiveMinutes)]);
    let size = |limit: u64| {
        let profile =
            format!(r#"{{"body_bytes":{limit},"params":{{"thinking":{{"type":"adaptive"}}}}}}"#);
        let plain = talk(&profile).project(Wire::Anthropic);
        let marked = plain.clone().marked(&wanted);
        text(&marked);
        (plain.outcome == Outcome::Ready, plain.bytes, marked.bytes)
    };
    let (_, plain, marked) = size(0);
    assert_eq!(marked - plain, 37);
    assert_eq!(size(marked), (true, plain, marked));
    assert_eq!(size(marked - 1), (true, plain, plain));
}

/// The same events in a state, which folds edits too.
struct Session(State);

impl Session {
    fn new() -> Self {
        let mut session = Self(State::new());
        session.log(
            r#"{"type":"profile","provider":"anthropic","model":"m","wire":"anthropic","window":200000,"max_output":8000,"cache_edits":true}"#,
        );
        session.log(r#"{"type":"message","role":"user","content":"go"}"#);
        session.answers(&[call("a"), call("b")].join(","));
        session.log(r#"{"type":"tool_result","call":"a","content":"one"}"#);
        session.log(r#"{"type":"tool_result","call":"b","content":"two"}"#);
        session.log(r#"{"type":"message","role":"user","content":"and?"}"#);
        session
    }

    fn log(&mut self, json: &str) -> u64 {
        let event = Event::from_json(json, Millis(0)).unwrap();
        let admitted = self.0.admit(event).unwrap();
        self.0.apply(admitted).seq.0
    }

    fn answers(&mut self, blocks: &str) -> u64 {
        self.log(&format!(
            r#"{{"type":"message","role":"assistant","content":[{blocks}]}}"#
        ))
    }

    fn edits(&mut self, calls: &str) -> u64 {
        self.log(&format!(
            r#"{{"type":"cache_edit","id":"e","calls":{calls}}}"#
        ))
    }

    fn project(&self) -> Projection {
        let Body::Profile(profile) = &self.0.event(Seq(0)).unwrap().event.body else {
            panic!("no profile");
        };
        let request = Request {
            timeline: self.0.timeline(),
            profile,
            wire: Wire::Anthropic,
            heal: true,
            counts: &ByBytes,
            budget: Budget::default(),
        };
        project(&request)
    }

    fn pinned(&self) -> Vec<Edit> {
        pinned(&self.project().pieces, self.0.timeline())
    }
}

/// Pieces: 0 "go", 1 and 2 calls, 3 and 4 results, 5 "and?".
#[test]
fn m4_an_edit_stays_where_it_was_first_sent() {
    let mut session = Session::new();
    assert_eq!(session.pinned(), []);
    session.edits("[[2,0]]");
    let first = Edit {
        after: 5,
        results: vec![3],
    };
    assert_eq!(session.pinned(), std::slice::from_ref(&first));
    // A tail injection is no place to stay.
    session.log(r#"{"type":"inject","slot":"t","content":"tail","lifetime":"tail"}"#);
    session.answers(&call("c"));
    session.log(r#"{"type":"tool_result","call":"c","content":"three"}"#);
    assert_eq!(session.pinned(), std::slice::from_ref(&first));
    // A later one names what is left, at its own place: the result at piece 7.
    session.edits("[[2,0],[2,1]]");
    session.log(r#"{"type":"message","role":"user","content":"on"}"#);
    let second = Edit {
        after: 7,
        results: vec![4],
    };
    assert_eq!(session.pinned(), [first, second]);
    let wanted = Marks {
        controls: vec![(8, Ttl::FiveMinutes)],
        references: vec![3, 4, 7],
        edits: session.pinned(),
    };
    let body = text(&session.project().marked(&wanted));
    assert!(body.contains(r#""text":"and?"},{"type":"cache_edits","edits":[{"type":"delete","cache_reference":"a"}]}]}"#), "{body}");
    assert!(body.contains(r#""cache_reference":"c"},{"type":"cache_edits","edits":[{"type":"delete","cache_reference":"b"}]},{"type":"text","text":"on""#), "{body}");
    // Folded from the log again it stands there again.
    let events = (0..session.0.timeline().head.unwrap().0 + 1)
        .map(|seq| Ok(session.0.event(Seq(seq)).unwrap().event.clone()));
    let again = Session(replay(events));
    assert_eq!(again.pinned(), session.pinned());
    assert_eq!(text(&again.project().marked(&wanted)), body);
}

#[test]
fn m6_what_is_no_longer_shown_is_named_in_no_edit() {
    let mut session = Session::new();
    let edit = session.edits("[[2,0],[2,1]]");
    let whole = session.pinned();
    assert_eq!(whole.len(), 1);
    // A fold over the results, and its undo.
    let fold = session.log(r#"{"type":"compact_commit","first":1,"last":4,"summary":"s"}"#);
    assert_eq!(session.pinned(), []);
    session.log(&format!(r#"{{"type":"undo","event":{fold}}}"#));
    assert_eq!(session.pinned(), whole);
    // A rollback to before the edit, and its undo.
    let back = session.log(&format!(
        r#"{{"type":"rollback","to":{{"seq":{}}}}}"#,
        edit - 1
    ));
    assert_eq!(session.pinned(), []);
    session.log(&format!(r#"{{"type":"undo","event":{back}}}"#));
    assert_eq!(session.pinned(), whole);
    // A replaced result is the same result, and keeps its name.
    session.log(r#"{"type":"replace","block":[3,0],"with":"gone"}"#);
    assert_eq!(session.pinned(), whole);
    // A reset forgets what was edited.
    session.log(r#"{"type":"cache_reset","reason":"cold"}"#);
    assert_eq!(session.pinned(), []);
}
