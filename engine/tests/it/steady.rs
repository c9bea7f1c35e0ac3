//! What a `prepare` reads does not grow with the session.

use crate::common::{CHAT, answers, says};
use recount::disk::SimulatedDisk;
use recount::{Chance, Engine, Options, Session, api};
use std::sync::Arc;

fn engine(disk: &SimulatedDisk) -> Engine {
    let options = Options {
        disk: Some(Arc::new(disk.clone())),
        chance: Chance::Seeded(3),
        checkpoint_every: Some(8),
        segment_bytes: Some(16 << 10),
        ..Options::default()
    };
    Engine::open("/nowhere", options).unwrap()
}

/// The disk's operations of one `prepare`, behind one that may have learnt something.
fn operations(fills: Fills, turns: u64) -> u64 {
    let disk = SimulatedDisk::new();
    let engine = engine(&disk);
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    session.append(CHAT).unwrap();
    fills(&session, turns);
    session.prepare(api::Prepare::default()).unwrap();
    session.append(&[&answers("so"), &says("and?")]).unwrap();
    let before = disk.operations();
    session.prepare(api::Prepare::default()).unwrap();
    disk.operations() - before
}

/// Fills a session with so many turns.
type Fills = fn(&Session, u64);

const FILLS: &[(&str, Fills)] = &[
    (
        "instructions that were given again and again",
        |session, turns| {
            for turn in 0..turns {
                let rules = format!(
                    r#"{{"type":"inject","slot":"rules","lifetime":"session","content":"rule {turn}"}}"#
                );
                session
                    .append(&[&answers(&format!("a {turn}")), &says("on"), &rules])
                    .unwrap();
            }
            let head = session.status().unwrap().head;
            let fold =
                format!(r#"{{"type":"compact_commit","first":4,"last":{head},"summary":"s"}}"#);
            session.append(&[&fold, &says("on")]).unwrap();
        },
    ),
    ("a branch that was given up", |session, turns| {
        for turn in 0..turns {
            session
                .append(&[&answers(&format!("a {turn}")), &says("on")])
                .unwrap();
        }
        session.rollback(api::To::Seq(3)).unwrap();
        session.append(&[&says("again")]).unwrap();
    }),
];

#[test]
fn what_a_prompt_costs_does_not_grow_with_what_is_long_gone() {
    for (name, fills) in FILLS {
        let (short, long) = (operations(*fills, 50), operations(*fills, 400));
        assert!(long <= short + 16, "{name}: {short} {long}");
    }
}
