//! The directory's own account: what its log says of itself, apart from what sessions mean.
//!
//! - Every segment is read again; what recoveries cut is told of for ever.

use super::directory::Directory;
use super::report;
use crate::{Error, ErrorKind, api};
use recount_wal::store::StoreState;
use recount_wal::{StreamId, Verification, Wal};

/// What a full read of the segments finds, and how the store behind them stands.
pub(super) fn directory(
    dir: &Directory,
    log: &Wal,
) -> Result<(api::DirectoryVerified, Verification), Error> {
    let found = log.verify().map_err(|cause| {
        Error::new(
            ErrorKind::Io,
            format!("the segments cannot be read: {cause}"),
        )
    })?;
    let cut = found
        .cuts
        .iter()
        .map(|cut| cut.bytes)
        .reduce(u64::saturating_add);
    let torn = if cut.is_some() {
        api::State::Torn
    } else {
        api::State::Clean
    };
    let erased = if found.erased.is_empty() {
        api::State::Clean
    } else {
        api::State::Erased
    };
    let differs = match log.verify_store() {
        Some(Err(doubt)) => Some(format!(
            "the event store does not say what the segments say and is built again: {doubt}"
        )),
        _ => None,
    };
    let gone = gone(log, &found);
    let missing = if gone.is_empty() {
        api::State::Clean
    } else {
        api::State::Truncated
    };
    let store = log.store().map(|store| store.status());
    let rebuilt = store
        .as_ref()
        .and_then(|status| status.rebuilt.as_ref())
        .map(ToString::to_string);
    let off = store.and_then(|status| match status.state {
        StoreState::Off(doubt) => Some(format!(
            "the event store is off, reads go to the segments: {doubt}"
        )),
        _ => None,
    });
    let verified = api::DirectoryVerified {
        state: report::state(found.state)
            .max(torn)
            .max(erased)
            .max(missing),
        sessions: Vec::new(),
        against: Vec::new(),
        cut: cut.map(|bytes| api::Cut { bytes, after: None }),
        rebuilt: rebuilt.or_else(|| dir.recovered.rebuilt.clone()),
        problems: problems(&found)
            .chain(gone)
            .chain(differs)
            .chain(off)
            .collect(),
    };
    Ok((verified, found))
}

/// Sessions of which the segments hold nothing any more, as far as it is written down that there were such: a list of
/// sessions may not be able to show their names.
fn gone(log: &Wal, found: &Verification) -> Vec<String> {
    let streams = log.streams();
    let whole = |(stream, first, last): &(StreamId, u64, u64)| {
        let info = streams.iter().find(|info| info.stream == *stream);
        info.is_some_and(|info| info.first == *first && info.heads.accepted == *last)
    };
    let lost = found.damaged.iter().filter_map(|damage| damage.lost);
    lost.filter(whole)
        .map(|(stream, _, last)| {
            format!("a whole session is missing in the segments; stream={stream} last={last}")
        })
        .collect()
}

fn problems(found: &Verification) -> impl Iterator<Item = String> + '_ {
    let unowned = found
        .damaged
        .iter()
        .filter(|damage| damage.lost.is_none())
        .map(|damage| {
            format!(
                "{}; segment={} offset={} bytes={}",
                report::words(damage),
                damage.segment,
                damage.offset,
                damage.bytes
            )
        });
    let unchained = found
        .unchained
        .iter()
        .map(|(stream, seq)| format!("the chain does not hold; stream={stream} seq={seq}"));
    let doubled = found.doubled.iter().map(|(stream, seq)| {
        format!(
            "a position was given twice, the first record there counts; stream={stream} seq={seq}"
        )
    });
    let lost = found.lost.iter().map(|content| {
        format!(
            "a content is lost; stream={} seq={} index={}",
            content.stream, content.seq, content.index
        )
    });
    unowned.chain(unchained).chain(doubled).chain(lost)
}
