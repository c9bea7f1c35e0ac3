//! A directory that is killed again and again, and what its host knows of it.

use crate::support::{Chance, Rpc};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Sessions that are appended to.
pub(crate) const SESSIONS: usize = 4;
/// Small, so that many segments are sealed.
const SEGMENT_BYTES: &str = "32768";

/// What the host knows of one session.
#[derive(Default)]
pub(crate) struct Expected {
    /// Texts in the order in which they were sent.
    sent: Vec<String>,
    /// How many of them, from the front, were acknowledged.
    acknowledged: usize,
}

/// Requests that were sent and not answered: which session each is for.
pub(crate) type UnderWay = BTreeMap<u64, usize>;

/// How a process is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// At once, as `kill -9` or the system does when memory runs out.
    Kill,
    /// As `kill` does.
    Terminate,
}

/// A directory and its host.
pub(crate) struct World {
    data: tempfile::TempDir,
    expected: Vec<Expected>,
    pub(crate) chance: Chance,
    phase: &'static str,
    /// Kills and acknowledgements by phase.
    counts: BTreeMap<&'static str, (u64, u64)>,
    imports: u64,
}

impl World {
    /// A new directory with its sessions.
    pub(crate) fn new(seed: u64) -> World {
        let world = World {
            data: tempfile::tempdir().expect("a scratch directory"),
            expected: (0..SESSIONS).map(|_| Expected::default()).collect(),
            chance: Chance::new(seed),
            phase: "",
            counts: BTreeMap::new(),
            imports: 0,
        };
        let mut rpc = world.start();
        for session in 0..SESSIONS {
            let open = json!({"session": name(session), "create": true});
            rpc.result("v1.session.open", open);
        }
        assert!(rpc.close().success());
        world
    }

    /// What follows counts for this phase.
    pub(crate) fn enter(&mut self, phase: &'static str) {
        self.phase = phase;
        self.counts.entry(phase).or_default();
    }

    /// The directory.
    pub(crate) fn data(&self) -> &Path {
        self.data.path()
    }

    /// Starts a process on it.
    pub(crate) fn start(&self) -> Rpc {
        Rpc::start_with(self.data(), &["--segment-bytes", SEGMENT_BYTES])
    }

    /// Waits for less than so many microseconds.
    pub(crate) fn wait(&mut self, micros: u64) {
        std::thread::sleep(Duration::from_micros(self.chance.below(micros)));
    }

    /// Ends a process; what it had acknowledged before may still lie in the pipe, and counts.
    pub(crate) fn end(&mut self, rpc: &mut Rpc, under_way: &mut UnderWay, end: End) {
        self.counts.entry(self.phase).or_default().0 += 1;
        match end {
            End::Kill => rpc.kill(),
            End::Terminate => {
                let status = rpc.terminate();
                assert!(status.success(), "asked to end: {status}");
            }
        }
        while let Some(answer) = rpc.answer(Duration::from_millis(200)) {
            self.receive(&answer, under_way);
        }
        under_way.clear();
    }

    /// Sends the next text of a session, or again the first that was not acknowledged.
    pub(crate) fn send(&mut self, rpc: &mut Rpc, session: usize, under_way: &mut UnderWay) {
        let size = self.chance.below(3_000);
        let ordered = self.chance.below(4) == 0;
        let expected = &mut self.expected[session];
        if expected.acknowledged == expected.sent.len() {
            let text = "x".repeat(usize::try_from(size).unwrap_or(0));
            expected
                .sent
                .push(format!("{session}/{} {text}", expected.sent.len()));
        }
        let number = expected.acknowledged;
        let mut ask = append(session, number, &expected.sent[number]);
        // What is ordered is acknowledged by the sync that follows.
        let id = if ordered {
            ask["durability"] = json!("ordered");
            rpc.ask("v1.session.append", ask);
            rpc.ask("v1.session.sync", json!({"session": name(session)}))
        } else {
            rpc.ask("v1.session.append", ask)
        };
        if let Some(id) = id {
            under_way.insert(id, session);
        }
    }

    /// Takes an answer in; the session that it acknowledged an event of.
    fn receive(&mut self, answer: &Value, under_way: &mut UnderWay) -> Option<usize> {
        let id = answer["id"].as_u64().expect("answers carry their id");
        assert!(
            answer.get("error").is_none(),
            "an append with a key must not fail: {answer}"
        );
        let session = under_way.remove(&id)?;
        self.expected[session].acknowledged += 1;
        self.counts.entry(self.phase).or_default().1 += 1;
        Some(session)
    }

    /// Appends to sessions for so many milliseconds; answers what is still under way.
    pub(crate) fn append_for(
        &mut self,
        rpc: &mut Rpc,
        sessions: &[usize],
        millis: u64,
    ) -> UnderWay {
        let mut under_way = UnderWay::new();
        for session in sessions {
            self.send(rpc, *session, &mut under_way);
        }
        let over = Instant::now() + Duration::from_millis(millis);
        while Instant::now() < over {
            let Some(answer) = rpc.answer(Duration::from_millis(20)) else {
                continue;
            };
            if let Some(session) = self.receive(&answer, &mut under_way) {
                self.send(rpc, session, &mut under_way);
            }
        }
        under_way
    }

    /// A transcript that no session has yet: its file, its session's name, its number of messages.
    pub(crate) fn transcript(&mut self) -> (PathBuf, String, usize) {
        self.imports += 1;
        let turns = 300;
        let name = format!("imported {}", self.imports);
        let mut text = String::new();
        let mut parent = Value::Null;
        for turn in 0..turns {
            let id = format!("u{turn}");
            let line = json!({"type": "user", "uuid": id, "parentUuid": parent, "sessionId": name, "timestamp": "2026-01-01T00:00:00.000Z",
                "message": {"role": "user", "content": format!("turn {turn} {}", "z".repeat(2_000))}});
            text.push_str(&format!("{line}\n"));
            parent = json!(id);
        }
        let path = self.data().with_extension("jsonl");
        std::fs::write(&path, text).expect("a transcript");
        (path, name, turns)
    }

    /// Opens the directory and holds it against what is known; repeats what was not acknowledged and is there.
    pub(crate) fn check(&mut self) {
        let mut rpc = self.start();
        for (session, expected) in self.expected.iter_mut().enumerate() {
            check_session(&mut rpc, session, expected, self.phase);
        }
        let verdict = rpc.result("v1.verify", json!({}));
        let sound = matches!(verdict["state"].as_str(), Some("clean" | "torn"));
        assert!(sound, "{}: {verdict}", self.phase);
        assert!(rpc.close().success(), "a clean close");
    }

    /// Acknowledgements so far.
    pub(crate) fn acknowledged(&self) -> usize {
        self.expected.iter().map(|one| one.acknowledged).sum()
    }

    /// Prints the census.
    pub(crate) fn tell(&self, rounds: u64, seed: u64) {
        let kills: u64 = self.counts.values().map(|count| count.0).sum();
        eprintln!(
            "{rounds} rounds, seed {seed}: {kills} kills, {} acknowledged events, all there once",
            self.acknowledged()
        );
        for (phase, (kills, acks)) in &self.counts {
            eprintln!("  {phase:<12} {kills:>5} kills {acks:>7} acknowledgements");
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.data().with_extension("jsonl"));
    }
}

fn name(session: usize) -> String {
    format!("session {session}")
}

fn append(session: usize, number: usize, text: &str) -> Value {
    let event = json!({"type": "message", "role": "user", "content": text});
    json!({"session": name(session), "events": [event], "key": format!("{session}/{number}")})
}

fn check_session(rpc: &mut Rpc, session: usize, expected: &mut Expected, phase: &str) {
    let logged = logged(rpc, &name(session));
    let (there, known) = (logged.len(), expected.acknowledged);
    assert!(
        there >= known,
        "{phase}: session {session}: {known} acknowledged, {there} there"
    );
    assert!(
        there <= expected.sent.len(),
        "{phase}: session {session}: something was invented"
    );
    assert_eq!(
        logged[..],
        expected.sent[..there],
        "{phase}: session {session}: what is there is not what was sent"
    );
    // Sent but not acknowledged, and there all the same: repeating it with its key must not add it again.
    for number in known..there {
        let ask = append(session, number, &expected.sent[number]);
        let receipt = rpc.result("v1.session.append", ask);
        assert_eq!(receipt["repeated"], true, "session {session}: {receipt}");
    }
    expected.acknowledged = there;
}

/// Every message text of a session, in the order of the log.
pub(crate) fn logged(rpc: &mut Rpc, session: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut from = 0;
    loop {
        let page = rpc.result("v1.session.log", json!({"session": session, "from": from}));
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
