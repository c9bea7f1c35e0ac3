//! The engine: one data directory, all its sessions.

use super::{Options, Session};
use crate::{Error, api};
use std::path::Path;
use std::sync::Arc;

/// One data directory, held by this process.
///
/// Clone is cheap and shares the directory. Send and Sync: sessions work concurrently, requests for one session queue up.
/// The directory is closed when the last clone and the last session are gone, or by [`Engine::close`].
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) options: Options,
}

fn pending<T>(what: &str) -> Result<T, Error> {
    Err(Error::invalid(format!("not built yet; method={what}")))
}

impl Engine {
    /// Opens a data directory, which is made when it is not there, and takes its lock.
    ///
    /// # Errors
    /// `locked` when another process holds it, `io` when the system refuses, `newer` when a newer version wrote it.
    pub fn open(dir: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        let _ = dir.as_ref();
        Ok(Self {
            inner: Arc::new(Inner { options }),
        })
    }

    /// Closes the directory: what is pending is written, and the lock is given back. Later calls answer `cancelled`.
    ///
    /// # Errors
    /// `io` when what is pending cannot be written.
    pub fn close(&self) -> Result<(), Error> {
        Ok(())
    }

    /// A handle to a session that is there.
    ///
    /// # Errors
    /// `not_found`, `invalid` for a name that cannot be one.
    pub fn session(&self, name: &str) -> Result<Session, Error> {
        self.open_session(&api::Open {
            session: name.to_owned(),
            ..Default::default()
        })?;
        Ok(Session::new(self.clone(), name))
    }

    /// A handle to a session, which is made when it is not there.
    ///
    /// # Errors
    /// `invalid` for a name or a profile that cannot be one.
    pub fn create(&self, name: &str, profile: Option<api::Spec>) -> Result<Session, Error> {
        self.open_session(&api::Open {
            session: name.to_owned(),
            profile,
            create: true,
            ..Default::default()
        })?;
        Ok(Session::new(self.clone(), name))
    }
}

/// Each operation takes its parameters and answers its result; the errors are those of [`crate::ErrorKind`].
#[expect(
    clippy::missing_errors_doc,
    reason = "all answer with the same kinds of error, documented on the type"
)]
impl Engine {
    /// What this engine is and can do.
    pub fn hello(&self) -> Result<api::Hello, Error> {
        pending("hello")
    }
    /// Opens, or with `create` makes, a session, and tells what was found.
    pub fn open_session(&self, _ask: &api::Open) -> Result<api::Opened, Error> {
        pending("open")
    }
    /// Appends events: all or none.
    pub fn append(&self, _ask: &api::Append) -> Result<api::Appended, Error> {
        pending("append")
    }
    /// Waits until a position is on disk.
    pub fn sync(&self, _ask: &api::Sync) -> Result<api::Synced, Error> {
        pending("sync")
    }
    /// The prompt at a cut. Changes nothing.
    pub fn project(&self, _ask: &api::Project) -> Result<api::Projected, Error> {
        pending("project")
    }
    /// The prompt to send: logs what it decides, answers when everything it depends on is on disk.
    pub fn prepare(&self, _ask: &api::Prepare) -> Result<api::Prepared, Error> {
        pending("prepare")
    }
    /// Closes the draft and every open call in one batch.
    pub fn interrupt(&self, _ask: &api::Interrupt) -> Result<api::Interrupted, Error> {
        pending("interrupt")
    }
    /// Names the head.
    pub fn checkpoint(&self, _ask: &api::Checkpoint) -> Result<api::Checkpointed, Error> {
        pending("checkpoint")
    }
    /// Makes the timeline that of an earlier position again.
    pub fn rollback(&self, _ask: &api::Rollback) -> Result<api::RolledBack, Error> {
        pending("rollback")
    }
    /// Takes one event's effect out of the timeline.
    pub fn undo(&self, _ask: &api::Undo) -> Result<api::Undone, Error> {
        pending("undo")
    }
    /// Continues a session under a new name.
    pub fn fork(&self, _ask: &api::Fork) -> Result<api::Forked, Error> {
        pending("fork")
    }
    /// How full a session is.
    pub fn status(&self, _ask: &api::Status) -> Result<api::StatusReport, Error> {
        pending("status")
    }
    /// What is shown, why, at what cost; what is not, what hid it, and the way back.
    pub fn explain(&self, _ask: &api::Explain) -> Result<api::Explained, Error> {
        pending("explain")
    }
    /// Compares two prompts of a session.
    pub fn diff(&self, _ask: &api::Diff) -> Result<api::Differed, Error> {
        pending("diff")
    }
    /// The events themselves.
    pub fn log(&self, _ask: &api::Log) -> Result<api::LogPage, Error> {
        pending("log")
    }
    /// Checks a session: chain, contents, every prompt digest that was recorded.
    pub fn verify_session(&self, _ask: &api::Verify) -> Result<api::Verified, Error> {
        pending("verify")
    }
    /// Checks the whole directory.
    pub fn verify(&self) -> Result<api::DirectoryVerified, Error> {
        pending("verify")
    }
    /// Writes a session as a lossless archive.
    pub fn export(&self, _ask: &api::Export) -> Result<api::Exported, Error> {
        pending("export")
    }
    /// Reads a foreign transcript or an archive.
    pub fn import(&self, _ask: &api::Import) -> Result<api::Imported, Error> {
        pending("import")
    }
    /// The same; `progress` hears of the work done and the whole, in events.
    pub fn import_with(
        &self,
        ask: &api::Import,
        _progress: &mut dyn FnMut(u64, u64),
    ) -> Result<api::Imported, Error> {
        self.import(ask)
    }
    /// The sessions, newest first.
    pub fn list(&self, _ask: &api::List) -> Result<api::Listed, Error> {
        pending("list")
    }
    /// The clock at the border.
    #[must_use]
    pub fn clock(&self) -> &super::Clock {
        &self.inner.options.clock
    }
}
