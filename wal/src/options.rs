//! How a log is opened: sizes, and what happens behind it.

/// How a log is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// A segment that would grow beyond this many bytes is sealed first; 64 MiB by default.
    pub segment_size: u64,
    /// So many zeros are written behind the last record when a segment grows, to make syncs cheaper; 128 KiB by default.
    pub ahead: u64,
    /// Accepted and not yet durable records take at most about this many bytes of frames; 64 MiB by default.
    pub backlog: u64,
    /// Sealed segments are compressed in the background; on by default.
    pub compress: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            segment_size: 64 << 20,
            ahead: 128 << 10,
            backlog: 64 << 20,
            compress: true,
        }
    }
}

impl Options {
    /// Sets the size at which segments are sealed, in bytes.
    #[must_use]
    pub fn segment_size(self, bytes: u64) -> Options {
        Options {
            segment_size: bytes,
            ..self
        }
    }

    /// Sets how many zeros are written ahead, in bytes; 0 for none.
    #[must_use]
    pub fn ahead(self, bytes: u64) -> Options {
        Options {
            ahead: bytes,
            ..self
        }
    }

    /// Sets the limit of the backlog, in bytes.
    #[must_use]
    pub fn backlog(self, bytes: u64) -> Options {
        Options {
            backlog: bytes,
            ..self
        }
    }

    /// Sets whether sealed segments are compressed in the background.
    #[must_use]
    pub fn compress(self, on: bool) -> Options {
        Options {
            compress: on,
            ..self
        }
    }
}
