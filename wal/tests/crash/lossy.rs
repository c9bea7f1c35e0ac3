//! A store in memory that writes down what it is told, so that any part of what was not flushed can be lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use recount_wal::disk::SimulatedDisk;
use recount_wal::store::{Memory, Open, Order, Row, Store, StoreError, Table, Visit};

/// Something that a store was told.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    Put(Vec<Row>),
    Flushed,
}

/// Of which generation, when (in operations of the log's disk), what.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) generation: String,
    pub(crate) moment: usize,
    pub(crate) told: Told,
}

pub(crate) type Platter = Arc<Mutex<Vec<Entry>>>;

/// Opens generations that begin with the rows of an image, and writes down what they are told.
#[derive(Clone)]
pub(crate) struct Lossy {
    pub(crate) rows: BTreeMap<String, Vec<Row>>,
    pub(crate) platter: Platter,
    pub(crate) disk: SimulatedDisk,
}

struct LossyStore {
    memory: Memory,
    generation: String,
    opener: Lossy,
}

impl Open for Lossy {
    fn open(&self, directory: &Path) -> Result<Arc<dyn Store>, StoreError> {
        let name = directory.file_name().unwrap().to_string_lossy();
        let memory = Memory::default();
        memory.put(self.rows.get(name.as_ref()).map_or(&[], |rows| rows))?;
        Ok(Arc::new(LossyStore {
            memory,
            generation: name.into_owned(),
            opener: self.clone(),
        }))
    }
}

impl LossyStore {
    fn note(&self, told: Told) {
        let entry = Entry {
            generation: self.generation.clone(),
            moment: self.opener.disk.moment(),
            told,
        };
        self.opener.platter.lock().unwrap().push(entry);
    }
}

impl Store for LossyStore {
    fn put(&self, rows: &[Row]) -> Result<(), StoreError> {
        self.note(Told::Put(rows.to_vec()));
        self.memory.put(rows)
    }

    fn get(&self, table: Table, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        self.memory.get(table, key)
    }

    fn range(
        &self,
        table: Table,
        first: &[u8],
        last: &[u8],
        order: Order,
        visit: &mut Visit<'_>,
    ) -> Result<(), StoreError> {
        self.memory.range(table, first, last, order, visit)
    }

    fn flush(&self) -> Result<(), StoreError> {
        self.note(Told::Flushed);
        Ok(())
    }
}
