//! Results that were too large for the prompt, as files that a tool can read: `<root>/<session's folder>/<seq>-<index>.txt` or `.json`.
//!
//! - Derived: the log has the contents. A file is there and on disk before the event that names it is logged.
//! - Only the owner reads them.

use crate::Error;
use crate::host::directory::{Directory, Held};
use crate::host::project::write_private;
use recount_events::Text;
use recount_policies::Spill;
use std::path::{Path, PathBuf};

/// The session's own folder of spilled results; none when no root was recorded.
pub(crate) fn folder(dir: &Directory, held: &mut Held<'_>) -> Result<Option<PathBuf>, Error> {
    let stream = held.slot.stream.to_string();
    let opened = dir.live(held)?.core.opened();
    let root = opened.and_then(|opened| opened.spill_root);
    let root = root.as_ref().and_then(Text::as_str);
    Ok(root.map(|root| Path::new(root).join(stream)))
}

/// Writes files, each whole or not at all, and their names to disk.
pub(crate) fn write(dir: &Directory, held: &mut Held<'_>, spills: &[Spill]) -> Result<(), Error> {
    if spills.is_empty() {
        return Ok(());
    }
    let folder = folder(dir, held)?
        .ok_or_else(|| Error::invalid("the session has no root for spilled results"))?;
    make(&folder)?;
    for spill in spills {
        write_private(&folder.join(&spill.name), &spill.bytes)?;
    }
    sync_dir(&folder)
}

fn make(folder: &Path) -> Result<(), Error> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    Ok(builder.create(folder)?)
}

/// Makes the names of files durable; on Windows the system does.
fn sync_dir(folder: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    std::fs::File::open(folder)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = folder;
    Ok(())
}
