//! Erasing contents: overwritten where they stand, or by writing their segment again when it is compressed.
//!
//! - What is to be erased is written down, durably, before the first byte of it is overwritten; a crash in between is made good at the next open.
//! - That note is a later group than what it erases, so half-erased bytes can never be taken for a torn group.
//! - A compressed segment is written beside the old one before the note, and takes its name after it: the writer is not held up by it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use crate::commit::Shared;
use crate::compress::overlay::{Overlay, Patch};
use crate::compress::pack::{discard, pack};
use crate::disk::Access;
use crate::error::AppendError;
use crate::format::control::{Doomed, Erasing};
use crate::format::frame::{Frame, Owner};
use crate::format::head::FrameKind;
use crate::format::segment_name;
use crate::record::{ContentPlace, Place, Stored, StreamId};
use crate::segment::source::Source;
use crate::segment::view::{View, open};
use crate::verify::ContentAt;
use crate::writer::Failure;

/// Erases contents; answers how many were there to be erased. What is erased already, lost, or was never there is passed over.
pub(crate) fn erase(shared: &Shared, targets: &[ContentAt]) -> Result<u64, AppendError> {
    if !shared.drain()? {
        return Err(targets
            .first()
            .map_or(AppendError::NotDurable { since: 0 }, |target| {
                shared.since(target.stream, target.seq)
            }));
    }
    // Nobody writes a segment again meanwhile.
    let mut gate = shared.upkeep.gate();
    let refused = |error: io::Error| AppendError::Io {
        cause: error.to_string(),
    };
    let mut doomed = Vec::new();
    for target in targets {
        doomed.extend(find(shared, &gate.unsure, target).map_err(refused)?);
    }
    if doomed.is_empty() {
        return Ok(0);
    }
    let erasing = Erasing { doomed };
    let staged = stage(shared, &erasing, &gate.unsure).map_err(refused)?;
    let mut desk = shared.desk()?;
    let noted = desk
        .writer
        .control(FrameKind::Erasing, &erasing.encode())
        .map_err(|failure| match failure {
            Failure::CutBack(error) => AppendError::Io {
                cause: error.to_string(),
            },
            Failure::Uncertain(error) => AppendError::Unknown {
                cause: error.to_string(),
            },
        });
    if let Err(error) = noted {
        staged.discard(shared);
        return Err(error);
    }
    let done = staged.carry_out(shared);
    for doomed in &erasing.doomed {
        match &done {
            Ok(()) => gate.unsure.remove(&name(doomed)),
            Err(_) => gate.unsure.insert(name(doomed)),
        };
    }
    done.map_err(|error| AppendError::Unknown {
        cause: error.to_string(),
    })?;
    Ok(erasing.doomed.len() as u64)
}

/// Whose content it is, and which.
pub(crate) type Named = (StreamId, u64, u32);

fn name(doomed: &Doomed) -> Named {
    (doomed.stream, doomed.seq, doomed.index)
}

/// Makes an erasure good that was interrupted, in each segment where that is possible.
pub(crate) fn finish(shared: &Shared, erasing: &Erasing) -> io::Result<()> {
    let _gate = shared.upkeep.gate();
    let mut outcome = Ok(());
    for (number, mut doomed) in by_segment(erasing) {
        // Nothing is left to erase where a void frame stands.
        doomed.retain(|one| !shared.look().is_gone(one.stream, number));
        let staged = task(shared, number, &doomed, &Again::Plain);
        if let Err(error) = staged.and_then(|task| task.carry_out(shared)) {
            outcome = Err(error);
        }
    }
    outcome
}

/// What is overwritten although it reads as erased: that may be so in memory only.
enum Again<'a> {
    /// Everything, in a segment that is not compressed; a compressed one took its name when it was written.
    Plain,
    /// What an earlier erasure overwrote, if it did not learn that it was durable.
    Unsure(&'a BTreeSet<Named>),
}

fn find(
    shared: &Shared,
    unsure: &BTreeSet<Named>,
    target: &ContentAt,
) -> io::Result<Option<Doomed>> {
    let place = shared
        .look()
        .streams
        .get(&target.stream)
        .and_then(|stream| stream.place(target.seq));
    let Some(place) = place else { return Ok(None) };
    let file = shared.handles.get(place.segment)?;
    let source = Source {
        file: file.as_ref(),
        segment: place.segment,
        keys: &shared.keys,
    };
    let Some(Frame { contents, .. }) = source.frame(place.offset)? else {
        return Ok(None);
    };
    let Some(at) = contents.get(target.index as usize) else {
        return Ok(None);
    };
    let owner = Owner {
        stream: target.stream,
        seq: target.seq,
        index: target.index,
    };
    // What is lost is overwritten too: some of its bytes may still be there.
    let there = source.content(owner, *at)? != Stored::Erased;
    let unsure = unsure.contains(&(target.stream, target.seq, target.index));
    Ok((there || unsure).then_some(Doomed {
        stream: target.stream,
        seq: target.seq,
        index: target.index,
        length: at.length,
        segment: at.place.segment,
        offset: at.place.offset,
    }))
}

/// What is going to be done to one segment.
#[derive(Debug)]
struct Task {
    number: u64,
    view: View,
    /// What is written where.
    blocks: Vec<(u64, Vec<u8>)>,
    /// Bytes on disk of the compressed segment that was written beside the old one.
    written: Option<u64>,
}

/// An erasure up to its note.
#[derive(Debug)]
struct Staged(Vec<Task>);

/// Finds what is not erased yet, and writes compressed segments again beside themselves.
fn stage(shared: &Shared, erasing: &Erasing, unsure: &BTreeSet<Named>) -> io::Result<Staged> {
    let mut staged = Staged(Vec::new());
    for (number, doomed) in by_segment(erasing) {
        match task(shared, number, &doomed, &Again::Unsure(unsure)) {
            Ok(task) => staged.0.push(task),
            Err(error) => {
                staged.discard(shared);
                return Err(error);
            }
        }
    }
    Ok(staged)
}

fn by_segment(erasing: &Erasing) -> BTreeMap<u64, Vec<&Doomed>> {
    let mut segments: BTreeMap<u64, Vec<&Doomed>> = BTreeMap::new();
    for doomed in &erasing.doomed {
        segments.entry(doomed.segment).or_default().push(doomed);
    }
    segments
}

/// What is to be done to a segment; a compressed one is written again beside itself already.
fn task(shared: &Shared, number: u64, doomed: &[&Doomed], again: &Again<'_>) -> io::Result<Task> {
    let view = open(shared.disk.as_ref(), &shared.keys, number)?;
    let length = view.file.len()?;
    let source = Source {
        file: view.file.as_ref(),
        segment: number,
        keys: &shared.keys,
    };
    let mut blocks = Vec::new();
    for one in doomed {
        let owner = Owner {
            stream: one.stream,
            seq: one.seq,
            index: one.index,
        };
        let at = ContentPlace {
            place: Place {
                segment: number,
                offset: one.offset,
            },
            length: one.length,
        };
        let again = match again {
            Again::Plain => view.packed.is_none(),
            Again::Unsure(unsure) => unsure.contains(&name(one)),
        };
        if again || source.content(owner, at)? != Stored::Erased {
            // A file that was cut short is not made longer: what it no longer holds would otherwise look whole again.
            let mut erased = owner.erased(&shared.keys, one.length as usize);
            erased
                .truncate(usize::try_from(length.saturating_sub(one.offset)).unwrap_or(usize::MAX));
            if !erased.is_empty() {
                blocks.push((one.offset, erased));
            }
        }
    }
    let mut task = Task {
        number,
        view,
        blocks,
        written: None,
    };
    task.write_beside(shared)?;
    Ok(task)
}

impl Task {
    fn write_beside(&mut self, shared: &Shared) -> io::Result<()> {
        if self.view.packed.is_none() || self.blocks.is_empty() {
            return Ok(());
        }
        let mut whole = Overlay::new(self.view.file.clone(), self.view.file.len()?);
        for (offset, bytes) in self.blocks.drain(..) {
            let length = bytes.len() as u64;
            whole.patch(
                offset,
                Patch {
                    bytes,
                    length,
                    fill: 0,
                },
            );
        }
        let disk = shared.disk.as_ref();
        let written = pack(disk, &shared.keys, self.number, &whole, &|| true)?;
        self.written = Some(written);
        Ok(())
    }

    fn carry_out(&self, shared: &Shared) -> io::Result<()> {
        if let Some(written) = self.written {
            return shared.publish(&self.view, self.number, self.view.file.len()?, written);
        }
        if self.view.packed.is_some() {
            return Ok(());
        }
        let name = segment_name(self.number);
        let file = shared.disk.open(&name, Access::Write)?;
        for (offset, bytes) in &self.blocks {
            file.write_at(bytes, *offset)?;
        }
        file.sync_data()
    }
}

impl Staged {
    fn carry_out(&self, shared: &Shared) -> io::Result<()> {
        self.0.iter().try_for_each(|task| task.carry_out(shared))
    }

    fn discard(&self, shared: &Shared) {
        let written = self.0.iter().filter(|task| task.written.is_some());
        written.for_each(|task| discard(shared.disk.as_ref(), task.number));
    }
}
