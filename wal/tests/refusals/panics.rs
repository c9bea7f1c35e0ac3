//! A disk that panics under the writer: whoever waits is answered, and closing ends.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use crate::common::*;
use recount_wal::disk::{Access, Disk, SegmentFile, SimulatedDisk};
use recount_wal::{AppendError, Class, CloseError, Options, Wal};

/// So long a test waits before it says that something hangs.
const HANGS: Duration = Duration::from_secs(60);

/// Panics in a sync, once it is told to.
#[derive(Debug)]
struct Panicking {
    disk: SimulatedDisk,
    armed: Arc<AtomicBool>,
    go: Arc<AtomicBool>,
}

#[derive(Debug)]
struct PanickingFile {
    file: Arc<dyn SegmentFile>,
    armed: Arc<AtomicBool>,
    go: Arc<AtomicBool>,
}

impl Panicking {
    fn wrap(&self, file: Arc<dyn SegmentFile>) -> Arc<dyn SegmentFile> {
        Arc::new(PanickingFile {
            file,
            armed: Arc::clone(&self.armed),
            go: Arc::clone(&self.go),
        })
    }
}

impl Disk for Panicking {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.disk.list(folder)
    }
    fn create_dir(&self, folder: &str) -> io::Result<()> {
        self.disk.create_dir(folder)
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        Ok(self.wrap(self.disk.create(name)?))
    }
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn SegmentFile>> {
        Ok(self.wrap(self.disk.open(name, access)?))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }
    fn sync_dir(&self, folder: &str) -> io::Result<()> {
        self.disk.sync_dir(folder)
    }
}

impl SegmentFile for PanickingFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_at(bytes, offset)
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.read_at(buffer, offset)
    }
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn sync_data(&self) -> io::Result<()> {
        if self.armed.load(Ordering::Acquire) {
            while !self.go.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            panic!("as the test wants it");
        }
        self.file.sync_data()
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.truncate(length)
    }
}

#[test]
fn a_panic_under_the_writer_leaves_nobody_waiting() {
    for compress in [false, true] {
        let (armed, go) = (Arc::default(), Arc::default());
        let disk = Panicking {
            disk: SimulatedDisk::new(),
            armed: Arc::clone(&armed),
            go: Arc::clone(&go),
        };
        let options = Options::default()
            .segment_size(SMALL)
            .ahead(0)
            .compress(compress);
        let wal = Arc::new(Wal::open_on(Arc::new(disk), options).unwrap().0);
        // Segments are sealed, so that the thread that compresses is there.
        for seq in 0..30 {
            append(&wal, stream(1), seq, 1);
        }
        // Nothing but the writer syncs from here on.
        wal.compress_now().unwrap();
        armed.store(true, Ordering::Release);
        let dies = {
            let wal = Arc::clone(&wal);
            std::thread::spawn(move || wal.append(batch(stream(1), 30, 1), Class::Synced))
        };
        while wal.heads(stream(1)).unwrap().accepted < 30 {
            std::thread::yield_now();
        }
        let (told, answers) = mpsc::channel();
        {
            let wal = Arc::clone(&wal);
            std::thread::spawn(move || {
                told.send(wal.append(batch(stream(2), 0, 1), Class::Synced))
            });
        }
        while wal.heads(stream(2)).is_none() {
            std::thread::yield_now();
        }
        go.store(true, Ordering::Release);
        assert!(dies.join().is_err());
        let waited = answers.recv_timeout(HANGS).expect("it waits for ever");
        assert_eq!(waited, Err(AppendError::Poisoned));
        let refused = wal.append(batch(stream(2), 1, 1), Class::Synced);
        assert_eq!(refused, Err(AppendError::Poisoned));
        let (told, closed) = mpsc::channel();
        std::thread::spawn(move || {
            // The thread that was answered may hold it for a moment still.
            while Arc::strong_count(&wal) > 1 {
                std::thread::yield_now();
            }
            told.send(Arc::into_inner(wal).unwrap().close())
        });
        let closed = closed.recv_timeout(HANGS).expect("closing hangs");
        assert_eq!(closed, Err(CloseError::Poisoned), "compress={compress}");
    }
}
