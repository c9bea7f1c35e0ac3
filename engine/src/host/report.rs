//! What recovery found, in the words of the protocol.

use super::directory::Directory;
use super::stream::{Part, parts};
use crate::{Error, api};
use recount_wal::{Damage, Recovered, State, StreamId, Wal};

pub(crate) fn state(state: State) -> api::State {
    match state {
        State::Clean => api::State::Clean,
        State::Torn => api::State::Torn,
        State::Truncated => api::State::Truncated,
        State::Damaged => api::State::Damaged,
    }
}

/// A stretch of damage in words, the state first; the same wherever it is told.
pub(crate) fn words(damage: &Damage) -> &'static str {
    match (damage.offset, damage.bytes) {
        (0, 0) => "truncated: a segment is missing",
        (_, 0) => "truncated: what was once durable is missing at the end",
        _ => "damaged: bytes that were once durable cannot be read",
    }
}

/// Positions whose bytes cannot be read are damaged; those that are not there at all were cut off.
pub(crate) fn of_damage(damaged: &api::Damaged) -> api::State {
    if damaged.bytes == 0 {
        api::State::Truncated
    } else {
        api::State::Damaged
    }
}

/// Damage that took positions of a session: its own, and those that it inherits. `parts`: which streams hold which positions.
pub(super) fn damaged(found: &[Damage], parts: &[Part]) -> Vec<api::Damaged> {
    let of = |(stream, from, to): &Part| {
        let (stream, from, to) = (*stream, *from, *to);
        let there = found.iter().filter_map(move |damage| {
            let (owner, first, last) = damage.lost?;
            let met = owner == stream && first <= to && from <= last;
            met.then_some(api::Damaged {
                first: first.max(from),
                last: last.min(to),
                segment: damage.segment,
                offset: damage.offset,
                bytes: damage.bytes,
            })
        });
        there.collect::<Vec<_>>()
    };
    parts.iter().flat_map(of).collect()
}

/// Adds what is not told of yet.
pub(super) fn add(known: &mut Vec<api::Damaged>, damage: &api::Damaged) {
    let covers = |one: &api::Damaged| one.first <= damage.first && damage.last <= one.last;
    if !known.iter().any(covers) {
        known.push(damage.clone());
    }
}

/// The part of a directory's recovery that is about one session. `parts`: which streams hold its positions.
fn part(whole: &Recovered, stream: StreamId, parts: &[Part]) -> api::Recovered {
    let damaged = damaged(&whole.damaged, parts);
    let cut = whole.cut.as_ref().and_then(|cut| {
        let (_, after) = cut.after.iter().find(|(owner, _)| *owner == stream)?;
        Some(api::Cut {
            bytes: cut.bytes,
            after: *after,
        })
    });
    let state = if let Some(worst) = damaged.iter().map(of_damage).max() {
        worst
    } else if cut.is_some() {
        state(whole.state.min(State::Truncated)).max(api::State::Torn)
    } else {
        api::State::Clean
    };
    api::Recovered {
        state,
        cut,
        damaged,
        rebuilt: whole.rebuilt.clone(),
        no_evidence: whole.no_evidence.clone(),
        skipped: Vec::new(),
    }
}

impl Directory {
    /// What opening the directory found of a session, what it inherits included.
    pub(super) fn recovered(&self, log: &Wal, stream: StreamId) -> Result<api::Recovered, Error> {
        let parts = if self.recovered.damaged.is_empty() {
            Vec::new()
        } else {
            parts(self, log, stream, 0, u64::MAX)?
        };
        Ok(part(&self.recovered, stream, &parts))
    }
}
