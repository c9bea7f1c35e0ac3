//! The real disk.
//!
//! - Files are made with mode 0600, folders in the directory with 0700, where the system has modes.
//! - Directory sync is skipped where the system has none (Windows); names are weaker there.
//! - A file that was deleted, or a directory that another one took the place of, is not written to: what goes there is gone
//!   with the last handle, so it would be acknowledged for nothing (on unix).

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Access, Disk, SegmentFile};

/// A directory of the file system.
#[derive(Debug)]
pub struct RealDisk {
    root: PathBuf,
    /// Which directory it was when it was opened.
    identity: Option<(u64, u64)>,
}

impl RealDisk {
    /// The directory itself is made when it is absent, with those above it, each durable before the next.
    ///
    /// # Errors
    /// What the file system answers.
    pub fn create(root: &Path) -> io::Result<RealDisk> {
        // A relative path ends in the empty one, which names the current folder.
        let there = |folder: &Path| folder.as_os_str().is_empty() || folder.exists();
        let missing = root.ancestors().take_while(|folder| !there(folder));
        let missing: Vec<&Path> = missing.collect();
        // Whoever made the lowest one may have been killed before its name was durable.
        let lowest = root.ancestors().nth(missing.len());
        if let Err(error) = lowest.map_or(Ok(()), sync_name)
            && !is_anothers(&error)
        {
            return Err(error);
        }
        for folder in missing.into_iter().rev() {
            std::fs::create_dir_all(folder)?;
            sync_name(folder)?;
        }
        Ok(RealDisk::at(root))
    }

    /// A directory that is there. A relative path is resolved once: what it named stays, wherever the process goes.
    #[must_use]
    pub fn at(root: &Path) -> RealDisk {
        RealDisk {
            root: whole(root),
            identity: identity(root),
        }
    }

    /// Opens or makes a file that only its owner can read.
    ///
    /// # Errors
    /// What the system says; `InvalidInput` for what is there and is no file.
    pub(crate) fn private(root: &Path, name: &str) -> io::Result<File> {
        only_a_file(&root.join(name))?;
        private()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(root.join(name))
    }

    fn path(&self, name: &str) -> PathBuf {
        if name.is_empty() {
            self.root.clone()
        } else {
            self.root.join(name)
        }
    }
}

impl Disk for RealDisk {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        let entries = match std::fs::read_dir(self.path(folder)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other?,
        };
        let mut names = Vec::new();
        for entry in entries {
            // A name that is not UTF-8 is none of ours.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create_dir(&self, folder: &str) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(self.path(folder))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        if identity(&self.root) != self.identity {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the directory is no longer the one that was opened",
            ));
        }
        let file = private()
            .read(true)
            .write(true)
            .create_new(true)
            .open(self.path(name))?;
        Ok(Arc::new(RealFile(file)))
    }

    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn SegmentFile>> {
        only_a_file(&self.path(name))?;
        let file = OpenOptions::new()
            .read(true)
            .write(access == Access::Write)
            .open(self.path(name))?;
        Ok(Arc::new(RealFile(file)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        std::fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        std::fs::remove_file(self.path(name))
    }

    fn sync_dir(&self, folder: &str) -> io::Result<()> {
        sync_folder(&self.path(folder))
    }
}

/// The path from the root on, links and all; as it is where the system cannot say (there is no such working directory any more).
pub(crate) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Which directory a path leads to.
#[cfg(unix)]
fn identity(root: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(root).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_root: &Path) -> Option<(u64, u64)> {
    None
}

/// What was synced into a file that has no name any more is not durable.
#[cfg(unix)]
fn still_named(file: &File) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    if file.metadata()?.nlink() == 0 {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            "the file was deleted while it was written",
        ));
    }
    Ok(())
}

#[cfg(not(unix))]
fn still_named(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}

/// Makes the name of a folder durable.
fn sync_name(folder: &Path) -> io::Result<()> {
    match folder.parent() {
        Some(parent) if parent.as_os_str().is_empty() => sync_folder(Path::new(".")),
        Some(parent) => sync_folder(parent),
        None => Ok(()),
    }
}

/// Whether a folder cannot be synced because it is not ours to change, or of a kind that has no syncs: then we did not make what is in
/// it, or nothing more can be done.
fn is_anothers(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ReadOnlyFilesystem
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::Unsupported
    )
}

/// Opening a pipe waits for whoever is at its other end, and a link into nothing would make a file elsewhere. What another process makes
/// meanwhile is no such thing.
fn only_a_file(path: &Path) -> io::Result<()> {
    let is_file = match std::fs::metadata(path) {
        Ok(about) => about.is_file(),
        Err(_) => !std::fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink()),
    };
    if is_file {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "what stands there is not a file",
    ))
}

fn private() -> OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "modes exist on unix only"))]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[derive(Debug)]
struct RealFile(File);

impl SegmentFile for RealFile {
    #[cfg(unix)]
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(&self.0, bytes, offset)
    }

    #[cfg(windows)]
    fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let done = std::os::windows::fs::FileExt::seek_write(&self.0, bytes, offset)?;
            if done == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = bytes.get(done..).unwrap_or_default();
            offset = offset.saturating_add(done as u64);
        }
        Ok(())
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut filled = 0;
        while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match read_once(&self.0, rest, offset.saturating_add(filled as u64)) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync_data()?;
        still_named(&self.0)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }
}

#[cfg(unix)]
fn read_once(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_once(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}
