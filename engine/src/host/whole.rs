//! The directory's own account: what its log says of itself, apart from sessions.

use super::directory::Directory;
use super::report;
use crate::{Error, api};
use recount_wal::Wal;

/// What was found at open, and what a full read of the segments finds.
pub(super) fn directory(dir: &Directory, _log: &Wal) -> Result<api::DirectoryVerified, Error> {
    let recovered = &dir.recovered;
    let cut = recovered.cut.as_ref().map(|cut| api::Cut {
        bytes: cut.bytes,
        after: None,
    });
    let unowned = recovered
        .damaged
        .iter()
        .filter(|damage| damage.lost.is_none())
        .map(|damage| {
            format!(
                "damage whose owner is not known; segment={} offset={} bytes={}",
                damage.segment, damage.offset, damage.bytes
            )
        });
    Ok(api::DirectoryVerified {
        state: report::state(recovered.state),
        sessions: Vec::new(),
        cut,
        rebuilt: recovered.rebuilt.clone(),
        problems: unowned.collect(),
    })
}
