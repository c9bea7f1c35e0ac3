//! Torn or damaged: what a scan means.
//!
//! - A group is written only after the group before it was synced, and says up to where that reached. So bad bytes below that
//!   offset were once durable: damage. Bad bytes above it were never promised: a torn group, cut back to its start.
//! - Nothing sound below the synced offset is ever cut.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::scan::{Found, Item, Scan};
use crate::format::HEADER;
use crate::format::footer::{Hole, Parts};
use crate::format::head::{FrameKind, Head};
use crate::format::lost::Lost;
use crate::record::StreamId;

/// What a scanned segment holds, and where it ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Judged {
    pub(crate) parts: Parts,
    /// Where the next frame goes.
    pub(crate) end: u64,
    /// Up to where later groups say that it was durable.
    pub(crate) synced: u64,
    /// Bytes behind `end` that are no zeros: torn, or damaged at the tail.
    pub(crate) cut: u64,
    /// Streams that had records in what is cut, and the first seq of each.
    pub(crate) cut_streams: Vec<(StreamId, u64)>,
    /// Whether the last frame is a closing record.
    pub(crate) closed: bool,
    /// The highest group seen.
    pub(crate) group: u64,
    /// The last record in the segment.
    pub(crate) last: Option<(StreamId, u64)>,
}

/// Judges a scan; `synced` is an offset up to which the segment is known, from elsewhere, to have been durable.
pub(crate) fn judge(scan: &Scan, synced: u64) -> Judged {
    let synced = scan
        .items
        .iter()
        .filter_map(|item| item.found.head())
        .map(|head| head.base)
        .fold(synced, u64::max);
    let items = divided(&scan.items, synced);
    let end = valid_end(&items, synced);
    let kept = items.partition_point(|item| item.offset < end);
    let (kept, gone) = items.split_at_checked(kept).unwrap_or((&items, &[]));
    let mut judged = Judged {
        end,
        synced,
        ..Judged::default()
    };
    judged.cut = gone.last().map_or(0, |item| {
        item.offset.saturating_add(item.bytes).saturating_sub(end)
    });
    judged.cut_streams = cut_streams(gone);
    judged.group = scan
        .items
        .iter()
        .filter_map(|item| item.found.head())
        .map(|head| head.group)
        .max()
        .unwrap_or(0);
    sum_up(kept, scan, &mut judged);
    judged
}

/// The same items, with bytes that cannot be read divided where the synced ones end: those before are damage, those behind are torn.
fn divided(items: &[Item], synced: u64) -> Cow<'_, [Item]> {
    let straddles = |item: &Item| {
        item.found == Found::Junk
            && item.offset < synced
            && synced < item.offset.saturating_add(item.bytes)
    };
    let Some(at) = items.iter().position(straddles) else {
        return Cow::Borrowed(items);
    };
    let mut items = items.to_vec();
    if let Some(item) = items.get_mut(at) {
        let before = synced.saturating_sub(item.offset);
        let behind = Item {
            offset: synced,
            bytes: item.bytes.saturating_sub(before),
            found: Found::Junk,
        };
        item.bytes = before;
        items.insert(at.saturating_add(1), behind);
    }
    Cow::Owned(items)
}

fn valid_end(items: &[Item], synced: u64) -> u64 {
    let whole = items
        .last()
        .map_or(HEADER, |item| item.offset.saturating_add(item.bytes));
    let unsynced = items.partition_point(|item| item.offset < synced);
    let tail = items.get(unsynced..).unwrap_or_default();
    let bad = tail
        .iter()
        .position(|item| !matches!(item.found, Found::Sound(_)));
    let Some((sound, rest)) = bad.and_then(|bad| tail.split_at_checked(bad)) else {
        return whole_batches(tail, whole);
    };
    let Some(first) = rest.first() else {
        return whole;
    };
    // A head behind the bad bytes whose group began before them: that group is torn.
    let torn = rest
        .iter()
        .filter_map(|item| item.found.head())
        .map(|head| head.base)
        .find(|base| *base <= first.offset);
    match torn {
        Some(base) => base.max(HEADER),
        None => whole_batches(sound, first.offset),
    }
}

/// A batch that misses its end takes its group with it.
fn whole_batches(sound: &[Item], end: u64) -> u64 {
    match sound.last().and_then(|item| item.found.head()) {
        Some(head) if head.frame == FrameKind::Record && head.seq != head.batch.1 => {
            head.base.max(HEADER)
        }
        _ => end,
    }
}

fn cut_streams(gone: &[Item]) -> Vec<(StreamId, u64)> {
    let mut first = BTreeMap::new();
    for head in gone
        .iter()
        .filter_map(|item| item.found.head())
        .filter(|head| head.frame == FrameKind::Record)
    {
        first.entry(head.stream).or_insert(head.seq);
    }
    first.into_iter().collect()
}

fn sum_up(kept: &[Item], scan: &Scan, judged: &mut Judged) {
    let mut hole_before = false;
    for item in kept {
        match &item.found {
            Found::Sound(head) | Found::ContentBad(head) => {
                if let Some((stream, seq)) = head.before.filter(|_| hole_before) {
                    judged.parts.seen(stream, seq);
                }
                hole_before = false;
                sound(head, scan, judged);
            }
            Found::BodyBad(head) => {
                hole(item, judged);
                hole_before = true;
                if head.frame == FrameKind::Record {
                    judged.parts.lost(head);
                }
            }
            Found::Junk => {
                hole(item, judged);
                hole_before = true;
            }
        }
    }
}

fn sound(head: &Head, scan: &Scan, judged: &mut Judged) {
    judged.closed = head.frame == FrameKind::Closing;
    if head.frame == FrameKind::Lost {
        let here = |(other, _): &&(Head, Vec<u8>)| other.place == head.place;
        let body = scan.controls.iter().find(here);
        if let Some(lost) = body.and_then(|(_, body)| Lost::decode(body)) {
            judged.parts.gone(&lost, head.place.offset);
        }
    }
    if head.frame == FrameKind::Record {
        judged.parts.add(head);
        judged.last = Some((head.stream, head.seq));
    }
}

fn hole(item: &Item, judged: &mut Judged) {
    judged.closed = false;
    judged.parts.holes.push(Hole {
        offset: item.offset,
        bytes: item.bytes,
    });
}
