//! Law 1 through the engine: with state checkpoints and cooled sessions it answers what it answers without, whatever is asked, closed
//! and opened; taking the checkpoints away, or damaging them, changes nothing.

use crate::run::told;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use recount::{Chance, Clock, Engine, Options, Session, api};
use recount_tests::generate::{Given, Host, Mix, Op, cases, program};
use recount_wal::disk::SimulatedDisk;
use serde_json::{Value, json};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An engine on a disk of its own, and what is needed to open it again.
struct Desk {
    disk: SimulatedDisk,
    every: u64,
    engine: Engine,
    session: Session,
}

fn open(disk: &SimulatedDisk, every: u64) -> (Engine, Session) {
    let ticks = AtomicU64::new(1_700_000_000_000);
    let clock = Clock::Own(Arc::new(move || ticks.fetch_add(1_000, Ordering::Relaxed)));
    let options = Options {
        clock,
        chance: Chance::Seeded(1),
        checkpoint_every: Some(every),
        disk: Some(Arc::new(disk.clone())),
        ..Options::default()
    };
    let engine = Engine::open("/nowhere", options).expect("a sound disk");
    let session = engine.create("s", None).expect("a session");
    (engine, session)
}

impl Desk {
    fn new(every: u64) -> Self {
        let disk = SimulatedDisk::new();
        let (engine, session) = open(&disk, every);
        Self {
            disk,
            every,
            engine,
            session,
        }
    }

    fn again(&mut self) {
        self.engine.close().expect("a sound disk");
        (self.engine, self.session) = open(&self.disk, self.every);
    }

    fn checkpoints(&self) -> Vec<String> {
        let names = self.disk.names();
        names
            .into_iter()
            .filter(|name| name.starts_with("states/"))
            .collect()
    }

    /// What it says, in words: prompts on both wires, how full it is, what is absent.
    fn says(&self) -> String {
        let prompt = |wire: &str| {
            let asked = self.session.project(api::Project {
                wire: Some(wire.to_owned()),
                heal: true,
                pieces: true,
                ..Default::default()
            });
            words(asked)
        };
        [
            prompt("anthropic"),
            prompt("openai_chat"),
            words(self.session.status()),
        ]
        .join("\n")
    }

    fn explains(&self, at: api::At) -> String {
        let asked = api::Explain {
            session: "s".to_owned(),
            at,
            ..Default::default()
        };
        words(self.engine.explain(&asked))
    }

    fn hand(&self, given: &Given) -> String {
        match given.value["type"].as_str() {
            Some("rollback") => {
                let to = serde_json::from_value(given.value["to"].clone());
                to.map_or_else(
                    |_| self.append(given),
                    |to| words(self.session.rollback(to)),
                )
            }
            Some("undo") => match given.value["event"].as_u64() {
                Some(event) => words(self.session.undo(event)),
                None => self.append(given),
            },
            Some("issued") => words(self.session.prepare(api::Prepare {
                heal: true,
                ..Default::default()
            })),
            _ => self.append(given),
        }
    }

    fn append(&self, given: &Given) -> String {
        words(self.session.append(&[&given.raw]))
    }
}

/// An answer, or which error. How far it is durable depends on when it is asked.
fn words<T: serde::Serialize>(answer: Result<T, recount::Error>) -> String {
    match answer {
        Ok(answer) => {
            let mut answer = serde_json::to_value(&answer).unwrap_or_default();
            if let Some(answer) = answer.as_object_mut() {
                answer.shift_remove("durable");
                answer.shift_remove("not_durable_since");
            }
            answer.to_string()
        }
        Err(error) => format!("{:?} {error} {:?}", error.kind(), error.suggest()),
    }
}

/// Plays a program on desks that must not differ; closes and opens some of them on the way. Answers the host.
fn play(desks: &mut [Desk], seed: u64, program: &[Op], under: &[Value]) -> Host {
    let mut host = Host::new();
    let opened = desks[0]
        .session
        .log(0, 10)
        .map_or(0, |page| page.events.len());
    for _ in 0..opened {
        host.log.push(json!({"type": "opened"}));
    }
    let given = host.profile(seed);
    hand(desks, &mut host, &given);
    for (place, op) in program.iter().enumerate() {
        let given = host.event(*op);
        hand(desks, &mut host, &given);
        for value in under.iter().filter(|_| place % 4 == 3) {
            let mut value = value.clone();
            if value["type"] == "usage" {
                value["request"] = json!(format!("u{place}"));
            }
            let raw = value.to_string();
            hand(desks, &mut host, &Given { raw, value });
        }
        if place % 11 == 10 {
            desks.iter_mut().for_each(Desk::again);
        }
        if place % 7 == 6 {
            alike(desks, &host, |desk| desk.says());
        }
    }
    host
}

fn hand(desks: &[Desk], host: &mut Host, given: &Given) {
    let before = host.log.len() as u64;
    alike(desks, host, |desk| {
        format!("{} to {}", desk.hand(given), given.raw)
    });
    // Asked of all: what is rendered is at hand afterwards.
    alike(desks, host, |desk| words(desk.session.status()));
    let head = desks[0].session.status().map_or(0, |status| status.head);
    for _ in before..=head {
        host.log.push(given.value.clone());
    }
}

/// All desks answer the same.
fn alike(desks: &[Desk], host: &Host, ask: impl Fn(&Desk) -> String) {
    let first = ask(&desks[0]);
    for desk in &desks[1..] {
        assert_eq!(ask(desk), first, "every {} in\n{}", desk.every, told(host));
    }
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn law_1_checkpoints_change_no_answer(seed: u64, program in program(Mix::Deep, 80)) {
        let mut desks = [Desk::new(u64::MAX), Desk::new(6), Desk::new(14)];
        let host = play(&mut desks, seed, &program, &[]);
        let head = desks[0].session.status().map_or(0, |status| status.head);
        prop_assert!(desks[0].checkpoints().is_empty());
        prop_assert!(head < 40 || !desks[1].checkpoints().is_empty());
        for desk in &mut desks {
            desk.again();
        }
        alike(&desks, &host, Desk::says);
        alike(&desks, &host, |desk| words(desk.session.verify()));
        for seq in (0..=head).step_by(5) {
            alike(&desks, &host, |desk| desk.explains(api::At::Seq(seq)));
        }
        for seq in (0..=head).rev().step_by(9) {
            desks.iter_mut().for_each(Desk::again);
            alike(&desks, &host, |desk| words(desk.session.rollback(api::To::Seq(seq))));
            alike(&desks, &host, Desk::says);
        }
        // Taking them away, or changing any byte of them, changes nothing.
        for place in 0..6 {
            desks[1].engine.close().expect("a sound disk");
            for name in desks[1].checkpoints() {
                let mut bytes = desks[1].disk.bytes(&name).unwrap_or_default();
                let at = (seed as usize).wrapping_mul(31).wrapping_add(place * 7_919) % bytes.len().max(1);
                bytes[at] ^= 1 << (place % 8);
                desks[1].disk.put(&name, if place == 5 { Vec::new() } else { bytes });
            }
            desks.iter_mut().for_each(Desk::again);
            alike(&desks, &host, Desk::says);
        }
    }
}

/// Again and again a request was too full, and the next prompt is asked for.
#[test]
fn law_1_k2_checkpoints_change_no_answer_under_clines_rules() {
    let under = [
        json!({"type": "policy", "preset": "cline"}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "done"}]}),
        json!({"type": "message", "role": "user", "content": "and what is next?"}),
        json!({"type": "usage", "input": 100_000_000, "output": 1}),
        json!({"type": "issued"}),
    ];
    let decided = Cell::new(0);
    let programs = (any::<u64>(), program(Mix::Deep, 80));
    let ran = TestRunner::new(cases(12)).run(&programs, |(seed, program)| {
        let mut desks = [Desk::new(u64::MAX), Desk::new(6)];
        let host = play(&mut desks, seed, &program, &under);
        for desk in &mut desks {
            desk.again();
        }
        alike(&desks, &host, Desk::says);
        alike(&desks, &host, |desk| words(desk.session.verify()));
        let log = desks[0].session.log(0, 10_000);
        let events = log.map(|page| page.events).unwrap_or_default();
        let own = events
            .iter()
            .filter(|event| event.get().contains("\"cause\":\"cline: "));
        decided.set(decided.get() + own.count());
        Ok(())
    });
    ran.unwrap_or_else(|failed| panic!("{failed}"));
    assert!(decided.get() > 12, "{} decisions only", decided.get());
}
