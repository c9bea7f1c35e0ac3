//! A store in memory: the second implementation that keeps the trait honest, and what a log without a directory uses.
//!
//! - It forgets everything when it is dropped; its opener gives an empty one each time.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::contract::{Open, Order, Row, Store, StoreError, Table, Visit};

type Rows = BTreeMap<(Table, Vec<u8>), Vec<u8>>;

/// A store in memory.
#[derive(Debug, Default)]
pub struct Memory {
    rows: RwLock<Rows>,
}

impl Store for Memory {
    fn put(&self, rows: &[Row]) -> Result<(), StoreError> {
        let mut held = self.rows.write().unwrap_or_else(PoisonError::into_inner);
        for row in rows {
            let key = (row.table, row.key.clone());
            match &row.value {
                Some(value) => held.insert(key, value.clone()),
                None => held.remove(&key),
            };
        }
        Ok(())
    }

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let held = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        Ok(held.get(&(table, key.to_vec())).cloned())
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
        let held = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        let from = Bound::Included((table, first.to_vec()));
        let to = Bound::Included((table, last.to_vec()));
        let mut rows = held.range((from, to));
        while let Some(((_, key), value)) = match order {
            Order::Ascending => rows.next(),
            Order::Descending => rows.next_back(),
        } {
            if let ControlFlow::Break(()) = visit(key, value) {
                break;
            }
        }
        Ok(())
    }

    fn flush(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Opens an empty store in memory, whatever the directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct InMemory;

impl Open for InMemory {
    fn open(&self, _directory: &Path) -> Result<Arc<dyn Store>, StoreError> {
        Ok(Arc::new(Memory::default()))
    }
}
