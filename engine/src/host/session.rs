//! A handle to one session: the engine's operations with the name filled in.

use super::Engine;
use crate::{Error, api};
use serde_json::value::RawValue;

/// A session of a data directory.
///
/// Clone is cheap. Send and Sync: two callers of one session queue up, their events never mix within a batch.
#[derive(Clone, Debug)]
pub struct Session {
    engine: Engine,
    name: String,
}

/// Each operation answers its result; the errors are those of [`crate::ErrorKind`].
#[expect(
    clippy::missing_errors_doc,
    reason = "all answer with the same kinds of error, documented on the type"
)]
impl Session {
    pub(crate) fn new(engine: Engine, name: &str) -> Self {
        Self {
            engine,
            name: name.to_owned(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Appends events, each a JSON object whose bytes are kept: all or none.
    pub fn append(&self, events: &[&str]) -> Result<api::Appended, Error> {
        self.append_with(api::Append {
            events: raw(events)?,
            ..Default::default()
        })
    }

    /// Appends with a key, an expected head, a durability.
    pub fn append_with(&self, ask: api::Append) -> Result<api::Appended, Error> {
        self.engine.append(&api::Append {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Waits until everything so far is on disk.
    pub fn sync(&self) -> Result<api::Synced, Error> {
        self.engine.sync(&api::Sync {
            session: self.name.clone(),
            seq: None,
        })
    }

    /// The prompt. Changes nothing; `Project::default()` asks for the head's.
    pub fn project(&self, ask: api::Project) -> Result<api::Projected, Error> {
        self.engine.project(&api::Project {
            session: self.name.clone(),
            ..ask
        })
    }

    /// The prompt to send: logged, and on disk when this answers.
    pub fn prepare(&self, ask: api::Prepare) -> Result<api::Prepared, Error> {
        self.engine.prepare(&api::Prepare {
            session: self.name.clone(),
            ..ask
        })
    }

    /// The prompt with its body as shared slices.
    pub fn prompt(&self, ask: api::Project) -> Result<super::Prompt, Error> {
        self.engine.prompt(&api::Project {
            session: self.name.clone(),
            ..ask
        })
    }

    /// The prompt to send with its body as shared slices: logged, and on disk when this answers.
    pub fn prepare_prompt(
        &self,
        ask: api::Prepare,
    ) -> Result<(api::Prepared, super::Prompt), Error> {
        self.engine.prepare_prompt(&api::Prepare {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Closes the draft and every open call in one batch.
    pub fn interrupt(&self, ask: api::Interrupt) -> Result<api::Interrupted, Error> {
        self.engine.interrupt(&api::Interrupt {
            session: self.name.clone(),
            ..ask
        })
    }

    /// A provider refused a prompt for its size: what to do next.
    pub fn overflowed(&self, ask: api::Overflowed) -> Result<api::OverflowAnswer, Error> {
        self.engine.overflowed(&api::Overflowed {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Compacts by force; `Compact::default()` plans for a model.
    pub fn compact(&self, ask: api::Compact) -> Result<api::Compacted, Error> {
        self.engine.compact(&api::Compact {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Takes a model's answer to a request of a compaction, or its error.
    pub fn summarised(&self, ask: api::Summarised) -> Result<api::SummarisedAnswer, Error> {
        self.engine.summarised(&api::Summarised {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Gives a compaction up.
    pub fn abandon(&self, compaction: &str, reason: &str) -> Result<api::Noted, Error> {
        self.abandon_with(api::Abandon {
            compaction: compaction.to_owned(),
            reason: reason.to_owned(),
            ..Default::default()
        })
    }

    /// Gives a compaction up, with a key, an expected head, a time.
    pub fn abandon_with(&self, ask: api::Abandon) -> Result<api::Noted, Error> {
        self.engine.abandon(&api::Abandon {
            session: self.name.clone(),
            ..ask
        })
    }

    /// What the host has to do, also from before a restart.
    pub fn actions(&self) -> Result<Vec<api::Action>, Error> {
        let ask = api::Actions {
            session: self.name.clone(),
            ..Default::default()
        };
        Ok(self.engine.actions(&ask)?.actions)
    }

    /// An action was carried out, or could not be.
    pub fn done(&self, ask: api::Done) -> Result<api::Noted, Error> {
        self.engine.done(&api::Done {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Shows an instruction file, or an agent's prompt, from now on.
    ///
    /// # Errors
    /// As [`Engine::instruct`].
    pub fn instruct(&self, ask: api::Instruct) -> Result<api::Instructed, Error> {
        self.engine.instruct(&api::Instruct {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Names the head.
    pub fn checkpoint(&self, label: &str) -> Result<api::Checkpointed, Error> {
        self.checkpoint_with(api::Checkpoint {
            label: label.to_owned(),
            ..Default::default()
        })
    }

    /// Names the head, with a key, a workspace, a time.
    pub fn checkpoint_with(&self, ask: api::Checkpoint) -> Result<api::Checkpointed, Error> {
        self.engine.checkpoint(&api::Checkpoint {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Makes the timeline that of an earlier position again.
    pub fn rollback(&self, to: api::To) -> Result<api::RolledBack, Error> {
        self.rollback_with(api::Rollback {
            session: String::new(),
            to,
            key: None,
            expect: None,
            at: None,
        })
    }

    /// Rolls back with a key, an expected head, a time.
    pub fn rollback_with(&self, ask: api::Rollback) -> Result<api::RolledBack, Error> {
        self.engine.rollback(&api::Rollback {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Takes one event's effect out of the timeline.
    pub fn undo(&self, event: u64) -> Result<api::Undone, Error> {
        self.undo_with(api::Undo {
            event,
            ..Default::default()
        })
    }

    /// Undoes with a key, an expected head, a time.
    pub fn undo_with(&self, ask: api::Undo) -> Result<api::Undone, Error> {
        self.engine.undo(&api::Undo {
            session: self.name.clone(),
            ..ask
        })
    }

    /// Continues this session under a new name, from a cut on.
    pub fn fork(&self, new: &str, at: api::At) -> Result<Self, Error> {
        self.engine.fork(&api::Fork {
            session: self.name.clone(),
            at,
            new: new.to_owned(),
            ..Default::default()
        })?;
        Ok(Self::new(self.engine.clone(), new))
    }

    /// How full it is.
    pub fn status(&self) -> Result<api::StatusReport, Error> {
        self.engine.status(&api::Status {
            session: self.name.clone(),
        })
    }

    /// What is shown and why; what is not, and the way back.
    pub fn explain(&self, at: api::At) -> Result<api::Explained, Error> {
        self.engine.explain(&api::Explain {
            session: self.name.clone(),
            at,
            block: None,
        })
    }

    /// Compares two of its prompts.
    pub fn diff(&self, a: api::Side, b: api::Side) -> Result<api::Differed, Error> {
        self.engine.diff(&api::Diff {
            session: self.name.clone(),
            a,
            b,
        })
    }

    /// Its events, from a position on.
    pub fn log(&self, from: u64, limit: u64) -> Result<api::LogPage, Error> {
        self.engine.log(&api::Log {
            session: self.name.clone(),
            from: Some(from),
            limit: Some(limit),
        })
    }

    /// Checks it.
    pub fn verify(&self) -> Result<api::Verified, Error> {
        self.engine.verify_session(&api::Verify {
            session: self.name.clone(),
            ..Default::default()
        })
    }

    /// Writes it as an archive.
    pub fn export(&self, ask: api::Export) -> Result<api::Exported, Error> {
        self.engine.export(&api::Export {
            session: self.name.clone(),
            ..ask
        })
    }
}

fn raw(events: &[&str]) -> Result<Vec<Box<RawValue>>, Error> {
    let one = |(index, event): (usize, &&str)| {
        RawValue::from_string((*event).to_owned()).map_err(|cause| {
            Error::invalid(format!("event is not json: {cause}")).with_index(index as u64)
        })
    };
    events.iter().enumerate().map(one).collect()
}
