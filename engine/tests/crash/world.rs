//! An engine at work on a disk that writes everything down, with the truth of the run and what was promised when.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use recount::disk::{Journal, SimulatedDisk};
use recount::{Chance, Clock, Engine, Options, Session, api};
use serde_json::value::RawValue;

/// Where the engine believes its directory to be.
pub(crate) const DIRECTORY: &str = "/nowhere";

/// An engine on a disk, with a clock and salts of its own. Segments are small, so that they are sealed now and then.
pub(crate) fn open(disk: &SimulatedDisk) -> Result<Engine, recount::Error> {
    let ticks = AtomicU64::new(1_700_000_000_000);
    let options = Options {
        disk: Some(Arc::new(disk.clone())),
        clock: Clock::Own(Arc::new(move || ticks.fetch_add(1_000, Ordering::Relaxed))),
        chance: Chance::Seeded(3),
        segment_bytes: Some(6_000),
        // State checkpoints are written all the time, so that crashes meet them.
        checkpoint_every: Some(3),
        ..Options::default()
    };
    Engine::open(DIRECTORY, options)
}

/// What stands in a session: its events, and the prompt at each cut.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Truth {
    pub(crate) events: Vec<String>,
    pub(crate) digests: Vec<Option<String>>,
}

/// What the judge needs.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub(crate) truth: BTreeMap<String, Truth>,
    /// Moment, session, its durable head by then.
    pub(crate) durable: Vec<(usize, String, u64)>,
    /// Session, when it was asked to be forgotten, when that was done.
    pub(crate) pruned: Vec<(String, usize, usize)>,
    /// Files of results, by their names on the disk.
    pub(crate) spilled: BTreeMap<String, Vec<u8>>,
    /// An append that its host will repeat under the same key, not knowing what became of it: session, text, key.
    pub(crate) repeated: Option<(String, String, String)>,
}

/// An engine at work.
pub(crate) struct World {
    pub(crate) engine: Engine,
    disk: SimulatedDisk,
    facts: Facts,
}

impl World {
    /// Does what comes before, then begins to write everything down.
    pub(crate) fn after(before: impl FnOnce(&Engine)) -> World {
        let disk = SimulatedDisk::new();
        let engine = open(&disk).unwrap();
        before(&engine);
        let mut world = World {
            engine,
            disk,
            facts: Facts::default(),
        };
        world.disk.record();
        for name in names(&world.engine) {
            world.promised(&name);
        }
        world
    }

    pub(crate) fn session(&self) -> Session {
        self.engine.session("s").unwrap()
    }

    /// Notes the durable head that a session answers now.
    pub(crate) fn promised(&mut self, name: &str) {
        let session = self.engine.session(name).unwrap();
        if let Some(durable) = session.status().unwrap().durable {
            self.promise(name, durable);
        }
    }

    /// Notes that an answer promised a position.
    pub(crate) fn promise(&mut self, name: &str, seq: u64) {
        self.facts
            .durable
            .push((self.disk.moment(), name.to_owned(), seq));
    }

    /// Appends to `s` what is synced by default: the answer is a promise.
    pub(crate) fn append(&mut self, events: &[&str]) {
        let receipt = self.session().append(events).unwrap();
        self.promise("s", receipt.head);
    }

    /// An append with a key, which the judge repeats.
    pub(crate) fn keyed(&mut self, text: &str, key: &str) {
        self.session().append_with(keyed(text, key)).unwrap();
        self.facts.repeated = Some(("s".into(), text.into(), key.into()));
        self.promised("s");
    }

    /// Forgets a session for ever.
    pub(crate) fn prune(&mut self, name: &str) {
        let truth = truth(&self.engine, name).unwrap();
        self.facts.truth.insert(name.to_owned(), truth);
        let asked = self.disk.moment();
        let ask = api::Prune {
            sessions: Some(vec![name.to_owned()]),
            ..Default::default()
        };
        assert_eq!(self.engine.prune(&ask).unwrap().pruned.len(), 1);
        let done = self.disk.moment();
        self.facts.pruned.push((name.to_owned(), asked, done));
    }

    /// Closes and opens again.
    pub(crate) fn reopen(&mut self) {
        self.engine.close().unwrap();
        self.engine = open(&self.disk).unwrap();
        self.promised("s");
    }

    /// The files of results that there are.
    pub(crate) fn spilled(&self) -> BTreeMap<String, Vec<u8>> {
        let names = self.disk.names().into_iter();
        let spilled = names.filter(|name| name.starts_with("spills/"));
        spilled
            .map(|name| (name.clone(), self.disk.bytes(&name).unwrap()))
            .collect()
    }

    /// Ends the run as a killed process does.
    pub(crate) fn kill(mut self) -> (Journal, Facts) {
        self.facts.spilled = self.spilled();
        let journal = self.disk.journal().unwrap();
        for name in names(&self.engine) {
            let truth = truth(&self.engine, &name).unwrap();
            self.facts.truth.insert(name, truth);
        }
        self.disk.halt_at(0);
        (journal, self.facts)
    }
}

pub(crate) fn keyed(text: &str, key: &str) -> api::Append {
    api::Append {
        events: vec![RawValue::from_string(says(text)).unwrap()],
        key: Some(key.to_owned()),
        ..Default::default()
    }
}

pub(crate) fn says(text: &str) -> String {
    format!(r#"{{"type":"message","role":"user","content":"{text}"}}"#)
}

pub(crate) fn names(engine: &Engine) -> Vec<String> {
    let listed = engine.list(&api::List::default()).unwrap();
    listed
        .sessions
        .into_iter()
        .map(|session| session.session)
        .collect()
}

/// Everything of a session; the prompts by projecting at every cut.
pub(crate) fn truth(engine: &Engine, name: &str) -> Result<Truth, recount::Error> {
    let session = engine.session(name)?;
    let mut events = Vec::new();
    let mut from = 0;
    loop {
        let page = session.log(from, 1_000)?;
        events.extend(page.events.iter().map(|event| event.get().to_owned()));
        match page.next {
            Some(next) => from = next,
            None => break,
        }
    }
    let head = session.status()?.head;
    let cuts = 0..=head;
    let digests = cuts.map(|seq| digest(engine, name, api::At::Seq(seq)));
    Ok(Truth {
        digests: digests.collect(),
        events,
    })
}

/// The digest of the prompt at a cut; a profile is named, since an imported session has none of its own.
pub(crate) fn digest(engine: &Engine, name: &str, at: api::At) -> Option<String> {
    let ask = api::Project {
        session: name.to_owned(),
        profile: Some("claude-opus-4-5".into()),
        heal: true,
        at,
        ..Default::default()
    };
    engine.project(&ask).ok().map(|projected| projected.digest)
}
