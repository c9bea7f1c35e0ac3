//! The async face, for tokio: the same operations, each on a blocking thread of the runtime.
//!
//! - Dropping a future never takes back what it began: the operation runs to its end, its answer is lost.
//! - No lock, channel or disk is waited for on an async worker.
//! - Called outside a tokio runtime these futures panic, as all of tokio's do.

use super::{Engine, Options, Session};
use crate::{Error, ErrorKind, api};
use std::path::PathBuf;

/// [`Engine`] for async code. Clone is cheap; Send and Sync.
#[derive(Clone, Debug)]
pub struct AsyncEngine {
    engine: Engine,
}

/// [`Session`] for async code. Clone is cheap; Send and Sync; two tasks on one session queue up.
#[derive(Clone, Debug)]
pub struct AsyncSession {
    session: Session,
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(cause) => Err(Error::new(
            ErrorKind::Unknown,
            format!("the operation did not end: {cause}"),
        )),
    }
}

impl From<Engine> for AsyncEngine {
    fn from(engine: Engine) -> Self {
        Self { engine }
    }
}

impl From<Session> for AsyncSession {
    fn from(session: Session) -> Self {
        Self { session }
    }
}

/// The operations of [`Engine`].
#[expect(clippy::missing_errors_doc, reason = "as on the blocking face")]
impl AsyncEngine {
    /// Opens a data directory.
    pub async fn open(dir: impl Into<PathBuf>, options: Options) -> Result<Self, Error> {
        let dir = dir.into();
        blocking(move || Engine::open(dir, options))
            .await
            .map(Self::from)
    }

    /// The blocking face.
    #[must_use]
    pub fn blocking(&self) -> &Engine {
        &self.engine
    }

    /// Closes the directory.
    pub async fn close(&self) -> Result<(), Error> {
        let engine = self.engine.clone();
        blocking(move || engine.close()).await
    }

    /// A handle to a session that is there.
    pub async fn session(&self, name: &str) -> Result<AsyncSession, Error> {
        let (engine, name) = (self.engine.clone(), name.to_owned());
        blocking(move || engine.session(&name))
            .await
            .map(AsyncSession::from)
    }

    /// A handle to a session, which is made when it is not there.
    pub async fn create(
        &self,
        name: &str,
        profile: Option<api::Spec>,
    ) -> Result<AsyncSession, Error> {
        let (engine, name) = (self.engine.clone(), name.to_owned());
        blocking(move || engine.create(&name, profile))
            .await
            .map(AsyncSession::from)
    }

    /// What this engine is and can do.
    pub async fn hello(&self) -> Result<api::Hello, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.hello()).await
    }

    /// Checks the whole directory.
    pub async fn verify(&self) -> Result<api::DirectoryVerified, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.verify()).await
    }

    /// Opens, or with `create` makes, a session.
    pub async fn open_session(&self, ask: api::Open) -> Result<api::Opened, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.open_session(&ask)).await
    }

    /// Appends events: all or none.
    pub async fn append(&self, ask: api::Append) -> Result<api::Appended, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.append(&ask)).await
    }

    /// Waits until a position is on disk.
    pub async fn sync(&self, ask: api::Sync) -> Result<api::Synced, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.sync(&ask)).await
    }

    /// The prompt at a cut.
    pub async fn project(&self, ask: api::Project) -> Result<api::Projected, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.project(&ask)).await
    }

    /// The prompt to send.
    pub async fn prepare(&self, ask: api::Prepare) -> Result<api::Prepared, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.prepare(&ask)).await
    }

    /// Closes the draft and every open call.
    pub async fn interrupt(&self, ask: api::Interrupt) -> Result<api::Interrupted, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.interrupt(&ask)).await
    }

    /// A provider refused a prompt for its size: what to do next.
    pub async fn overflowed(&self, ask: api::Overflowed) -> Result<api::OverflowAnswer, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.overflowed(&ask)).await
    }

    /// Compacts by force.
    pub async fn compact(&self, ask: api::Compact) -> Result<api::Compacted, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.compact(&ask)).await
    }

    /// Takes a model's answer to a request of a compaction, or its error.
    pub async fn summarised(&self, ask: api::Summarised) -> Result<api::SummarisedAnswer, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.summarised(&ask)).await
    }

    /// Gives a compaction up.
    pub async fn abandon(&self, ask: api::Abandon) -> Result<api::Noted, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.abandon(&ask)).await
    }

    /// What the host has to do.
    pub async fn actions(&self, ask: api::Actions) -> Result<api::ActionList, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.actions(&ask)).await
    }

    /// An action was carried out, or could not be.
    pub async fn done(&self, ask: api::Done) -> Result<api::Noted, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.done(&ask)).await
    }

    /// Shows an instruction file, or an agent's prompt, from now on.
    pub async fn instruct(&self, ask: api::Instruct) -> Result<api::Instructed, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.instruct(&ask)).await
    }

    /// Names the head.
    pub async fn checkpoint(&self, ask: api::Checkpoint) -> Result<api::Checkpointed, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.checkpoint(&ask)).await
    }

    /// Makes the timeline that of an earlier position again.
    pub async fn rollback(&self, ask: api::Rollback) -> Result<api::RolledBack, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.rollback(&ask)).await
    }

    /// Takes one event's effect out of the timeline.
    pub async fn undo(&self, ask: api::Undo) -> Result<api::Undone, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.undo(&ask)).await
    }

    /// Continues a session under a new name.
    pub async fn fork(&self, ask: api::Fork) -> Result<api::Forked, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.fork(&ask)).await
    }

    /// How full a session is.
    pub async fn status(&self, ask: api::Status) -> Result<api::StatusReport, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.status(&ask)).await
    }

    /// What is shown and why; what is not, and the way back.
    pub async fn explain(&self, ask: api::Explain) -> Result<api::Explained, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.explain(&ask)).await
    }

    /// Compares two prompts.
    pub async fn diff(&self, ask: api::Diff) -> Result<api::Differed, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.diff(&ask)).await
    }

    /// The events themselves.
    pub async fn log(&self, ask: api::Log) -> Result<api::LogPage, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.log(&ask)).await
    }

    /// Checks a session.
    pub async fn verify_session(&self, ask: api::Verify) -> Result<api::Verified, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.verify_session(&ask)).await
    }

    /// Writes a session as an archive.
    pub async fn export(&self, ask: api::Export) -> Result<api::Exported, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.export(&ask)).await
    }

    /// Reads a foreign transcript or an archive.
    pub async fn import(&self, ask: api::Import) -> Result<api::Imported, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.import(&ask)).await
    }

    /// The sessions, newest first.
    pub async fn list(&self, ask: api::List) -> Result<api::Listed, Error> {
        let engine = self.engine.clone();
        blocking(move || engine.list(&ask)).await
    }
}

/// The operations of [`Session`].
#[expect(clippy::missing_errors_doc, reason = "as on the blocking face")]
impl AsyncSession {
    /// The blocking face.
    #[must_use]
    pub fn blocking(&self) -> &Session {
        &self.session
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.session.name()
    }

    async fn on<T: Send + 'static>(
        &self,
        work: impl FnOnce(Session) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let session = self.session.clone();
        blocking(move || work(session)).await
    }

    /// Appends events, each a JSON object whose bytes are kept: all or none.
    pub async fn append(&self, events: &[&str]) -> Result<api::Appended, Error> {
        let events: Vec<String> = events.iter().map(|event| (*event).to_owned()).collect();
        self.on(move |session| {
            session.append(&events.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .await
    }
    /// Appends with a key, an expected head, a durability.
    pub async fn append_with(&self, ask: api::Append) -> Result<api::Appended, Error> {
        self.on(move |session| session.append_with(ask)).await
    }
    /// Waits until everything so far is on disk.
    pub async fn sync(&self) -> Result<api::Synced, Error> {
        self.on(|session| session.sync()).await
    }
    /// The prompt. Changes nothing.
    pub async fn project(&self, ask: api::Project) -> Result<api::Projected, Error> {
        self.on(move |session| session.project(ask)).await
    }
    /// The prompt to send, at a time (ms).
    pub async fn prepare(&self, now: u64) -> Result<api::Prepared, Error> {
        self.prepare_with(api::Prepare {
            now: Some(now),
            ..Default::default()
        })
        .await
    }
    /// The prompt to send, with all that can be asked.
    pub async fn prepare_with(&self, ask: api::Prepare) -> Result<api::Prepared, Error> {
        self.on(move |session| session.prepare(ask)).await
    }
    /// The prompt with its body as shared slices.
    pub async fn prompt(&self, ask: api::Project) -> Result<super::Prompt, Error> {
        self.on(move |session| session.prompt(ask)).await
    }
    /// The prompt to send with its body as shared slices.
    pub async fn prepare_prompt(
        &self,
        ask: api::Prepare,
    ) -> Result<(api::Prepared, super::Prompt), Error> {
        self.on(move |session| session.prepare_prompt(ask)).await
    }
    /// Closes the draft and every open call in one batch.
    pub async fn interrupt(&self, ask: api::Interrupt) -> Result<api::Interrupted, Error> {
        self.on(move |session| session.interrupt(ask)).await
    }
    /// A provider refused a prompt for its size: what to do next.
    pub async fn overflowed(&self, ask: api::Overflowed) -> Result<api::OverflowAnswer, Error> {
        self.on(move |session| session.overflowed(ask)).await
    }
    /// Compacts by force.
    pub async fn compact(&self, ask: api::Compact) -> Result<api::Compacted, Error> {
        self.on(move |session| session.compact(ask)).await
    }
    /// Takes a model's answer to a request of a compaction, or its error.
    pub async fn summarised(&self, ask: api::Summarised) -> Result<api::SummarisedAnswer, Error> {
        self.on(move |session| session.summarised(ask)).await
    }
    /// Gives a compaction up.
    pub async fn abandon(&self, compaction: &str, reason: &str) -> Result<api::Noted, Error> {
        let (compaction, reason) = (compaction.to_owned(), reason.to_owned());
        self.on(move |session| session.abandon(&compaction, &reason))
            .await
    }
    /// What the host has to do, also from before a restart.
    pub async fn actions(&self) -> Result<Vec<api::Action>, Error> {
        self.on(|session| session.actions()).await
    }
    /// An action was carried out, or could not be.
    pub async fn done(&self, ask: api::Done) -> Result<api::Noted, Error> {
        self.on(move |session| session.done(ask)).await
    }
    /// Shows an instruction file, or an agent's prompt, from now on.
    pub async fn instruct(&self, ask: api::Instruct) -> Result<api::Instructed, Error> {
        self.on(move |session| session.instruct(ask)).await
    }
    /// Names the head.
    pub async fn checkpoint(&self, label: &str) -> Result<api::Checkpointed, Error> {
        let label = label.to_owned();
        self.on(move |session| session.checkpoint(&label)).await
    }
    /// Makes the timeline that of an earlier position again.
    pub async fn rollback(&self, to: api::To) -> Result<api::RolledBack, Error> {
        self.on(move |session| session.rollback(to)).await
    }
    /// Takes one event's effect out of the timeline.
    pub async fn undo(&self, event: u64) -> Result<api::Undone, Error> {
        self.on(move |session| session.undo(event)).await
    }
    /// Continues this session under a new name, from a cut on.
    pub async fn fork(&self, new: &str, at: api::At) -> Result<Self, Error> {
        let new = new.to_owned();
        self.on(move |session| session.fork(&new, at))
            .await
            .map(Self::from)
    }
    /// How full it is.
    pub async fn status(&self) -> Result<api::StatusReport, Error> {
        self.on(|session| session.status()).await
    }
    /// What is shown and why; what is not, and the way back.
    pub async fn explain(&self, at: api::At) -> Result<api::Explained, Error> {
        self.on(move |session| session.explain(at)).await
    }
    /// Compares two of its prompts.
    pub async fn diff(&self, a: api::Side, b: api::Side) -> Result<api::Differed, Error> {
        self.on(move |session| session.diff(a, b)).await
    }
    /// Its events, from a position on.
    pub async fn log(&self, from: u64, limit: u64) -> Result<api::LogPage, Error> {
        self.on(move |session| session.log(from, limit)).await
    }
    /// Checks it.
    pub async fn verify(&self) -> Result<api::Verified, Error> {
        self.on(|session| session.verify()).await
    }
    /// Writes it as an archive.
    pub async fn export(&self, ask: api::Export) -> Result<api::Exported, Error> {
        self.on(move |session| session.export(ask)).await
    }
}
