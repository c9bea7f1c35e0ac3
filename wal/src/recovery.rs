//! From segments to an index: what opening a log, or reading one, begins with.
//!
//! - Changes nothing on disk; what is to be cut is only named.
//! - Sealed segments are known by their footers, others by a scan.

mod prunings;
mod report;
mod standing;
mod stray;
mod survey;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use crate::error::OpenError;
use crate::format::control::{CutBody, Erasing};
use crate::format::footer::{Hole, Parts};
use crate::format::head::FrameKind;
use crate::format::{HEADER, Keys, segment_name};
use crate::index::Index;
use crate::record::{Place, StreamId};
use crate::recovered::{Cut, Damage, Recovered, State};
use crate::segment::judge::{Judged, judge};
use crate::segment::scan::{Scan, scan};
use crate::segment::source::Source;
use crate::segment::window::Window;
use crate::stats::Sizes;
use prunings::prunings;
use standing::{Row, Standing};
use stray::stray;
pub(crate) use survey::{Opened, Survey, stored_key, survey, written_key};

/// The last segment, when it can be written on.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) number: u64,
    pub(crate) end: u64,
    /// Up to where a later group shows that it is durable; 0 when not even its making is.
    pub(crate) synced: u64,
    /// The first record of each stream behind that.
    pub(crate) unsynced: BTreeMap<StreamId, u64>,
    pub(crate) parts: Parts,
    /// Whether the file is longer than what counts.
    pub(crate) longer: bool,
    /// Whether it is not written on: its header is lost, or segments behind it were begun and never finished, which only the
    /// opening of a new one can name.
    pub(crate) left: bool,
}

/// What the segments hold.
#[derive(Debug)]
pub(crate) struct Findings {
    pub(crate) keys: Keys,
    pub(crate) key_file_missing: bool,
    pub(crate) index: Index,
    pub(crate) recovered: Recovered,
    pub(crate) tail: Option<Tail>,
    /// The last segment, when it is sealed, and where its footer begins.
    pub(crate) sealed: Option<(u64, u64)>,
    /// Segments that count up to an offset, where that is not written down yet.
    pub(crate) unended: Vec<(u64, u64)>,
    pub(crate) next_number: u64,
    pub(crate) group: u64,
    pub(crate) last: Option<(StreamId, u64)>,
    pub(crate) erasing: Vec<Erasing>,
    /// Cuts that earlier recoveries wrote down.
    pub(crate) cuts: Vec<CutBody>,
    pub(crate) sizes: Sizes,
    /// Up to where segments count, as openings say.
    pub(crate) ends: BTreeMap<u64, u64>,
    /// Segments that still hold records of forgotten streams.
    pub(crate) unfinished: BTreeSet<u64>,
}

/// How closely segments are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Sealed segments are known by their footers.
    Footers,
    /// Every byte is read, up to where a writer is at work.
    Everything {
        /// The segment that is written on, and up to where it is synced.
        until: Option<Place>,
    },
}

impl Depth {
    fn until(self) -> Option<Place> {
        match self {
            Depth::Footers => None,
            Depth::Everything { until } => until,
        }
    }
}

/// Reads what the segments hold.
pub(crate) fn find(survey: Survey, key: [u8; 32], depth: Depth) -> Result<Findings, OpenError> {
    let Survey {
        segments,
        key_file_missing,
        ..
    } = survey;
    let keys = Keys::of(key);
    let viewed = |segment: Opened| {
        let name = segment_name(segment.number);
        segment.viewed(&keys).map_err(OpenError::io(name))
    };
    let mut segments: Vec<Opened> = segments.into_iter().map(viewed).collect::<Result<_, _>>()?;
    let prunings = prunings(&segments, &keys).map_err(OpenError::io("read openings"))?;
    if let Some(until) = depth.until() {
        // Nobody writes a segment under another one's name.
        segments.retain(|one| one.number <= until.segment || one.other.is_some());
    }
    let mut findings = Findings::empty(keys);
    findings.key_file_missing = key_file_missing;
    findings.recovered.key_restored = key_file_missing;
    findings.sizes.segments = segments.len() as u64;
    let row = Row::of(&segments, &findings.keys).map_err(OpenError::io("read openings"))?;
    findings.index.forgotten = row.forgotten(prunings);
    findings.ends = row.ends.clone();
    for segment in &segments {
        let until = depth
            .until()
            .filter(|until| until.segment == segment.number)
            .map(|until| until.offset);
        let standing = row.standing(segment.number, until);
        stray(segment, &segments, &findings.keys)
            .and_then(|found| match found {
                Some(what) => findings.stray(segment, what, standing != Standing::Unmade),
                None => findings.take(segment, standing, depth),
            })
            .map_err(OpenError::io(segment_name(segment.number)))?;
    }
    findings.missing(&segments, &row);
    let vanished = row.vanished(&segments).into_iter();
    findings.unended.extend(vanished.map(|number| (number, 0)));
    if let Some(tail) = &mut findings.tail {
        tail.left |= !findings.unended.is_empty();
    }
    findings.forget_last();
    let last = segments.last().map(|segment| segment.number);
    findings.next_number = last.map_or(0, |last| last.saturating_add(1));
    findings.report();
    Ok(findings)
}

impl Findings {
    fn empty(keys: Keys) -> Findings {
        Findings {
            keys,
            key_file_missing: false,
            index: Index::default(),
            recovered: Recovered {
                closed: true,
                ..Recovered::default()
            },
            tail: None,
            sealed: None,
            unended: Vec::new(),
            next_number: 0,
            group: 0,
            last: None,
            erasing: Vec::new(),
            cuts: Vec::new(),
            sizes: Sizes::default(),
            ends: BTreeMap::new(),
            unfinished: BTreeSet::new(),
        }
    }

    fn take(&mut self, segment: &Opened, standing: Standing, depth: Depth) -> io::Result<()> {
        let length = segment.file.len()?;
        self.sizes.bytes = self.sizes.bytes.saturating_add(length);
        self.sizes.stored = self.sizes.stored.saturating_add(segment.stored);
        self.sizes.compressed += u64::from(segment.packed.is_some());
        let keys = self.keys;
        let footer = match standing {
            Standing::Ended(_) => None,
            _ => segment.source(&keys).footer()?,
        };
        let made = footer.is_some() || matches!(standing, Standing::Ended(1..) | Standing::Cut);
        if made && length > HEADER {
            self.header(segment);
        }
        self.table(segment, standing, length, footer.is_some());
        let Some((at, parts)) = footer else {
            return self.scanned(segment, standing, depth, length, None);
        };
        if depth != Depth::Footers {
            return self.scanned(segment, Standing::Sealed, depth, length, Some(&parts));
        }
        self.sealed = (standing == Standing::Last).then_some((segment.number, at));
        let head = segment.source(&keys).head(at)?;
        self.group = self.group.max(head.map_or(0, |head| head.group));
        self.last = head.and_then(|head| head.before).or(self.last);
        self.recovered.closed = true;
        self.merge(segment.number, parts);
        Ok(())
    }

    fn scanned(
        &mut self,
        segment: &Opened,
        standing: Standing,
        depth: Depth,
        length: u64,
        footer: Option<&Parts>,
    ) -> io::Result<()> {
        let keys = self.keys;
        let (limit, synced) = match standing {
            Standing::Ended(end) => (end, u64::MAX),
            Standing::Sealed | Standing::Cut => (u64::MAX, u64::MAX),
            Standing::Last | Standing::Unmade => (u64::MAX, 0),
        };
        let window = Window::new(Arc::clone(&segment.file))?;
        let scan = scan(
            Source {
                file: &window,
                segment: segment.number,
                keys: &keys,
            },
            limit,
        )?;
        let mut judged = judge(&scan, synced);
        for (stream, part) in footer.iter().flat_map(|footer| &footer.streams) {
            judged.parts.seen(*stream, part.head);
        }
        self.controls(&scan, judged.end);
        let short = matches!(standing, Standing::Ended(end) if end > length);
        if short || standing == Standing::Cut {
            let at = Damage {
                lost: None,
                segment: segment.number,
                offset: length,
                bytes: 0,
            };
            self.recovered.damaged.push(at);
            self.recovered.state = self.recovered.state.max(State::Truncated);
            // Without bytes: whoever asks where its records went is shown the end that is missing.
            let (offset, bytes) = (length, 0);
            judged.parts.holes.push(Hole { offset, bytes });
        }
        self.group = self.group.max(judged.group);
        self.last = judged.last.or(self.last);
        self.recovered.closed = judged.closed || standing == Standing::Sealed;
        if matches!(standing, Standing::Last | Standing::Unmade) {
            // Without a later group the making itself may not have been synced: then it is no more than torn.
            if judged.synced > HEADER {
                self.header(segment);
            }
            self.tail(segment, &judged, length);
        }
        if depth != Depth::Footers {
            self.blocks(segment, limit, &judged)?;
        }
        self.merge(segment.number, judged.parts);
        Ok(())
    }

    fn merge(&mut self, segment: u64, parts: Parts) {
        if self.index.holds_forgotten(segment, &parts) {
            self.unfinished.insert(segment);
        }
        self.index.merge(segment, parts);
    }

    /// Reports a header that cannot be read although it was durable.
    fn header(&mut self, segment: &Opened) {
        if segment.header.is_none() {
            self.recovered.damaged.push(Damage {
                lost: None,
                segment: segment.number,
                offset: 0,
                bytes: HEADER,
            });
        }
    }

    fn controls(&mut self, scan: &Scan, end: u64) {
        for (head, body) in scan
            .controls
            .iter()
            .filter(|(head, _)| head.place.offset < end)
        {
            match head.frame {
                FrameKind::Erasing => self.erasing.extend(Erasing::decode(body)),
                FrameKind::Cut => self.cuts.extend(CutBody::decode(body)),
                _ => {}
            }
        }
    }

    fn tail(&mut self, segment: &Opened, judged: &Judged, length: u64) {
        let empty = judged.end <= HEADER;
        if judged.cut > 0 || (empty && length > 0 && segment.header.is_none()) {
            let after = judged
                .cut_streams
                .iter()
                .map(|(stream, first)| (*stream, self.kept_before(*stream, *first)));
            let bytes = if judged.cut > 0 { judged.cut } else { length };
            let offset = judged.end.min(length);
            // What is cut in the last segment that was made tells more than an unmade one behind it.
            self.recovered.cut.get_or_insert(Cut {
                segment: segment.number,
                offset,
                bytes,
                after: after.collect(),
            });
        }
        if empty {
            self.unended.push((segment.number, 0));
            return;
        }
        let synced = if judged.synced > HEADER {
            judged.synced.min(judged.end)
        } else {
            0
        };
        self.tail = Some(Tail {
            number: segment.number,
            end: judged.end,
            synced,
            unsynced: judged.parts.first_behind(synced),
            parts: judged.parts.clone(),
            longer: length > judged.end,
            left: segment.header.is_none(),
        });
    }

    fn kept_before(&self, stream: StreamId, first: u64) -> Option<u64> {
        let kept = self.index.streams.get(&stream).map(|stream| stream.head);
        first.checked_sub(1).or(kept)
    }
}
