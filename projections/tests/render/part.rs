//! Requests about a session: a part of it, and a question behind it.

use crate::desk::{Change, Desk};
use recount_events::{BlockId, Seq, Wire};
use recount_projections::render::{Budget, Counts, PieceRole};
use recount_projections::{Outcome, Projection, Prompt, Request, Timeline};

/// Counts what is named, and refuses to be asked for a block that no log has.
struct Logs(u64);

impl Counts for Logs {
    fn count(&self, block: BlockId, _bytes: &[u8]) -> u64 {
        assert!(block.seq.0 <= self.0, "{block:?} is in no log");
        1_000
    }

    fn made(&self, _bytes: &[u8]) -> u64 {
        7
    }
}

/// Two turns, the first of them folded with a call in it, and a tail injection.
fn talk() -> Desk {
    let mut desk = Desk::new();
    desk.log(r#"{"type":"system","content":"Be kind."}"#);
    desk.says("one");
    desk.answers(r#"{"type":"tool_use","id":"t1","name":"n","input":{}}"#);
    desk.log(r#"{"type":"tool_result","call":"t1","content":"r"}"#);
    desk.log(r#"{"type":"compact_commit","first":2,"last":4,"summary":"In short."}"#);
    desk.says("two");
    desk.answers(r#"{"type":"text","text":"three"}"#);
    desk.says("four");
    desk.log(r#"{"type":"inject","slot":"t","content":"tail","lifetime":"tail"}"#);
    desk
}

fn shown(desk: &Desk, timeline: &Timeline) -> Projection {
    let profile = desk.in_force();
    let counts = Logs(desk.timeline.head.unwrap().0);
    let request = Request {
        timeline,
        profile: &profile,
        wire: Wire::Anthropic,
        heal: true,
        counts: &counts,
        budget: Budget::default(),
    };
    let whole = Prompt::render(&request);
    // Continued from the session's own prompt it is the same.
    let own = Prompt::render(&Request {
        timeline: &desk.timeline,
        ..request
    });
    let grown = own.update(&request, Some(Seq(0)), false);
    assert_eq!(
        whole.project(&request).body(),
        grown.project(&request).body()
    );
    whole.project(&request)
}

fn text(projection: &Projection) -> String {
    let body = String::from_utf8(projection.body()).unwrap();
    let messages = recount_events::raw::member(&body, "messages");
    messages.unwrap().to_owned()
}

#[test]
fn a3_a_question_stands_behind_everything_and_changes_nothing_before_it() {
    let desk = talk();
    let plain = shown(&desk, &desk.timeline);
    let asking = desk.timeline.asking("Tell it again.\n\"So\"");
    let asked = shown(&desk, &asking);
    assert_eq!(asked.pieces.len(), plain.pieces.len() + 1);
    assert!(plain.pieces.iter().zip(&asked.pieces).all(|(a, b)| a == b));
    let last = asked.pieces.last().unwrap();
    assert_eq!(last.role, PieceRole::User);
    assert_eq!(
        &*last.bytes,
        br#"{"type":"text","text":"Tell it again.\n\"So\""}"#
    );
    assert_eq!((last.counted, last.tokens), (None, 7));
    assert_eq!(last.source.seq, desk.timeline.head.unwrap().next());
    assert_eq!(asked.outcome, Outcome::Ready);
    // The session's own prompt, continued, asks without writing anything again.
    let profile = desk.in_force();
    let counts = Logs(desk.timeline.head.unwrap().0);
    let request = Request {
        timeline: &asking,
        profile: &profile,
        wire: Wire::Anthropic,
        heal: true,
        counts: &counts,
        budget: Budget::default(),
    };
    let own = Prompt::render(&Request {
        timeline: &desk.timeline,
        ..request
    });
    let Change { touched, header } = Change::default();
    let grown = own.update(&request, touched, header).project(&request);
    assert_eq!(grown.body(), asked.body());
    assert_eq!(grown.digest, asked.digest);
}

#[test]
fn a3_a_question_behind_an_answer_makes_it_the_person_s_turn_to_have_spoken() {
    let mut desk = Desk::new();
    desk.says("one");
    desk.answers(r#"{"type":"text","text":"two"}"#);
    assert_eq!(shown(&desk, &desk.timeline).outcome, Outcome::WaitingPerson);
    let asked = shown(&desk, &desk.timeline.asking("Go on."));
    assert_eq!(asked.outcome, Outcome::Ready);
    assert_eq!(
        text(&asked),
        r#"[{"role":"user","content":[{"type":"text","text":"one"}]},{"role":"assistant","content":[{"type":"text","text":"two"}]},{"role":"user","content":[{"type":"text","text":"Go on."}]}]"#
    );
}

#[test]
fn a10_a_part_shows_the_entries_of_its_keys_and_no_tail() {
    let desk = talk();
    let part = |first, last| text(&shown(&desk, &desk.timeline.only(Seq(first), Seq(last))));
    let summary = r#"{"type":"text","text":"<summary>\nIn short.\n</summary>"}"#;
    assert_eq!(
        part(2, 6),
        format!(r#"[{{"role":"user","content":[{summary},{{"type":"text","text":"two"}}]}}]"#)
    );
    // A summary stands where its range begins.
    assert_eq!(
        part(3, 6),
        r#"[{"role":"user","content":[{"type":"text","text":"two"}]}]"#
    );
    assert_eq!(
        part(8, 99),
        r#"[{"role":"user","content":[{"type":"text","text":"four"}]}]"#
    );
    assert_eq!(part(9, 99), "[]");
    assert_eq!(part(6, 2), "[]");
    let whole = desk.timeline.only(Seq(0), Seq(u64::MAX));
    assert_eq!(whole.authored_last, desk.timeline.authored_last);
    assert_eq!(whole.shown.size(), desk.timeline.shown.size());
    // A part can be asked about: the header stays.
    let asked = desk.timeline.only(Seq(6), Seq(6)).asking("What?");
    let asked = shown(&desk, &asked);
    let body = String::from_utf8(asked.body()).unwrap();
    assert!(body.contains("Be kind."), "{body}");
    assert!(
        text(&asked)
            .ends_with(r#"[{"type":"text","text":"two"},{"type":"text","text":"What?"}]}]"#),
        "{body}"
    );
}
