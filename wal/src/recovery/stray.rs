//! Files under the name of a segment that are another one: a header that holds says so, and no frame in them is of the name's segment.
//!
//! - No crash leaves one: somebody renamed or copied files. Nothing in it counts, and it is damage, never a torn end.
//! - One whose own segment is there as well is a copy: it may be taken away, and is written down as holding nothing.

use std::io;

use super::{Findings, Opened};
use crate::format::footer::Hole;
use crate::format::{HEADER, Keys};

/// What a segment's file is, if it is not that segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stray {
    /// Another segment of this directory, which is there under its own name too.
    Copy,
    /// A segment that is nowhere else, or of another directory.
    Misplaced,
}

/// Whether a file is another segment than its name says.
pub(super) fn stray(
    segment: &Opened,
    segments: &[Opened],
    keys: &Keys,
) -> io::Result<Option<Stray>> {
    let Some(other) = segment.other else {
        return Ok(None);
    };
    // Frames of its own speak louder than a header that was written over.
    if segment.packed.is_some() || segment.source(keys).head(HEADER)?.is_some() {
        return Ok(None);
    }
    let twin = |one: &&Opened| one.number == other.segment && one.header.is_some();
    let copied = other.key == keys.directory && segments.iter().any(|one| twin(&one));
    Ok(Some(if copied {
        Stray::Copy
    } else {
        Stray::Misplaced
    }))
}

impl Findings {
    /// All its bytes are damage.
    pub(super) fn stray(&mut self, segment: &Opened, what: Stray, made: bool) -> io::Result<()> {
        let bytes = segment.file.len()?;
        self.sizes.bytes = self.sizes.bytes.saturating_add(bytes);
        self.sizes.stored = self.sizes.stored.saturating_add(segment.stored);
        let hole = Hole { offset: 0, bytes };
        self.index.holes.insert(segment.number, vec![hole]);
        if what == Stray::Copy && !made {
            self.unended.push((segment.number, 0));
        }
        Ok(())
    }
}
