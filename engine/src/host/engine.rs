//! The engine: one data directory, all its sessions.

use super::{Options, Session, directory::Directory};
use crate::{Error, api};
use std::path::Path;
use std::sync::Arc;

/// One data directory, held by this process.
///
/// Clone is cheap and shares the directory. Send and Sync: sessions work concurrently, requests for one session queue up.
/// The directory is closed when the last clone and the last session are gone, or by [`Engine::close`].
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<Directory>,
}

impl Engine {
    /// Opens a data directory, which is made when it is not there, and takes its lock.
    ///
    /// # Errors
    /// `locked` when another process holds it, `io` when the system refuses, `newer` when a newer version wrote it.
    pub fn open(dir: impl AsRef<Path>, options: Options) -> Result<Self, Error> {
        let inner = Directory::open(dir.as_ref(), options)?;
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Closes the directory: what is pending is written, and the lock is given back, unless another thread is in the middle of a
    /// request; then it is given back when that ends. Later calls answer `cancelled`.
    ///
    /// # Errors
    /// `not_durable` when what is pending cannot be written and is gone; `busy` when all of it is written and a request that is
    /// under way still holds the lock; `io` when only the end of the log cannot be marked.
    pub fn close(&self) -> Result<(), Error> {
        self.inner.close()
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

    /// The clock at the border.
    #[must_use]
    pub fn clock(&self) -> &super::Clock {
        &self.inner.options.clock
    }

    /// Whether the directory can only be read, because nothing can be written there: writing answers `io`.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.inner.log().is_ok_and(|log| log.is_read_only())
    }

    /// The data directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.inner.path
    }
}
