//! Erasing contents in place.
//!
//! - What is to be erased is written down, durably, before the first byte of it is overwritten; a crash in between is made good at the next open.
//! - That note is a later group than what it erases, so half-erased bytes can never be taken for a torn group.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use crate::commit::Shared;
use crate::disk::{Access, Disk};
use crate::error::AppendError;
use crate::format::control::{Doomed, Erasing};
use crate::format::frame::{Frame, Owner};
use crate::format::head::FrameKind;
use crate::format::{Keys, segment_name};
use crate::record::{ContentPlace, Place, Stored};
use crate::segment::source::Source;
use crate::verify::ContentAt;
use crate::writer::Failure;

/// Erases contents; answers how many were there to be erased. What is erased already, lost, or was never there is passed over.
pub(crate) fn erase(shared: &Shared, targets: &[ContentAt]) -> Result<u64, AppendError> {
    if !shared.drain()? {
        return Err(AppendError::NotDurable {
            since: targets.first().map_or(0, |target| target.seq),
        });
    }
    let refused = |error: io::Error| AppendError::Io {
        cause: error.to_string(),
    };
    let mut doomed = Vec::new();
    for target in targets {
        doomed.extend(find(shared, target).map_err(refused)?);
    }
    if doomed.is_empty() {
        return Ok(0);
    }
    let erasing = Erasing { doomed };
    let mut desk = shared.desk()?;
    desk.writer
        .control(FrameKind::Erasing, &erasing.encode())
        .map_err(|failure| match failure {
            Failure::CutBack(error) => AppendError::Io {
                cause: error.to_string(),
            },
            Failure::Uncertain(error) => AppendError::Unknown {
                cause: error.to_string(),
            },
        })?;
    let done = overwrite(&shared.disk, &shared.keys, &erasing);
    done.map_err(|error| AppendError::Unknown {
        cause: error.to_string(),
    })?;
    Ok(erasing.doomed.len() as u64)
}

fn find(shared: &Shared, target: &ContentAt) -> io::Result<Option<Doomed>> {
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
    // What is lost is overwritten too: some of its bytes may still be there.
    let there = source.content(owner(target), *at)? != Stored::Erased;
    Ok(there.then_some(Doomed {
        stream: target.stream,
        seq: target.seq,
        index: target.index,
        length: at.length,
        segment: at.place.segment,
        offset: at.place.offset,
    }))
}

fn owner(target: &ContentAt) -> Owner {
    Owner {
        stream: target.stream,
        seq: target.seq,
        index: target.index,
    }
}

/// Overwrites what an erasing frame lists, and syncs; what is erased already is left alone.
pub(crate) fn overwrite(disk: &Arc<dyn Disk>, keys: &Keys, erasing: &Erasing) -> io::Result<()> {
    let mut segments: BTreeMap<u64, Vec<&Doomed>> = BTreeMap::new();
    for doomed in &erasing.doomed {
        segments.entry(doomed.segment).or_default().push(doomed);
    }
    for (segment, doomed) in segments {
        let file = disk.open(&segment_name(segment), Access::Write)?;
        let length = file.len()?;
        let source = Source {
            file: file.as_ref(),
            segment,
            keys,
        };
        for one in doomed {
            let owner = Owner {
                stream: one.stream,
                seq: one.seq,
                index: one.index,
            };
            let at = ContentPlace {
                place: Place {
                    segment,
                    offset: one.offset,
                },
                length: one.length,
            };
            if source.content(owner, at)? != Stored::Erased {
                // A file that was cut short is not made longer: what it no longer holds would otherwise look whole again.
                let erased = owner.erased(keys, one.length as usize);
                let left = usize::try_from(length.saturating_sub(one.offset)).unwrap_or(usize::MAX);
                let there = erased.get(..left.min(erased.len())).unwrap_or_default();
                if !there.is_empty() {
                    file.write_at(there, one.offset)?;
                }
            }
        }
        file.sync_data()?;
    }
    Ok(())
}
