//! What was found, put into words.

use super::standing::Row;
use super::{Findings, Opened};
use crate::record::StreamId;
use crate::recovered::{Damage, State};

impl Findings {
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
        self.recovered.state = self.recovered.state.max(torn).max(damaged);
    }
}
