//! What recovery found, in the words of the protocol.

use crate::api;
use recount_wal::{Recovered, State, StreamId};

pub(crate) fn state(state: State) -> api::State {
    match state {
        State::Clean => api::State::Clean,
        State::Torn => api::State::Torn,
        State::Truncated => api::State::Truncated,
        State::Damaged => api::State::Damaged,
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

/// The part of a directory's recovery that is about one stream.
pub(crate) fn recovered(whole: &Recovered, stream: StreamId) -> api::Recovered {
    let damaged: Vec<api::Damaged> = whole
        .damaged
        .iter()
        .filter_map(|damage| {
            let (owner, first, last) = damage.lost?;
            (owner == stream).then_some(api::Damaged {
                first,
                last,
                segment: damage.segment,
                offset: damage.offset,
                bytes: damage.bytes,
            })
        })
        .collect();
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
        skipped: Vec::new(),
    }
}
