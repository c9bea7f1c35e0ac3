//! Why a transcript was not read at all.

use crate::FormatName;

/// Nothing was read. Damage inside a transcript is no reason: it is reported, and the rest is read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Name the format.
    #[error("the format was not recognised")]
    Unrecognised,
    /// The bytes are of another format than the one named.
    #[error("not a transcript of this format format={format}")]
    NotThis {
        /// The format that was asked for.
        format: FormatName,
    },
    /// A document that is read as a whole is no text.
    #[error("not utf-8")]
    NotUtf8,
    /// An archive: its events are logged already. Read it with [`crate::archive::read`].
    #[error("an archive of logged events is read in its own way")]
    Archive,
    /// An archive of a later version. Upgrade.
    #[error("the archive was written by a newer version version={version}")]
    Newer {
        /// The archive's version.
        version: u64,
    },
}
