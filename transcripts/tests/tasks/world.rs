//! An imported recording as a session, and its prompt.

use recount_events::{
    Body, Event, Keeps, Kept, Millis, Profile, Rollback, Seq, Target, Text, Thinking, Undo, Wire,
};
use recount_projections::render::ByBytes;
use recount_projections::{Budget, Request, State, Timeline};
use recount_transcripts::{Files, Import, InForce, Written, write_task};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Files on disk.
pub(crate) struct Disk(pub(crate) PathBuf);

impl Files for Disk {
    fn list(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.join(folder))
            .into_iter()
            .flatten()
            .flatten();
        entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.0.join(path)).ok()
    }
}

/// Files in memory.
pub(crate) type Memory = BTreeMap<String, Vec<u8>>;

pub(crate) fn memory(files: &[(&str, &str)]) -> Memory {
    files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect()
}

/// All folders below one that hold a task.
pub(crate) fn folders(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut inside: Vec<PathBuf> = std::fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    inside.sort();
    if inside.iter().any(|path| {
        path.ends_with("ui_messages.json") || path.ends_with("api_conversation_history.json")
    }) {
        found.push(path.to_owned());
    }
    for path in inside.iter().filter(|path| path.is_dir()) {
        found.extend(folders(path));
    }
    found
}

/// The recordings: beside the checkout, or where `RECOUNT_SHARED` says.
pub(crate) fn corpus(format: &str) -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("RECOUNT_SHARED").map_or(beside, PathBuf::from);
    let corpus = shared.join("corpus").join(format);
    if corpus.is_dir() {
        return Some(corpus);
    }
    eprintln!("left out: no recordings at {}", corpus.display());
    None
}

/// An imported session.
pub(crate) struct World {
    pub(crate) state: State,
    /// Events that did not fit, and why.
    pub(crate) misfits: Vec<String>,
    salt: u64,
}

impl World {
    pub(crate) fn new(import: &Import) -> Self {
        let mut world = Self::of(State::new());
        for imported in &import.sessions[0].events {
            world.take(imported.event.clone());
        }
        world
    }

    /// A session that a host made.
    pub(crate) fn of(state: State) -> Self {
        Self {
            state,
            misfits: Vec::new(),
            salt: 0,
        }
    }

    fn sealed(&mut self, mut event: Event) -> Event {
        let salt = &mut self.salt;
        event.seal(&mut || {
            *salt += 1;
            let mut bytes = [7; 16];
            bytes[..8].copy_from_slice(&salt.to_le_bytes());
            bytes
        });
        event
    }

    /// As an import takes events in.
    fn take(&mut self, event: Event) {
        let event = self.sealed(event);
        let admitted = match self.state.admit(event.clone()) {
            Ok(admitted) => admitted,
            Err(misfit) => {
                self.misfits
                    .push(format!("{}: {}", event.body.name(), misfit.problem));
                let again = self
                    .state
                    .readmit(event.clone())
                    .ok()
                    .filter(|_| matches!(event.body, Body::Message(_) | Body::ToolResult(_)));
                again.unwrap_or_else(|| {
                    let seq = self.state.head().map_or(Seq(0), Seq::next);
                    let kept = Kept {
                        name: Text::plain(&format!("recount/misfit/{}", event.body.name())),
                        raw: Text::json(&event.to_json(seq, None)),
                    };
                    let kept = self.sealed(Event {
                        at: event.at,
                        body: Body::Kept(kept),
                        because: None,
                        extra: None,
                    });
                    self.state.admit(kept).unwrap()
                })
            }
        };
        self.state.apply(admitted);
    }

    /// A host's own event.
    pub(crate) fn append(&mut self, body: Body) -> Seq {
        let at = self
            .state
            .head()
            .and_then(|head| self.state.event(head))
            .map_or(0, |logged| logged.event.at.0);
        let event = self.sealed(Event {
            at: Millis(at + 1),
            body,
            because: None,
            extra: None,
        });
        let admitted = self.state.admit(event).expect("it fits");
        let seq = admitted.seq();
        self.state.apply(admitted);
        seq
    }

    pub(crate) fn roll_back(&mut self, asked: Target) -> Seq {
        self.append(Body::Rollback(Rollback { asked, to: None }))
    }

    pub(crate) fn undo(&mut self, event: Seq) -> Seq {
        self.append(Body::Undo(Undo { event, to: None }))
    }

    /// What would be sent now.
    pub(crate) fn sent(&self) -> Value {
        messages(self.state.timeline())
    }

    /// What would have been sent at a time.
    pub(crate) fn sent_at(&self, time: u64) -> Option<Value> {
        let to = self.state.resolve(&Target::Time(Millis(time))).ok()?.to;
        Some(messages(&self.state.timeline_at(to).unwrap()))
    }

    /// The files that it makes.
    pub(crate) fn written(&self, name: &str) -> Written {
        let timeline = self.state.timeline();
        let head = self.state.head().unwrap().0;
        let active = (0..=head)
            .map(Seq)
            .filter(|seq| timeline.line.contains(*seq) && !timeline.line.fallen.contains_key(seq));
        let events: Vec<_> = active
            .map(|seq| (seq, self.state.event(seq).unwrap()))
            .collect();
        let log: Vec<InForce<'_>> = events
            .iter()
            .map(|(seq, logged)| InForce {
                seq: *seq,
                event: &logged.event,
                hidden: timeline.content.contains_key(seq) && !timeline.visible(*seq),
            })
            .collect();
        write_task(name, &log)
    }
}

/// The messages of a prompt.
pub(crate) fn messages(timeline: &Timeline) -> Value {
    let profile = Profile {
        provider: Text::plain("anthropic"),
        model: Text::plain("m"),
        wire: Wire::Anthropic,
        window: 10_000_000,
        max_output: 1_000,
        overhead_tokens: 0,
        body_bytes: 0,
        images_count: 0,
        images_bytes: 0,
        images_pixels: 0,
        prefill: false,
        thinking: Thinking {
            binds: false,
            keeps: Keeps::All,
        },
        system_role: false,
        cache_edits: false,
        params: None,
        headers: None,
    };
    let request = Request {
        timeline,
        profile: &profile,
        wire: Wire::Anthropic,
        heal: true,
        counts: &ByBytes,
        budget: Budget::default(),
    };
    let body = recount_projections::project(&request).body();
    let body: Value = serde_json::from_slice(&body).unwrap();
    body["messages"].clone()
}
