//! Writing checkpoints, off the acknowledged path: a thread takes them; when it is busy, one is left out.
//!
//! - A checkpoint is there whole or not at all: written under another name, synced, renamed, the folder synced.
//! - One that is ahead of the durable head is not written.

use super::Stored;
use super::file::{LARGEST, Place, understood};
use crate::lock::lock;
use crossbeam_channel::{Sender, TrySendError, bounded};
use recount_wal::disk::{Access, Disk};
use recount_wal::{StreamId, Wal};
use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;

/// The folder of checkpoints.
const FOLDER: &str = "states";
/// How many wait to be written.
const WAITING: usize = 4;

/// Writes and reads checkpoints.
#[derive(Debug)]
pub(crate) struct Writer {
    desk: Arc<Desk>,
    thread: Mutex<Option<(Sender<Stored>, JoinHandle<()>)>>,
}

#[derive(Debug)]
struct Desk {
    disk: Arc<dyn Disk>,
    secret: [u8; 32],
    log: Weak<Wal>,
    /// One at a time writes a file or takes one away.
    turn: Mutex<()>,
}

impl Writer {
    /// On the disk of a log.
    pub(crate) fn new(disk: Arc<dyn Disk>, log: &Arc<Wal>) -> Self {
        Self {
            desk: Arc::new(Desk {
                disk,
                secret: log.key(),
                log: Arc::downgrade(log),
                turn: Mutex::default(),
            }),
            thread: Mutex::default(),
        }
    }

    /// Has a checkpoint written; `now`: before this returns.
    pub(crate) fn write(&self, stored: Stored, now: bool) {
        if now {
            return self.desk.take(&stored);
        }
        let mut thread = lock(&self.thread);
        if thread.is_none() {
            *thread = self.start();
        }
        let Some((sender, _)) = &*thread else { return };
        if let Err(TrySendError::Full(_)) = sender.try_send(stored) {
            tracing::debug!("a state checkpoint is left out: the disk is busy");
        }
    }

    fn start(&self) -> Option<(Sender<Stored>, JoinHandle<()>)> {
        let (sender, receiver) = bounded::<Stored>(WAITING);
        let desk = Arc::clone(&self.desk);
        let write = move || receiver.iter().for_each(|stored| desk.take(&stored));
        let thread = std::thread::Builder::new().name("recount-states".to_owned());
        Some((sender, thread.spawn(write).ok()?))
    }

    /// Waits for what is being written.
    pub(crate) fn finish(&self) {
        let thread = lock(&self.thread).take();
        if let Some((sender, thread)) = thread {
            drop(sender);
            // A writer that panicked left nothing behind that is believed.
            drop(thread.join());
        }
    }

    /// The checkpoint of a session, if there is one that belongs to this directory.
    pub(crate) fn read(&self, stream: StreamId) -> Option<(Place, super::file::Body)> {
        let bytes = bytes(&*self.desk.disk, &name(stream)).ok()?;
        let found =
            understood(&bytes, &self.desk.secret).filter(|(place, _)| place.stream == stream);
        if found.is_none() {
            tracing::debug!(%stream, "a state checkpoint is not understood and left alone");
        }
        found
    }

    /// Takes the checkpoint of a session away. What is not there is away.
    ///
    /// # Errors
    /// The disk refuses.
    pub(crate) fn remove(&self, stream: StreamId) -> io::Result<()> {
        // What waits would be there again afterwards.
        self.finish();
        let _turn = lock(&self.desk.turn);
        for name in [name(stream), format!("{}.new", name(stream))] {
            match self.desk.disk.remove(&name) {
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                done => {
                    done?;
                    self.desk.disk.sync_dir(FOLDER)?;
                }
            }
        }
        Ok(())
    }
}

impl Desk {
    fn take(&self, stored: &Stored) {
        if let Err(cause) = self.write(stored) {
            tracing::debug!(stream = %stored.stream, %cause, "a state checkpoint is not written");
        }
    }

    fn write(&self, stored: &Stored) -> io::Result<()> {
        let durable = self.log.upgrade().and_then(|log| log.heads(stored.stream));
        let durable = durable.and_then(|heads| heads.durable);
        let Some(bytes) = stored
            .bytes(&self.secret)
            .filter(|_| durable >= Some(stored.seq))
        else {
            return Ok(());
        };
        let _turn = lock(&self.turn);
        let name = name(stored.stream);
        let unfinished = format!("{name}.new");
        self.disk.create_dir(FOLDER)?;
        // What an interrupted writing left behind.
        drop(self.disk.remove(&unfinished));
        let file = self.disk.create(&unfinished)?;
        file.write_at(&bytes, 0)?;
        file.sync_data()?;
        drop(file);
        self.disk.rename(&unfinished, &name)?;
        self.disk.sync_dir(FOLDER)
    }
}

fn name(stream: StreamId) -> String {
    format!("{FOLDER}/{stream}.state")
}

fn bytes(disk: &dyn Disk, name: &str) -> io::Result<Vec<u8>> {
    let file = disk.open(name, Access::Read)?;
    let length = file.len()?;
    if length > LARGEST as u64 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "no checkpoint is so large",
        ));
    }
    let length = usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = vec![0; length];
    let got = file.read_at(&mut bytes, 0)?;
    bytes.truncate(got);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use recount_wal::disk::RealDisk;

    #[test]
    fn a_file_that_is_no_checkpoint_for_its_size_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = std::fs::File::create(dir.path().join("s.state")).unwrap();
        // A hole, which takes no space; nobody has so much memory.
        file.set_len(1 << 43).unwrap();
        let disk = RealDisk::at(dir.path());
        let error = bytes(&disk, "s.state").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{error}");
    }
}
