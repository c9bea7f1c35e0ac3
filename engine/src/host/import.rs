//! Foreign transcripts in.

use super::engine::Engine;
use crate::{Error, api};

impl Engine {
    /// Reads a foreign transcript or an archive.
    ///
    /// # Errors
    /// `not_found`, `io`.
    pub fn import(&self, ask: &api::Import) -> Result<api::Imported, Error> {
        self.import_with(ask, &mut |_, _| {})
    }

    /// The same; `progress` hears of the work done and the whole, in events.
    ///
    /// # Errors
    /// As [`Engine::import`].
    pub fn import_with(
        &self,
        _ask: &api::Import,
        _progress: &mut dyn FnMut(u64, u64),
    ) -> Result<api::Imported, Error> {
        Err(Error::invalid("not built yet"))
    }
}
