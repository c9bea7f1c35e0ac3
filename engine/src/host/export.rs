//! Archives out.

use super::engine::Engine;
use crate::{Error, api};

impl Engine {
    /// Writes a session as a lossless archive.
    ///
    /// # Errors
    /// `not_found`, `io`.
    pub fn export(&self, _ask: &api::Export) -> Result<api::Exported, Error> {
        Err(Error::invalid("not built yet"))
    }
}
