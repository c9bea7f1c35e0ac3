//! What was found, put into words.

use std::io;

use super::standing::{Row, Standing};
use super::{Findings, Opened};
use crate::format::block::END;
use crate::format::footer::Hole;
use crate::record::StreamId;
use crate::recovered::{Damage, State};
use crate::segment::judge::Judged;

impl Findings {
    /// Reports a table of blocks that had to be made again, unless what it lacks is reported as missing anyway.
    pub(super) fn table(
        &mut self,
        segment: &Opened,
        standing: Standing,
        length: u64,
        sealed: bool,
    ) {
        let known = segment.packed.as_ref().is_none_or(|packed| packed.whole());
        let ended = matches!(standing, Standing::Ended(end) if end <= length);
        if !known && (sealed || ended) {
            self.recovered.damaged.push(Damage {
                lost: None,
                segment: segment.number,
                offset: length,
                bytes: END,
            });
        }
    }

    /// Reports blocks that cannot be read where no frame was missed for it.
    pub(super) fn blocks(
        &mut self,
        segment: &Opened,
        limit: u64,
        judged: &Judged,
    ) -> io::Result<()> {
        let Some(packed) = &segment.packed else {
            return Ok(());
        };
        for lost in packed
            .lost()?
            .into_iter()
            .filter(|lost| lost.offset < limit)
        {
            let meets = |hole: &&Hole| {
                hole.offset < lost.offset.saturating_add(lost.bytes)
                    && lost.offset < hole.offset.saturating_add(hole.bytes)
            };
            if judged.parts.holes.iter().find(meets).is_none() {
                self.recovered.damaged.push(Damage {
                    lost: None,
                    segment: segment.number,
                    offset: lost.offset,
                    bytes: lost.bytes,
                });
            }
        }
        Ok(())
    }

    /// The last record of the directory is not named to the next one when its stream is forgotten.
    pub(super) fn forget_last(&mut self) {
        let there = |(stream, _): &(StreamId, u64)| {
            self.index.streams.contains_key(stream) || !self.index.forgotten.contains_key(stream)
        };
        self.last = self.last.filter(there);
    }

    pub(super) fn missing(&mut self, segments: &[Opened], row: &Row) {
        let numbers: Vec<u64> = segments.iter().map(|segment| segment.number).collect();
        for pair in numbers.windows(2) {
            if let [before, after] = pair
                && let Some(missing) = row.missing(*before, *after)
            {
                self.recovered.damaged.push(Damage {
                    lost: None,
                    segment: missing,
                    offset: 0,
                    bytes: 0,
                });
                self.recovered.state = self.recovered.state.max(State::Truncated);
                let nothing = Hole {
                    offset: 0,
                    bytes: 0,
                };
                self.index.holes.insert(missing, vec![nothing]);
            }
        }
    }

    pub(super) fn report(&mut self) {
        let mut streams: Vec<StreamId> = self.index.streams.keys().copied().collect();
        streams.sort_unstable();
        let mut owned = Vec::new();
        for id in streams {
            for gap in self.index.gaps(id) {
                owned.push((gap.segment, gap.offset));
                self.recovered.damaged.push(Damage {
                    lost: Some((id, gap.first, gap.last)),
                    segment: gap.segment,
                    offset: gap.offset,
                    bytes: gap.bytes,
                });
            }
        }
        for (segment, holes) in &self.index.holes {
            for hole in holes
                .iter()
                // One without bytes says where a lost frame stands; what it names is told of above.
                .filter(|hole| hole.bytes > 0 && !owned.contains(&(*segment, hole.offset)))
            {
                let damage = Damage {
                    lost: None,
                    segment: *segment,
                    offset: hole.offset,
                    bytes: hole.bytes,
                };
                self.recovered.damaged.push(damage);
            }
        }
        let torn = if self.recovered.cut.is_some() {
            State::Torn
        } else {
            State::Clean
        };
        let damaged = self.recovered.damaged.iter().map(Damage::state);
        let damaged = damaged.max().unwrap_or_default();
        self.index.doubled.sort_unstable();
        self.index.doubled.dedup();
        self.recovered.doubled.clone_from(&self.index.doubled);
        let damaged = if self.index.doubled.is_empty() {
            damaged
        } else {
            State::Damaged
        };
        self.recovered.state = self.recovered.state.max(torn).max(damaged);
    }
}
