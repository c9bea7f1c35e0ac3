//! The peers: a raw append into a file that was zeroed before, and SQLite with a write-ahead log and full sync.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Appends into a zeroed file, one `fdatasync` each.
pub(crate) struct Raw {
    file: File,
    offset: u64,
}

impl Raw {
    /// A file of `size` zero bytes, synced.
    pub(crate) fn create(path: &Path, size: usize) -> std::io::Result<Self> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .read(true)
            .write(true)
            .open(path)?;
        let zeros = vec![0; 1 << 20];
        for _ in 0..size.div_ceil(zeros.len()) {
            file.write_all(&zeros)?;
        }
        file.sync_all()?;
        Ok(Self { file, offset: 0 })
    }

    /// Writes and syncs.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.file.write_all_at(bytes, self.offset)?;
        self.offset += bytes.len() as u64;
        self.file.sync_data()
    }
}

/// One table of events, `journal_mode=WAL`, `synchronous=FULL`.
pub(crate) struct Sqlite {
    connection: rusqlite::Connection,
    next: i64,
}

impl Sqlite {
    /// A new database.
    pub(crate) fn create(path: &Path) -> rusqlite::Result<Self> {
        let connection = rusqlite::Connection::open(path)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch("CREATE TABLE event (session TEXT NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (session, seq))")?;
        Ok(Self {
            connection,
            next: 0,
        })
    }

    /// One row in one transaction.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> rusqlite::Result<()> {
        self.connection
            .prepare_cached("INSERT INTO event VALUES ('session', ?1, ?2)")?
            .execute((self.next, bytes))?;
        self.next += 1;
        Ok(())
    }
}
