//! Evidence that a stream once reached further than the segments say: lifted into the index, written down, told of.
//!
//! - From the moment it is known no lost position is given again, whether or not the disk takes the note.
//! - The note is on disk before any record is written behind the lost ones.

use super::Shared;
use crate::error::AppendError;
use crate::format::footer::Hole;
use crate::format::lost::LostTail;
use crate::index::{Index, Stream};
use crate::record::{Place, RecordDigest};
use crate::recovered::{Damage, KnownHead};
use crate::writer::Failure;

impl Shared {
    /// Holds streams against what is known of them from elsewhere; answers what the segments lost and nobody knew.
    pub(crate) fn hold_against(&self, known: &[KnownHead]) -> Result<Vec<Damage>, AppendError> {
        let mut desk = self.desk()?;
        // What waits in memory is not lost. Whatever cannot be written now belongs to streams that are left alone.
        while self.round(&mut desk)? {}
        let tails: Vec<LostTail> = {
            let mut index = self.index()?;
            let lift = |known: &KnownHead| lift(&mut index, known);
            known.iter().filter_map(lift).collect()
        };
        if tails.is_empty() {
            return Ok(Vec::new());
        }
        let end = desk.writer.position().unwrap_or_default();
        desk.writer.owe(tails.iter().copied());
        let noted = desk.writer.settle_debts().unwrap_or_else(|failure| {
            let (Failure::CutBack(error) | Failure::Uncertain(error)) = failure;
            tracing::warn!(%error, "what was lost could not be written down yet");
            None
        });
        let mut index = self.index()?;
        if let Some(Place { segment, offset }) = noted {
            let note = Hole { offset, bytes: 0 };
            index.holes.entry(segment).or_default().push(note);
        }
        let at = noted.unwrap_or(end);
        Ok(tails.iter().map(|tail| damage(&index, tail, at)).collect())
    }
}

/// The loss and its place, as every later look at the log finds it.
fn damage(index: &Index, tail: &LostTail, at: Place) -> Damage {
    let stream = index.streams.get(&tail.stream);
    let gap = stream.map(|stream| index.gap(stream, tail.first, tail.last));
    let (segment, offset, bytes) = gap.map_or((at.segment, at.offset, 0), |gap| {
        (gap.segment, gap.offset, gap.bytes)
    });
    Damage {
        lost: Some((tail.stream, tail.first, tail.last)),
        segment,
        offset,
        bytes,
    }
}

/// Moves a stream's head to where it is known to have been; none when it is there, or what was accepted stands in the way.
fn lift(index: &mut Index, known: &KnownHead) -> Option<LostTail> {
    // What was forgotten on purpose may still be known elsewhere: that is no loss.
    let gone = index.forgotten.get(&known.stream);
    if gone.is_some_and(|gone| known.last <= gone.last) || index.leaving.contains(&known.stream) {
        return None;
    }
    let gone = index.forgotten.get(&known.stream);
    if gone.is_some_and(|gone| known.last <= gone.last) {
        return None; // what is known of it is older than its being forgotten
    }
    let stream = index
        .streams
        .entry(known.stream)
        .or_insert_with(|| Stream::starting(known.begin.min(known.last)));
    let nothing = stream.stretches.is_empty() && stream.pending.is_empty();
    let fresh = stream.durable.is_none() && nothing;
    let ahead = fresh || (stream.pending.is_empty() && stream.head < known.last);
    if !ahead {
        return None;
    }
    let first = if fresh {
        stream.first
    } else {
        stream.head.saturating_add(1)
    };
    stream.head = known.last;
    stream.durable = Some(known.last);
    if known.digest != RecordDigest::ROOT {
        (stream.digest, stream.time) = (known.digest, known.time);
    }
    Some(LostTail {
        stream: known.stream,
        begin: stream.first,
        first,
        last: known.last,
        time: known.time,
        digest: known.digest,
    })
}
