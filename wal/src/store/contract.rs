//! The narrow trait behind which an embedded store stands, and what can go wrong with one.
//!
//! - A put is atomic in memory; nothing is promised about power loss, and nothing may rely on it.
//! - Keys are compared as bytes, inside one table.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

/// Which family of rows a key belongs to; the numbers are part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Table {
    /// Records of one stream, about a hundred a row.
    Chunk = 1,
    /// What is needed to find a chunk without reading it.
    Index = 2,
    /// What the store says about itself.
    Meta = 3,
}

impl Table {
    /// Every table, in the order of their numbers.
    pub const ALL: [Table; 3] = [Table::Chunk, Table::Index, Table::Meta];
}

/// One change: a value to put, or none to take the row away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The table.
    pub table: Table,
    /// The key inside the table.
    pub key: Vec<u8>,
    /// The new value; none removes the row.
    pub value: Option<Vec<u8>>,
}

/// Which end of a range comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Smallest key first.
    Ascending,
    /// Largest key first.
    Descending,
}

/// What is called for each row of a range, with key and value.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// An embedded, ordered store of bytes.
pub trait Store: Send + Sync {
    /// Puts all rows or none, as seen by readers of this process.
    ///
    /// # Errors
    /// Any error leaves the store in doubt.
    fn put(&self, rows: &[Row]) -> Result<(), StoreError>;

    /// The value of a key.
    ///
    /// # Errors
    /// Any error leaves the store in doubt.
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError>;

    /// Visits the rows from `first` to `last`, both inclusive, until the visitor breaks.
    ///
    /// # Errors
    /// Any error leaves the store in doubt.
    fn range(
        &self,
        table: Table,
        first: &[u8],
        last: &[u8],
        order: Order,
        visit: &mut Visit<'_>,
    ) -> Result<(), StoreError>;

    /// Hands what was put to the operating system, and to the disk as far as the store can.
    ///
    /// # Errors
    /// Any error leaves the store in doubt.
    fn flush(&self) -> Result<(), StoreError>;
}

/// Opens a store in a directory, which it creates if need be.
pub trait Open: Send + Sync {
    /// Opens or creates.
    ///
    /// # Errors
    /// After [`StoreError::Full`] the same directory is opened again when there may be space; after anything else it is
    /// given up. Who expects a lock to be free in a moment waits for it inside.
    fn open(&self, directory: &Path) -> Result<Arc<dyn Store>, StoreError>;
}

/// What went wrong, by what the caller does about it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// Somebody holds the store's lock and did not give it back while the opener waited: rebuild elsewhere.
    #[error("store is locked: {0}")]
    Locked(String),
    /// The disk is full: stop filling, read from the segments, try again later.
    #[error("no space left for the store: {0}")]
    Full(String),
    /// The operating system refused something: rebuild elsewhere.
    #[error("store input or output failed: {0}")]
    Io(String),
    /// The bytes are not what was put: rebuild elsewhere.
    #[error("store is corrupt: {0}")]
    Corrupt(String),
    /// The store panicked: rebuild elsewhere.
    #[error("store panicked: {0}")]
    Panicked(String),
}

impl From<std::io::Error> for StoreError {
    fn from(error: std::io::Error) -> StoreError {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                StoreError::Full(error.to_string())
            }
            _ => StoreError::Io(error.to_string()),
        }
    }
}

/// A digest over all rows of a store: equal for equal contents, whatever the implementation.
///
/// # Errors
/// Those of [`Store::range`].
pub fn digest(store: &dyn Store) -> Result<[u8; 32], StoreError> {
    let mut hasher = blake3::Hasher::new();
    for table in Table::ALL {
        store.range(
            table,
            &[],
            &[0xff; 64],
            Order::Ascending,
            &mut |key, value| {
                hasher.update(&[table as u8]);
                hash_sized(&mut hasher, key);
                hash_sized(&mut hasher, value);
                ControlFlow::Continue(())
            },
        )?;
    }
    Ok(*hasher.finalize().as_bytes())
}

fn hash_sized(hasher: &mut blake3::Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}
