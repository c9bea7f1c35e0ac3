//! Results that were too large for the prompt, as files that a tool can read: `<root>/<session's folder>/<seq>-<index>.txt` or `.json`.
//!
//! - Derived: the log has the contents. A file is there and on disk before the event that names it is logged.
//! - After a crash a name may be there without its file, if the event was not synced with it: who opens the session writes it again.
//! - Only the owner reads them.

use crate::core::Core;
use crate::host::directory::{Directory, Held};
use crate::{Error, ErrorKind};
use recount_events::{Block, Body};
use recount_policies::Spill;
use recount_wal::StreamId;
use recount_wal::disk::{Access, Disk, RealDisk};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A session's own folder of spilled results.
struct Shelf {
    /// As prompts show it.
    shown: PathBuf,
    /// The disk that it lies on: the directory's own, or that of a root elsewhere.
    disk: Arc<dyn Disk>,
    /// The root, if it lies elsewhere.
    elsewhere: Option<PathBuf>,
    /// Its name there.
    name: String,
}

/// The session's shelf; none when no root was recorded.
fn shelf(dir: &Directory, core: &Core, stream: StreamId) -> Option<Shelf> {
    let root = core.opened()?.spill_root?;
    let root = Path::new(root.as_str()?);
    let shown = root.join(stream.to_string());
    let below = shown.strip_prefix(&dir.path).ok().and_then(Path::to_str);
    Some(match below {
        Some(below) => Shelf {
            name: below.replace('\\', "/"),
            disk: Arc::clone(&dir.disk),
            elsewhere: None,
            shown,
        },
        None => Shelf {
            name: stream.to_string(),
            disk: Arc::new(RealDisk::at(root)),
            elsewhere: Some(root.to_owned()),
            shown,
        },
    })
}

/// Writes the files again that are named in the session's prompts and are not there whole. A session opens without them too: what cannot
/// be written is told of in the trace, and a tool that looks for it says so to the model.
pub(crate) fn again(dir: &Directory, stream: StreamId, core: &Core) {
    if core.state.timeline().replaced.is_empty() {
        return;
    }
    let Some(shelf) = shelf(dir, core, stream) else {
        return;
    };
    if let Err(error) = shelf.write(&missing(core, &shelf)) {
        tracing::warn!(%error, "spilled results that are gone cannot be written again");
    }
}

/// Only files of the session's own folder: what a log says elsewhere is not followed.
fn missing(core: &Core, shelf: &Shelf) -> Vec<Spill> {
    let replaced = core.state.timeline().replaced.iter();
    let named = replaced.filter(|(block, logged)| {
        let Body::Replace(replace) = &logged.event.body else {
            return false;
        };
        let stem = shelf.shown.join(format!("{}-{}.", block.seq, block.index));
        let words = replace.with.blocks.first().and_then(Block::words);
        words.is_some_and(|words| words.contains(&*stem.to_string_lossy()))
    });
    named
        .filter_map(|(block, _)| recount_policies::budget::file(&core.event(block.seq)?, *block))
        .filter(|spill| !shelf.holds(spill))
        .collect()
}

/// Writes files, each whole or not at all, and their names to disk.
pub(crate) fn write(dir: &Directory, held: &mut Held<'_>, spills: &[Spill]) -> Result<(), Error> {
    if spills.is_empty() {
        return Ok(());
    }
    let stream = held.slot.stream;
    let core = &dir.live(held)?.core;
    let refused = |cause: io::Error| {
        Error::new(
            ErrorKind::Io,
            format!("spilled results cannot be written: {cause}"),
        )
        .with_next("see to the folder, or open the next session with another spill_root")
    };
    shelf(dir, core, stream)
        .ok_or_else(|| Error::invalid("the session has no root for spilled results"))?
        .write(spills)
        .map_err(refused)
}

impl Shelf {
    fn at(&self, file: &str) -> String {
        format!("{}/{file}", self.name)
    }

    /// Whether the file is there at its full length: what was cut by somebody is no result.
    fn holds(&self, spill: &Spill) -> bool {
        let there = self.disk.open(&self.at(&spill.name), Access::Read);
        let length = there.and_then(|file| file.len());
        length.is_ok_and(|length| length == spill.bytes.len() as u64)
    }

    fn write(&self, spills: &[Spill]) -> io::Result<()> {
        if spills.is_empty() {
            return Ok(());
        }
        let written = match &self.elsewhere {
            Some(root) => RealDisk::create(root).and_then(|disk| self.write_on(&disk, spills)),
            None => self.write_on(&*self.disk, spills),
        };
        let place = self.shown.display();
        written.map_err(|cause| io::Error::new(cause.kind(), format!("{place}: {cause}")))
    }

    fn write_on(&self, disk: &dyn Disk, spills: &[Spill]) -> io::Result<()> {
        self.make(disk)?;
        spills.iter().try_for_each(|spill| self.one(disk, spill))?;
        disk.sync_dir(&self.name)
    }

    /// Makes the folder, and its name and those above it durable. One that is there may be what an interrupted try left, so its
    /// name is synced all the same.
    fn make(&self, disk: &dyn Disk) -> io::Result<()> {
        disk.create_dir(&self.name)?;
        let mut folder = self.name.rsplit_once('/').map_or("", |(above, _)| above);
        while !folder.is_empty() {
            disk.sync_dir(folder)?;
            folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
        }
        disk.sync_dir("")
    }

    fn one(&self, disk: &dyn Disk, spill: &Spill) -> io::Result<()> {
        let name = self.at(&spill.name);
        let unfinished = format!("{name}.part");
        // What an interrupted writing left behind.
        drop(disk.remove(&unfinished));
        let written = disk.create(&unfinished).and_then(|file| {
            file.write_at(&spill.bytes, 0)?;
            file.sync_data()?;
            disk.rename(&unfinished, &name)
        });
        if written.is_err() {
            // What is left of it is of no use, and the error of writing says more than one of removing.
            drop(disk.remove(&unfinished));
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recount_events::{BlockId, Seq};
    use recount_wal::disk::SegmentFile;
    use std::sync::Mutex;

    /// The real disk, of which one sync of a folder fails.
    #[derive(Debug)]
    struct Refusing {
        disk: RealDisk,
        refused: Mutex<usize>,
        synced: Mutex<Vec<String>>,
    }

    impl Disk for Refusing {
        fn list(&self, folder: &str) -> io::Result<Vec<String>> {
            self.disk.list(folder)
        }
        fn create_dir(&self, folder: &str) -> io::Result<()> {
            self.disk.create_dir(folder)
        }
        fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
            self.disk.create(name)
        }
        fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn SegmentFile>> {
            self.disk.open(name, access)
        }
        fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            self.disk.rename(from, to)
        }
        fn remove(&self, name: &str) -> io::Result<()> {
            self.disk.remove(name)
        }
        fn sync_dir(&self, folder: &str) -> io::Result<()> {
            let mut left = self.refused.lock().unwrap();
            let refused = *left == 0;
            *left = left.wrapping_sub(1);
            if refused {
                return Err(io::ErrorKind::Other.into());
            }
            self.disk.sync_dir(folder)?;
            self.synced.lock().unwrap().push(folder.to_owned());
            Ok(())
        }
    }

    #[test]
    fn b1_a_folder_that_was_made_and_not_synced_is_synced_by_the_next_try() {
        let spill = Spill {
            block: BlockId {
                seq: Seq(4),
                index: 0,
            },
            name: "4-0.txt".to_owned(),
            bytes: b"words".to_vec(),
        };
        for refused in 0..3 {
            let dir = tempfile::tempdir().unwrap();
            let disk = Arc::new(Refusing {
                disk: RealDisk::at(dir.path()),
                refused: Mutex::new(refused),
                synced: Mutex::default(),
            });
            let shelf = Shelf {
                shown: dir.path().join("spills/s"),
                disk: Arc::clone(&disk) as Arc<dyn Disk>,
                elsewhere: None,
                name: "spills/s".to_owned(),
            };
            let spills = std::slice::from_ref(&spill);
            shelf.write(spills).unwrap_err();
            shelf.write(spills).unwrap();
            assert!(shelf.holds(&spill));
            let synced = disk.synced.lock().unwrap();
            for folder in ["", "spills", "spills/s"] {
                assert!(
                    synced.iter().any(|name| name == folder),
                    "sync {refused}: {synced:?}"
                );
            }
        }
    }
}
