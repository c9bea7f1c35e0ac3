//! `kill -9` at random moments while four sessions append through `recount rpc`.
//!
//! - No acknowledged event is lost, none is there twice, none was invented; what was not acknowledged is repeated with its key and is then
//!   there once.
//! - Two processes share the directory, so that the holder is killed as often as its client.
//! - `RECOUNT_KILLS` says how many kills (default 12), `RECOUNT_SEED` which.

#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says so by failing"
)]

mod support;

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use support::{Chance, Rpc};

const SESSIONS: usize = 4;

/// What the host knows of one session.
#[derive(Default)]
struct Expected {
    /// Texts in the order in which they were sent.
    sent: Vec<String>,
    /// How many of them, from the front, were acknowledged.
    acknowledged: usize,
}

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

fn name(session: usize) -> String {
    format!("session {session}")
}

/// Sends the next text of a session, or again the first that was not acknowledged.
fn send(
    rpc: &mut Rpc,
    session: usize,
    expected: &mut Expected,
    under_way: &mut BTreeMap<u64, usize>,
    chance: &mut Chance,
) {
    if expected.acknowledged == expected.sent.len() {
        let size = chance.below(3000) as usize;
        expected.sent.push(format!(
            "{session}/{} {}",
            expected.sent.len(),
            "x".repeat(size)
        ));
    }
    let number = expected.acknowledged;
    let event = json!({"type": "message", "role": "user", "content": expected.sent[number]});
    let params =
        json!({"session": name(session), "events": [event], "key": format!("{session}/{number}")});
    if let Some(id) = rpc.ask("v1.session.append", params) {
        under_way.insert(id, session);
    }
}

/// Appends until the time is over, then kills; answers how many acknowledgements came.
fn run_until_killed(
    rpc: &mut Rpc,
    sessions: &[usize],
    expected: &mut [Expected],
    chance: &mut Chance,
) -> usize {
    let mut under_way = BTreeMap::new();
    for session in sessions {
        send(
            rpc,
            *session,
            &mut expected[*session],
            &mut under_way,
            chance,
        );
    }
    let over = Instant::now() + Duration::from_millis(5 + chance.below(120));
    let mut acknowledgements = 0;
    while Instant::now() < over {
        let Some(answer) = rpc.answer(Duration::from_millis(20)) else {
            continue;
        };
        let session = under_way
            .remove(&answer["id"].as_u64().expect("answers carry their id"))
            .expect("only what was asked is answered");
        assert!(
            answer.get("error").is_none(),
            "an append with a key must not fail: {answer}"
        );
        expected[session].acknowledged += 1;
        acknowledgements += 1;
        send(rpc, session, &mut expected[session], &mut under_way, chance);
    }
    rpc.kill();
    // What was acknowledged before the kill may still lie in the pipe: it counts.
    while let Some(answer) = rpc.answer(Duration::from_millis(200)) {
        if let Some(session) = answer["id"].as_u64().and_then(|id| under_way.remove(&id)) {
            assert!(answer.get("error").is_none(), "{answer}");
            expected[session].acknowledged += 1;
        }
    }
    acknowledgements
}

/// Every message text of a session, in the order of the log.
fn logged(rpc: &mut Rpc, session: usize) -> Vec<String> {
    let mut texts = Vec::new();
    let mut from = 0;
    loop {
        let page = rpc.result(
            "v1.session.log",
            json!({"session": name(session), "from": from}),
        );
        for event in page["events"].as_array().expect("events") {
            if event["type"] == "message" {
                texts.push(event["content"].as_str().expect("a text").to_owned());
            }
        }
        match page["next"].as_u64() {
            Some(next) => from = next,
            None => return texts,
        }
    }
}

fn check(data: &Path, expected: &mut [Expected]) {
    let mut rpc = Rpc::start(data);
    for (session, expected) in expected.iter_mut().enumerate() {
        let logged = logged(&mut rpc, session);
        assert!(
            logged.len() >= expected.acknowledged,
            "session {session}: {} acknowledged, {} there",
            expected.acknowledged,
            logged.len()
        );
        assert!(
            logged.len() <= expected.sent.len(),
            "session {session}: something was invented"
        );
        assert_eq!(
            logged[..],
            expected.sent[..logged.len()],
            "session {session}: what is there is not what was sent"
        );
        // Sent but not acknowledged, and there all the same: repeating it with its key must not add it again.
        let again = expected.acknowledged..logged.len();
        for number in again {
            let event =
                json!({"type": "message", "role": "user", "content": expected.sent[number]});
            let params = json!({"session": name(session), "events": [event], "key": format!("{session}/{number}")});
            let receipt: Value = rpc.result("v1.session.append", params);
            assert_eq!(receipt["repeated"], true, "session {session}: {receipt}");
        }
        expected.acknowledged = logged.len();
    }
    assert!(rpc.close().success(), "a clean close");
}

#[test]
fn acknowledged_events_survive_kills() {
    let kills = environment("RECOUNT_KILLS", 12);
    let seed = environment("RECOUNT_SEED", 20_261_129);
    let mut chance = Chance::new(seed);
    let data = tempfile::tempdir().expect("a scratch directory");
    let mut expected: Vec<Expected> = (0..SESSIONS).map(|_| Expected::default()).collect();
    let mut rpc = Rpc::start(data.path());
    for session in 0..SESSIONS {
        rpc.result(
            "v1.session.open",
            json!({"session": name(session), "create": true}),
        );
    }
    assert!(rpc.close().success());

    let mut acknowledgements = 0;
    for round in 0..kills {
        let (mut one, mut other) = (Rpc::start(data.path()), Rpc::start(data.path()));
        if round % 3 == 0 {
            // All four sessions through one process.
            acknowledgements +=
                run_until_killed(&mut one, &[0, 1, 2, 3], &mut expected, &mut chance);
            other.kill();
        } else {
            // The first is killed while the second goes on with the other sessions.
            acknowledgements += run_until_killed(&mut one, &[0, 1], &mut expected, &mut chance);
            acknowledgements += run_until_killed(&mut other, &[2, 3], &mut expected, &mut chance);
        }
        check(data.path(), &mut expected);
    }
    assert!(
        acknowledgements > 0,
        "nothing was acknowledged at all: the test tested nothing"
    );
    eprintln!("{kills} kills, seed {seed}: {acknowledgements} acknowledgements, all there once");
}
