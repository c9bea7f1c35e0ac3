//! A data directory in memory, with a clock that moves when told and chance from a seed; an engine that comes and goes.

use super::ask;
use super::print;
use recount::disk::{SimulatedDisk, Survival};
use recount::{Chance, Clock, Dispatcher, Engine, Error, Options};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// When scenarios begin, in ms.
pub(crate) const START: u64 = 1_700_000_000_000;

/// What commands act on.
pub(crate) struct World {
    disk: SimulatedDisk,
    clock: Arc<AtomicU64>,
    lives: u64,
    dispatcher: Dispatcher,
    session: String,
    /// Digests of prompts in the order in which they were met: the first is A.
    pub(crate) prompts: Vec<String>,
}

impl World {
    pub(crate) fn new() -> Self {
        let disk = SimulatedDisk::new();
        let clock = Arc::new(AtomicU64::new(START));
        Self {
            dispatcher: started(&disk, &clock, 0),
            disk,
            clock,
            lives: 0,
            session: String::new(),
            prompts: Vec::new(),
        }
    }

    /// Does what a line says; what there is to say of it.
    pub(crate) fn run(&mut self, line: &str) -> String {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "clock" => {
                let seconds: u64 = rest.parse().expect("a number of seconds");
                self.clock.store(START + seconds * 1_000, Ordering::Relaxed);
                String::new()
            }
            "use" => {
                rest.clone_into(&mut self.session);
                String::new()
            }
            "line" => self.answer_line(rest),
            "restart" => self.restart(),
            "power-cut" => self.power_cut(),
            "flip" => self.flip(rest),
            "tear" => self.tear(rest.parse().expect("a number of bytes")),
            "list" => self.answer("v1.sessions.list", &json!({})),
            _ => self.request(line),
        }
    }

    fn request(&mut self, line: &str) -> String {
        let Some(mut ask) = ask::ask(line) else {
            panic!("no such command: {line}");
        };
        if let ("v1.session.open", Some(Value::String(name))) =
            (ask.method.as_str(), ask.params.get("session"))
        {
            name.clone_into(&mut self.session);
        }
        let session = json!(self.session);
        ask.params.entry("session").or_insert(session);
        let mut params = Value::Object(ask.params).to_string();
        if !ask.events.is_empty() {
            params.pop();
            params += &format!(r#","events":[{}]}}"#, ask.events.join(","));
        }
        self.answer_raw(&ask.method, &params)
    }

    fn answer(&mut self, method: &str, params: &Value) -> String {
        self.answer_raw(method, &params.to_string())
    }

    fn answer_raw(&mut self, method: &str, params: &str) -> String {
        match self.dispatcher.invoke(method, Some(params)) {
            Ok(result) => {
                // Half of a surrogate pair goes past the reader of JSON here, and is shown as it came.
                let result = result.get().replace(r"\ud", r"\\ud");
                let result = serde_json::from_str(&result).expect("a result is JSON");
                print::result(self, method, &result).replace(r"\\ud", r"\ud")
            }
            Err(error) => print::error(&said(&error)),
        }
    }

    /// A raw line of the protocol and its raw answer, without digests.
    fn answer_line(&self, line: &str) -> String {
        let answer = self.dispatcher.call(line);
        answer.unwrap_or_else(|| "(no answer)".to_owned()) + "\n"
    }

    /// The letter of a prompt.
    pub(crate) fn letter(&mut self, digest: &str) -> char {
        let place = self.prompts.iter().position(|known| known == digest);
        let place = place.unwrap_or_else(|| {
            self.prompts.push(digest.to_owned());
            self.prompts.len() - 1
        });
        char::from(b'A' + u8::try_from(place % 26).unwrap_or(0))
    }

    fn restart(&mut self) -> String {
        self.dispatcher.engine().close().expect("an engine closes");
        self.begin(self.disk.crashed(Survival::Kept))
    }

    fn power_cut(&mut self) -> String {
        self.begin(self.disk.crashed(Survival::Lost))
    }

    /// A bit of some words turns over while nobody looks.
    fn flip(&mut self, words: &str) -> String {
        let disk = self.disk.crashed(Survival::Kept);
        for name in disk.names() {
            let mut bytes = disk.bytes(&name).unwrap_or_default();
            let mut windows = bytes.windows(words.len());
            if let Some(at) = windows.position(|window| window == words.as_bytes()) {
                bytes[at] ^= 1;
                disk.put(&name, bytes);
                return self.begin(disk);
            }
        }
        panic!("the words are nowhere: {words}");
    }

    /// A process is killed within its last write: the last bytes are missing.
    fn tear(&mut self, count: usize) -> String {
        let disk = self.disk.crashed(Survival::Kept);
        let names = disk.names();
        let last = names.iter().rfind(|name| name.ends_with(".seg"));
        let name = last.expect("there is a segment");
        let mut bytes = disk.bytes(name).unwrap_or_default();
        let used = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(0) + 1;
        bytes.truncate(used.saturating_sub(count));
        disk.put(name, bytes);
        self.begin(disk)
    }

    fn begin(&mut self, disk: SimulatedDisk) -> String {
        self.lives += 1;
        self.dispatcher = started(&disk, &self.clock, self.lives);
        self.disk = disk;
        self.answer("v1.session.open", &json!({"session": self.session}))
    }
}

fn started(disk: &SimulatedDisk, clock: &Arc<AtomicU64>, seed: u64) -> Dispatcher {
    let clock = Arc::clone(clock);
    let options = Options {
        clock: Clock::Own(Arc::new(move || clock.load(Ordering::Relaxed))),
        chance: Chance::Seeded(seed),
        disk: Some(Arc::new(disk.clone())),
        ..Options::default()
    };
    let folder = std::path::Path::new("in-memory");
    Dispatcher::new(Engine::open(folder, options).expect("an engine opens"))
}

fn said(error: &Error) -> Value {
    serde_json::from_str(&error.to_json()).expect("an error is JSON")
}
