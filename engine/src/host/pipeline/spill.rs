//! Results that were too large for the prompt, as files that a tool can read: `<root>/<session's folder>/<seq>-<index>.txt` or `.json`.
//!
//! - Derived: the log has the contents. A file is there and on disk before the event that names it is logged.
//! - Only the owner reads them.

use crate::core::Core;
use crate::host::directory::{Directory, Held};
use crate::host::project::write_private;
use crate::{Error, ErrorKind};
use recount_events::{Block, Body};
use recount_policies::Spill;
use recount_wal::StreamId;
use std::path::{Path, PathBuf};

/// The session's own folder of spilled results; none when no root was recorded.
fn folder(core: &Core, stream: StreamId) -> Option<PathBuf> {
    let root = core.opened()?.spill_root?;
    Some(Path::new(root.as_str()?).join(stream.to_string()))
}

/// Writes the files again that are named in the session's prompts and are not there. A session opens without them too: what cannot be
/// written is told of in the trace, and a tool that looks for it says so to the model.
pub(crate) fn again(dir: &Directory, stream: StreamId, core: &Core) {
    if dir.options.disk.is_some() || core.state.timeline().replaced.is_empty() {
        return;
    }
    let Some(folder) = folder(core, stream) else {
        return;
    };
    let missing = missing(core, &folder);
    if missing.is_empty() {
        return;
    }
    if let Err(error) = write_all(&folder, &missing) {
        tracing::warn!(%error, "spilled results that are gone cannot be written again");
    }
}

/// Only files of the session's own folder: what a log says elsewhere is not followed.
fn missing(core: &Core, folder: &Path) -> Vec<Spill> {
    let replaced = core.state.timeline().replaced.iter();
    let named = replaced.filter(|(block, logged)| {
        let Body::Replace(replace) = &logged.event.body else {
            return false;
        };
        let stem = folder.join(format!("{}-{}.", block.seq, block.index));
        let words = replace.with.blocks.first().and_then(Block::words);
        words.is_some_and(|words| words.contains(&*stem.to_string_lossy()))
    });
    named
        .filter_map(|(block, _)| recount_policies::budget::file(&core.event(block.seq)?, *block))
        .filter(|spill| !folder.join(&spill.name).exists())
        .collect()
}

/// Writes files, each whole or not at all, and their names to disk.
pub(crate) fn write(dir: &Directory, held: &mut Held<'_>, spills: &[Spill]) -> Result<(), Error> {
    if spills.is_empty() {
        return Ok(());
    }
    let stream = held.slot.stream;
    let folder = folder(&dir.live(held)?.core, stream)
        .ok_or_else(|| Error::invalid("the session has no root for spilled results"))?;
    write_all(&folder, spills).map_err(|cause| {
        let place = folder.display();
        Error::new(ErrorKind::Io, format!("{place} cannot be written: {cause}"))
            .with_next("see to the folder, or open the next session with another spill_root")
    })
}

fn write_all(folder: &Path, spills: &[Spill]) -> Result<(), Error> {
    make(folder)?;
    for spill in spills {
        write_private(&folder.join(&spill.name), &spill.bytes)?;
    }
    sync_dir(folder)
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
