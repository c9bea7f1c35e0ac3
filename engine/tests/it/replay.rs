//! Live is replay: after any operations, what is in memory equals what is read from the log.

use crate::common::{Fixture, answers, says};
use recount::{Session, api};

/// A small generator: the same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

/// One operation; refusals are part of the game.
fn step(session: &Session, dice: &mut Dice, turn: u64) {
    let head = session.status().unwrap().head;
    let place = dice.roll(head + 1);
    match dice.roll(14) {
        0..=2 => drop(session.append(&[&says(&format!("words {turn}"))])),
        3 | 4 => drop(session.append(&[&answers(&format!("answer {turn}"))])),
        5 => {
            let call = format!(
                r#"{{"type":"message","role":"assistant","response":"r{turn}","content":[{{"type":"tool_use","id":"t{turn}","name":"read","input":{{}}}}]}}"#
            );
            let result =
                format!(r#"{{"type":"tool_result","call":"t{turn}","content":"result {turn}"}}"#);
            drop(session.append(&[&call, &result]));
        }
        6 => drop(session.append(&[&format!(
            r#"{{"type":"replace","block":[{place},0],"with":"[{turn}]"}}"#
        )])),
        7 => drop(session.append(&[&format!(
            r#"{{"type":"compact_commit","keep_from":{place},"summary":"s{turn}"}}"#
        )])),
        8 => drop(session.append(&[&format!(
            r#"{{"type":"delete_range","first":{place},"last":{}}}"#,
            place + dice.roll(6)
        )])),
        9 => drop(session.rollback(api::To::Seq(place))),
        10 => drop(session.undo(place)),
        11 => drop(session.prepare(api::Prepare {
            heal: dice.roll(2) == 0,
            ..Default::default()
        })),
        12 => drop(session.append(&[&format!(
            r#"{{"type":"inject","slot":"a","content":"i{turn}","lifetime":"{}"}}"#,
            ["once", "session", "tail"][usize::try_from(dice.roll(3)).unwrap()]
        )])),
        _ => drop(session.rollback(api::To::Turns(1 + dice.roll(3)))),
    }
}

fn shown(session: &Session, wire: &str) -> (String, u64, String) {
    let ask = api::Project {
        wire: Some(wire.into()),
        profile: Some("claude-opus-4-5".into()),
        heal: true,
        pieces: true,
        ..Default::default()
    };
    let projected = session.project(ask).unwrap();
    let pieces = serde_json::to_string(&projected.pieces).unwrap();
    (projected.digest, projected.bytes, pieces)
}

#[test]
fn law_02_memory_equals_the_log() {
    for seed in 0..12 {
        let fixture = Fixture::new();
        let mut dice = Dice(seed);
        let mut session = fixture
            .engine()
            .create("s", Some("claude-opus-4-5".into()))
            .unwrap();
        for turn in 0..60 {
            step(&session, &mut dice, turn);
            if dice.roll(3) == 0 {
                shown(&session, "anthropic");
            }
            if dice.roll(15) == 0 {
                let before = [shown(&session, "anthropic"), shown(&session, "openai_chat")];
                let status = serde_json::to_string(&session.status().unwrap().tokens).unwrap();
                session.engine().close().unwrap();
                drop(session);
                session = fixture.engine().session("s").unwrap();
                assert_eq!(
                    [shown(&session, "anthropic"), shown(&session, "openai_chat")],
                    before,
                    "seed={seed} turn={turn}"
                );
                assert_eq!(
                    serde_json::to_string(&session.status().unwrap().tokens).unwrap(),
                    status,
                    "seed={seed} turn={turn}"
                );
            }
        }
        let verified = session.verify().unwrap();
        assert_eq!(
            (verified.state, verified.problems),
            (api::State::Clean, Vec::new()),
            "seed={seed}"
        );
        let fork = session.fork("f", api::At::Head).unwrap();
        assert_eq!(shown(&fork, "anthropic").0, shown(&session, "anthropic").0);
    }
}

#[test]
fn a_long_session_grows_without_looking_back() {
    let fixture = Fixture::new();
    let session = fixture
        .engine()
        .create("s", Some("claude-fable-5".into()))
        .unwrap();
    let ordered = |text: String| {
        let event = serde_json::value::RawValue::from_string(text).unwrap();
        api::Append {
            events: vec![event],
            durability: Some(api::Durability::Ordered),
            ..Default::default()
        }
    };
    let form = api::As::None;
    let mut costs = Vec::new();
    for part in 0..4 {
        let began = std::time::Instant::now();
        for turn in 0..500 {
            session
                .append_with(ordered(says(&format!("question {part} {turn}"))))
                .unwrap();
            session
                .project(api::Project {
                    form: form.clone(),
                    ..Default::default()
                })
                .unwrap();
            session
                .append_with(ordered(answers(&format!("answer {part} {turn}"))))
                .unwrap();
        }
        costs.push(began.elapsed());
    }
    eprintln!("500 turns each: {costs:?}");
    // No verdict by the clock; the costs are for people to read. What is checked: it all is there.
    assert_eq!(session.status().unwrap().turns, 2_000);
}
