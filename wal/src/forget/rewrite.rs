//! Writing a segment again without the streams that are forgotten.
//!
//! - Where a record of theirs stood there is a void frame of the same length, so everything else keeps its place and its bytes.
//! - The new footer does not name them.
//! - Damaged stretches stay as they are, unless they were given up as well.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use crate::commit::Shared;
use crate::compress::overlay::{Overlay, Patch};
use crate::compress::pack::GoOn;
use crate::compress::packed::LOST;
use crate::format::footer::{Parts, trailer};
use crate::format::frame::{encode, void};
use crate::format::head::{FrameKind, Head};
use crate::format::{ALIGN, DIGEST, HEAD, Keys};
use crate::record::StreamId;
use crate::segment::scan::{Found, Item, scan};
use crate::segment::source::Source;
use crate::segment::view::{View, open};
use crate::segment::window::Window;

/// A segment from front to back.
pub(super) struct Scanned {
    view: View,
    pub(super) items: Vec<Item>,
    /// Where what counts of it ends.
    pub(super) length: u64,
    pub(super) sealed: bool,
    footer: Option<(u64, Parts)>,
}

/// Reads a segment that counts up to `end`, or is sealed.
pub(super) fn scanned(shared: &Shared, number: u64, end: Option<u64>) -> io::Result<Scanned> {
    let view = open(shared.disk.as_ref(), &shared.keys, number)?;
    let window = Window::new(Arc::clone(&view.file))?;
    let source = Source {
        file: &window,
        segment: number,
        keys: &shared.keys,
    };
    let footer = match end {
        Some(_) => None,
        None => source.footer()?,
    };
    let scan = scan(source, end.unwrap_or(u64::MAX))?;
    Ok(Scanned {
        view,
        items: scan.items,
        length: scan.length,
        sealed: footer.is_some(),
        footer,
    })
}

/// Takes what is forgotten out of a segment that is not written any more. The gate must be held.
pub(crate) fn rewrite(shared: &Shared, number: u64, go_on: GoOn<'_>) -> io::Result<()> {
    let gone = Forgotten::below(shared, number);
    let end = shared.ended().get(&number).copied();
    let Scanned {
        view,
        items,
        length,
        footer,
        ..
    } = scanned(shared, number, end)?;
    let mut whole = Overlay::new(Arc::clone(&view.file), length);
    let mut voided = Vec::new();
    for item in &items {
        if let Some(patch) = gone.patch(item, &shared.keys) {
            if item.found != Found::Junk {
                voided.push(item.offset..item.offset.saturating_add(item.bytes));
            }
            whole.patch(item.offset, patch);
        }
    }
    if let Some((at, mut parts)) = footer {
        parts.streams.retain(|id, _| !gone.is(*id));
        let mended = |offset: &u64| voided.iter().any(|range| range.contains(offset));
        parts.holes.retain(|hole| !mended(&hole.offset));
        let source = Source {
            file: view.file.as_ref(),
            segment: number,
            keys: &shared.keys,
        };
        let head = source.head(at)?.ok_or(io::ErrorKind::InvalidData)?;
        whole.end_with(at, gone.footer(head, &parts, &shared.keys));
    }
    shared.replace(&view, number, &whole, go_on)?;
    Ok(())
}

/// The streams that are forgotten below a segment's successor.
struct Forgotten {
    streams: HashSet<StreamId>,
    /// Whether bytes that nobody can read are given up with one of them.
    damage: bool,
}

impl Forgotten {
    fn below(shared: &Shared, number: u64) -> Forgotten {
        let index = shared.look();
        let mut streams = HashSet::new();
        let mut damage = false;
        for (stream, gone) in &index.forgotten {
            if number < gone.below {
                streams.insert(*stream);
                damage |= gone.damage;
            }
        }
        Forgotten { streams, damage }
    }

    fn is(&self, stream: StreamId) -> bool {
        self.streams.contains(&stream)
    }

    /// What takes an item's place; none when it stays.
    fn patch(&self, item: &Item, keys: &Keys) -> Option<Patch> {
        match &item.found {
            Found::Sound(head) | Found::ContentBad(head) | Found::BodyBad(head)
                if head.frame == FrameKind::Record && self.is(head.stream) =>
            {
                let frame =
                    item.bytes >= (HEAD + DIGEST) as u64 && item.bytes.is_multiple_of(ALIGN);
                Some(if frame {
                    Patch {
                        bytes: void(head, item.bytes, keys),
                        length: item.bytes,
                        fill: 0,
                    }
                } else {
                    given_up(item)
                })
            }
            Found::Junk if self.damage => Some(given_up(item)),
            _ => None,
        }
    }

    /// The footer that says what is left.
    fn footer(&self, head: Head, parts: &Parts, keys: &Keys) -> Vec<u8> {
        let offset = head.place.offset;
        let head = Head {
            before: head.before.filter(|(stream, _)| !self.is(*stream)),
            ..head
        };
        let mut bytes = Vec::new();
        encode(head, &parts.encode(), &[], keys, &mut bytes);
        bytes.extend(trailer(offset, keys));
        bytes
    }
}

/// Bytes that are no frame, and not zeros: it stays to be seen that something was there.
fn given_up(item: &Item) -> Patch {
    Patch {
        bytes: Vec::new(),
        length: item.bytes,
        fill: LOST,
    }
}
