//! The store on sled 0.34; the only file that names it.
//!
//! - sled may panic where it should fail: every call is caught. A hang is the supervisor's matter.
//! - sled's `flush` calls no fsync, so ours syncs its files afterwards; even so nothing relies on what it kept.
//! - The timed flusher is off: the worker decides when to flush.
//! - Values stay under 128 KiB, beyond which sled writes files of their own that it never syncs.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::contract::{Open, Order, Row, Store, StoreError, Table, Visit};

/// How long the lock of a store that was dropped a moment ago is tried again.
const LOCK_PATIENCE: Duration = Duration::from_millis(1_500);
const LOCK_PAUSE: Duration = Duration::from_millis(30);

/// Opens sled in a directory.
#[derive(Clone, Copy, Debug)]
pub struct OnSled {
    /// Page cache in bytes; sled takes it as a hint.
    pub cache: u64,
}

impl Default for OnSled {
    /// A cache of 16 MiB.
    fn default() -> OnSled {
        OnSled { cache: 16 << 20 }
    }
}

impl Open for OnSled {
    fn open(&self, directory: &Path) -> Result<Arc<dyn Store>, StoreError> {
        fs::create_dir_all(directory)?;
        remove_unfinished_snapshots(directory)?;
        let started = Instant::now();
        loop {
            match caught(|| self.open_once(directory)) {
                Err(StoreError::Locked(_)) if started.elapsed() < LOCK_PATIENCE => {
                    thread::sleep(LOCK_PAUSE);
                }
                Err(error) => return Err(error),
                Ok(store) => return Ok(Arc::new(store)),
            }
        }
    }
}

impl OnSled {
    fn open_once(&self, directory: &Path) -> Result<SledStore, StoreError> {
        let tree = sled::Config::new()
            .path(directory)
            .cache_capacity(self.cache)
            .flush_every_ms(None)
            .open()
            .map_err(translate)?;
        Ok(SledStore {
            tree,
            directory: directory.to_path_buf(),
        })
    }
}

/// A kill while sled opens leaves `snap.*.generating`, after which every open fails (sled issues 1527 and 1533).
fn remove_unfinished_snapshots(directory: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

struct SledStore {
    tree: sled::Db,
    directory: PathBuf,
}

impl Store for SledStore {
    fn put(&self, rows: &[Row]) -> Result<(), StoreError> {
        let mut batch = sled::Batch::default();
        for row in rows {
            let key = key_of(row.table, &row.key);
            match &row.value {
                Some(value) => batch.insert(key, value.as_slice()),
                None => batch.remove(key),
            }
        }
        caught(|| self.tree.apply_batch(batch).map_err(translate))
    }

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        caught(|| match self.tree.get(key_of(table, key)) {
            Ok(value) => Ok(value.map(|value| value.to_vec())),
            Err(error) => Err(translate(error)),
        })
    }

    fn range(
        &self,
        table: Table,
        first: &[u8],
        last: &[u8],
        order: Order,
        visit: &mut Visit<'_>,
    ) -> Result<(), StoreError> {
        if first > last {
            return Ok(());
        }
        caught(|| {
            let mut rows = self.tree.range(key_of(table, first)..=key_of(table, last));
            while let Some(row) = match order {
                Order::Ascending => rows.next(),
                Order::Descending => rows.next_back(),
            } {
                let (key, value) = row.map_err(translate)?;
                let key = key.get(1..).unwrap_or_default();
                if let ControlFlow::Break(()) = visit(key, &value) {
                    break;
                }
            }
            Ok(())
        })
    }

    fn flush(&self) -> Result<(), StoreError> {
        caught(|| self.tree.flush().map(drop).map_err(translate))?;
        sync_files(&self.directory)
    }
}

fn sync_files(directory: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            // A snapshot that sled replaced meanwhile is gone, and needs no sync.
            match File::open(entry.path()) {
                Ok(file) => file.sync_data()?,
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    Ok(())
}

fn key_of(table: Table, key: &[u8]) -> Vec<u8> {
    let mut full = Vec::with_capacity(key.len().saturating_add(1));
    full.push(table as u8);
    full.extend_from_slice(key);
    full
}

fn translate(error: sled::Error) -> StoreError {
    match error {
        sled::Error::Io(error) if error.to_string().contains("could not acquire lock") => {
            StoreError::Locked(error.to_string())
        }
        sled::Error::Io(error) => error.into(),
        sled::Error::Corruption { .. } => StoreError::Corrupt(error.to_string()),
        other => StoreError::Io(other.to_string()),
    }
}

fn caught<T>(call: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    // After a panic the store is not used again, so a broken invariant inside it is never seen.
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|panic| Err(StoreError::Panicked(super::status::panic_text(&*panic))))
}
