//! A host's line to the engine: every call by name and under a key, and the engine may be killed in the middle of any of them.
//!
//! - The host outlives the engine: after a kill the directory is opened again as a crash left it, what was acknowledged without being
//!   durable is called again in order, and so is the call whose answer was lost.
//! - Prompts are named by number (`@issued:3`), since their digests hold salts that another life of the engine draws anew.

use crate::recordings::Dice;
use recount::disk::{SimulatedDisk, Survival};
use recount::{Chance, Clock, Dispatcher, Engine, Options};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tempfile::TempDir;

/// Where the directory lies.
#[derive(Debug)]
enum Place {
    Folder(TempDir),
    Simulated(SimulatedDisk),
}

/// A refusal of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The method.
    pub method: String,
    /// The kind of error.
    pub kind: String,
    /// Its words.
    pub text: String,
}

/// A call that was answered.
#[derive(Clone, Debug)]
struct Call {
    method: &'static str,
    params: Value,
    head: u64,
    body_digest: Option<String>,
}

/// When the engine is killed.
#[derive(Clone, Debug)]
pub struct Kills {
    dice: Dice,
    /// One call in so many.
    one_in: u64,
    /// Kills that are left.
    left: u64,
}

impl Kills {
    /// So many kills, one call in so many.
    #[must_use]
    pub fn seeded(seed: &str, count: u64, one_in: u64) -> Self {
        Self {
            dice: Dice::new(&format!("kills {seed}")),
            one_in,
            left: count,
        }
    }
}

/// The line.
#[derive(Debug)]
pub struct Line {
    place: Place,
    dispatcher: Option<Dispatcher>,
    session: String,
    calls: u64,
    /// Calls that may not be durable yet.
    journal: Vec<Call>,
    /// Digests of the prompts that were issued, by number.
    issued: Vec<String>,
    kills: Option<Kills>,
    /// Kills that happened, and those in the middle of a call.
    pub killed: (u64, u64),
    /// What an answer said differently the second time.
    pub differences: Vec<String>,
}

/// Methods that change nothing and take no key.
const READS: [&str; 6] = [
    "v1.session.log",
    "v1.session.status",
    "v1.session.explain",
    "v1.session.project",
    "v1.session.actions",
    "v1.session.verify",
];

impl Line {
    /// A line to a directory on this machine's disk.
    ///
    /// # Errors
    /// In words.
    pub fn on_disk(session: &str) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|cause| cause.to_string())?;
        Self::new(Place::Folder(folder), session, None)
    }

    /// A line to a directory on a simulated disk, where the engine is killed now and then.
    ///
    /// # Errors
    /// In words.
    pub fn simulated(session: &str, kills: Option<Kills>) -> Result<Self, String> {
        Self::new(Place::Simulated(SimulatedDisk::new()), session, kills)
    }

    fn new(place: Place, session: &str, kills: Option<Kills>) -> Result<Self, String> {
        let mut line = Self {
            place,
            dispatcher: None,
            session: session.to_owned(),
            calls: 0,
            journal: Vec::new(),
            issued: Vec::new(),
            kills,
            killed: (0, 0),
            differences: Vec::new(),
        };
        line.open()?;
        Ok(line)
    }

    fn open(&mut self) -> Result<(), String> {
        self.dispatcher = None;
        let ticks = AtomicU64::new(1_700_000_000_000);
        let disk: Option<Arc<dyn recount::disk::Disk>> = match &self.place {
            Place::Folder(_) => None,
            Place::Simulated(disk) => Some(Arc::new(disk.clone())),
        };
        let options = Options {
            disk,
            clock: Clock::Own(Arc::new(move || ticks.fetch_add(1_000, Ordering::Relaxed))),
            chance: Chance::Seeded(1),
            ..Options::default()
        };
        let path = match &self.place {
            Place::Folder(folder) => folder.path(),
            Place::Simulated(_) => Path::new("/nowhere"),
        };
        let engine = Engine::open(path, options).map_err(|error| format!("open: {error}"))?;
        self.dispatcher = Some(Dispatcher::new(engine));
        Ok(())
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> Option<&Engine> {
        self.dispatcher.as_ref().map(Dispatcher::engine)
    }

    /// Calls so far that change something.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls
    }

    /// The number that the next prompt gets.
    #[must_use]
    pub fn next_issued(&self) -> usize {
        self.issued.len()
    }

    /// Calls a method.
    ///
    /// # Errors
    /// The engine refused, or it could not be opened again.
    pub fn call(&mut self, method: &'static str, mut params: Value) -> Result<Value, Refused> {
        let reads = READS.contains(&method);
        if let Some(object) = params.as_object_mut() {
            object.insert("session".to_owned(), json!(self.session));
            if !reads {
                object.insert("key".to_owned(), json!(format!("call-{}", self.calls)));
            }
        }
        if reads {
            return self.invoke(method, &params);
        }
        self.calls += 1;
        let answer = match self.strike() {
            None => self.invoke(method, &params)?,
            Some(operations) => self.killed_in(method, &params, operations)?,
        };
        self.note(method, params, &answer);
        Ok(answer)
    }

    /// Whether this call meets a kill, and after how many operations of the disk.
    fn strike(&mut self) -> Option<u64> {
        let kills = self.kills.as_mut().filter(|kills| kills.left > 0)?;
        if kills.dice.below(kills.one_in) != 0 {
            return None;
        }
        kills.left -= 1;
        Some(kills.dice.below(14))
    }

    /// Calls, loses the engine and perhaps the answer, opens again, calls again.
    fn killed_in(
        &mut self,
        method: &'static str,
        params: &Value,
        operations: u64,
    ) -> Result<Value, Refused> {
        let Place::Simulated(disk) = &self.place else {
            return self.invoke(method, params);
        };
        let disk = disk.clone();
        disk.halt_at(disk.operations() + operations);
        let first = self.invoke(method, params);
        self.killed.0 += 1;
        // An answer that needed no disk any more is one that the host may have seen; everything else is lost.
        self.killed.1 += u64::from(first.is_err());
        self.dispatcher = None;
        let survival = self.survival();
        let left = disk.crashed(survival);
        self.place = Place::Simulated(left);
        let broken = |text: String| Refused {
            method: method.to_owned(),
            kind: "unopened".to_owned(),
            text,
        };
        self.open().map_err(broken)?;
        self.catch_up()?;
        let again = self.invoke(method, params)?;
        if let Ok(first) = &first
            && first["body_digest"] != again["body_digest"]
        {
            let said = format!(
                "{method} answered {} and then {}",
                first["body_digest"], again["body_digest"]
            );
            self.differences.push(said);
        }
        Ok(again)
    }

    fn survival(&mut self) -> Survival {
        let dice = self.kills.as_mut().map(|kills| &mut kills.dice);
        let (draw, seed) = dice.map_or((0, 0), |dice| (dice.below(3), dice.below(u64::MAX)));
        match draw {
            0 => Survival::Kept,
            1 => Survival::Lost,
            _ => Survival::Torn(seed),
        }
    }

    /// Calls again what was answered and did not survive.
    fn catch_up(&mut self) -> Result<(), Refused> {
        let head = match self.invoke("v1.session.status", &json!({"session": self.session})) {
            Ok(status) => status["head"].as_u64(),
            Err(_) => None,
        };
        let lost: Vec<Call> = self
            .journal
            .iter()
            .filter(|call| head.is_none_or(|head| call.head > head))
            .cloned()
            .collect();
        for call in lost {
            let answer = self.invoke(call.method, &call.params)?;
            if answer["head"].as_u64() != Some(call.head) {
                let said = format!(
                    "{} ended at {} and then at {}",
                    call.method, call.head, answer["head"]
                );
                self.differences.push(said);
            }
            if answer["body_digest"].as_str() != call.body_digest.as_deref() {
                self.differences
                    .push(format!("{} gave another body", call.method));
            }
        }
        Ok(())
    }

    fn note(&mut self, method: &'static str, params: Value, answer: &Value) {
        let retry = &answer["retry"];
        let prompt = if retry.is_object() { retry } else { answer };
        if prompt["issued"].is_u64()
            && let Some(digest) = prompt["digest"].as_str()
        {
            self.issued.push(digest.to_owned());
        }
        let head = answer["head"].as_u64().unwrap_or(0);
        if answer["durable"].as_u64() == Some(head) || answer["issued"].is_u64() {
            self.journal.clear();
            return;
        }
        self.journal.push(Call {
            method,
            params,
            head,
            body_digest: prompt["body_digest"].as_str().map(str::to_owned),
        });
    }

    fn invoke(&self, method: &str, params: &Value) -> Result<Value, Refused> {
        let refused = |kind: &str, text: String| Refused {
            method: method.to_owned(),
            kind: kind.to_owned(),
            text,
        };
        let Some(dispatcher) = &self.dispatcher else {
            return Err(refused("closed", "the engine is gone".to_owned()));
        };
        let mut text = params.to_string();
        while let Some(at) = text.find("@issued:") {
            let digits: String = text
                .get(at + 8..)
                .unwrap_or_default()
                .chars()
                .take_while(char::is_ascii_digit)
                .collect();
            let number: usize = digits.parse().unwrap_or(usize::MAX);
            let digest = self.issued.get(number).cloned().unwrap_or_default();
            text.replace_range(at..at + 8 + digits.len(), &digest);
        }
        let answer = dispatcher
            .invoke(method, Some(&text))
            .map_err(|error| refused(&format!("{:?}", error.kind()), error.to_string()))?;
        serde_json::from_str(answer.get()).map_err(|cause| refused("unread", cause.to_string()))
    }

    /// Closes and opens again.
    ///
    /// # Errors
    /// In words.
    pub fn reopen(&mut self) -> Result<(), String> {
        if let Some(engine) = self.engine() {
            engine.close().map_err(|error| format!("close: {error}"))?;
        }
        self.open()
    }
}
