//! A log at work on a disk that writes everything down, and the naive model of what must survive: lists of what was
//! issued, acknowledged and erased, each with its moment. It shares nothing with recovery.

use std::collections::BTreeMap;
use std::sync::Arc;

use recount_wal::disk::{Journal, SimulatedDisk};
use recount_wal::{
    AppendError, Batch, Class, Content, ContentAt, NewRecord, Options, RecordDigest, Stored,
    StreamId, Wal,
};

use crate::common::stream;

/// The directory's key where its making is not what is tried.
const KEY: [u8; 32] = [5; 32];
const SALT: [u8; 16] = [7; 16];

/// A record as it was issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Issued {
    pub(crate) body: Vec<u8>,
    pub(crate) content: Vec<u8>,
}

/// A batch as it was issued.
#[derive(Clone, Debug)]
pub(crate) struct IssuedBatch {
    /// Its number among all batches.
    pub(crate) number: usize,
    pub(crate) stream: StreamId,
    pub(crate) first: u64,
    pub(crate) records: Vec<Issued>,
    /// When it was said that no trace of it is left; until then there may be one.
    pub(crate) refused: Option<usize>,
}

/// Something that was asked for at one moment and answered at a later one.
#[derive(Clone, Debug)]
pub(crate) struct Asked<T> {
    pub(crate) what: T,
    pub(crate) asked: usize,
    pub(crate) done: Option<usize>,
}

/// What a process finds: of each stream the records, in order.
pub(crate) type Shown = BTreeMap<StreamId, Vec<ShownRecord>>;

/// A record as it is read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownRecord {
    pub(crate) seq: u64,
    pub(crate) digest: RecordDigest,
    pub(crate) body: Vec<u8>,
    pub(crate) content: Stored,
}

/// What was done, for the judge.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// In the order in which they were admitted.
    pub(crate) batches: Vec<IssuedBatch>,
    /// Moment, stream, last seq that is durable by then.
    pub(crate) durable: Vec<(usize, StreamId, u64)>,
    pub(crate) erased: Vec<Asked<ContentAt>>,
    /// Streams, and how many batches had been issued before.
    pub(crate) forgotten: Vec<Asked<(StreamId, usize)>>,
}

/// A log at work.
pub(crate) struct Run {
    pub(crate) disk: SimulatedDisk,
    pub(crate) options: Options,
    pub(crate) facts: Facts,
    next: BTreeMap<StreamId, u64>,
    wal: Option<Wal>,
}

impl Run {
    /// Begins in a directory that has a key and no segment.
    pub(crate) fn new(options: Options) -> Run {
        let disk = SimulatedDisk::new();
        disk.put("key", KEY.to_vec());
        // The folder as an earlier process left it.
        disk.put("segments/none", Vec::new());
        Run::on(disk, options)
    }

    /// Begins on a disk as it is.
    pub(crate) fn on(disk: SimulatedDisk, options: Options) -> Run {
        disk.record();
        let mut run = Run {
            disk,
            options,
            facts: Facts::default(),
            next: BTreeMap::new(),
            wal: None,
        };
        run.open();
        run
    }

    pub(crate) fn open(&mut self) {
        let disk = Arc::new(self.disk.clone());
        self.wal = Some(Wal::open_on(disk, self.options).unwrap().0);
    }

    pub(crate) fn close(&mut self) {
        self.wal.take().unwrap().close().unwrap();
    }

    pub(crate) fn wal(&self) -> &Wal {
        self.wal.as_ref().unwrap()
    }

    /// Ends the run as a killed process does, and answers what the disk was asked.
    pub(crate) fn kill(mut self) -> (Journal, Facts, Options) {
        let journal = self.disk.journal().unwrap();
        self.disk.halt_at(0);
        drop(self.wal.take());
        (journal, self.facts, self.options)
    }

    pub(crate) fn synced(&mut self, number: u8, count: u64, size: usize) {
        self.append(number, count, size, Class::Synced).unwrap();
    }

    pub(crate) fn ordered(&mut self, number: u8, count: u64, size: usize) {
        self.append(number, count, size, Class::Ordered).unwrap();
    }

    /// Appends.
    pub(crate) fn append(
        &mut self,
        number: u8,
        count: u64,
        size: usize,
        class: Class,
    ) -> Result<(), AppendError> {
        let id = stream(number);
        let first = *self.next.entry(id).or_insert(0);
        let turn = self.facts.batches.len();
        let records: Vec<Issued> = (first..first + count)
            .map(|seq| issued(id, seq, turn, size))
            .collect();
        let mut tag = [0; 32];
        tag[..8].copy_from_slice(&first.to_le_bytes());
        let batch = Batch {
            stream: id,
            first,
            records: records.iter().map(new_record).collect(),
            tag: Some(tag),
            origin: None,
        };
        self.facts.batches.push(IssuedBatch {
            number: turn,
            stream: id,
            first,
            records,
            refused: None,
        });
        let answer = self.wal().append(batch, class);
        match answer {
            Err(AppendError::Io { .. } | AppendError::NotDurable { .. }) => {
                // It promises that no trace is left; the same seqs are given to something else.
                let moment = self.disk.moment();
                let batch = self.facts.batches.last_mut().unwrap();
                batch.refused = Some(moment);
            }
            _ => {
                self.next.insert(id, first + count);
            }
        }
        if let Some(durable) = answer?.durable {
            self.acknowledge(id, durable);
        }
        Ok(())
    }

    pub(crate) fn sync(&mut self, number: u8) {
        let id = stream(number);
        let last = self.next[&id] - 1;
        let durable = self.wal().sync(id, last).unwrap();
        self.acknowledge(id, durable);
    }

    /// All that was issued is durable by now.
    pub(crate) fn acknowledge_all(&mut self) {
        for (id, next) in self.next.clone() {
            self.acknowledge(id, next - 1);
        }
    }

    fn acknowledge(&mut self, id: StreamId, durable: u64) {
        self.facts.durable.push((self.disk.moment(), id, durable));
    }

    pub(crate) fn compress(&mut self) -> u64 {
        self.wal().compress_now().unwrap()
    }

    /// Forgets a stream, which may begin again afterwards.
    pub(crate) fn forget(&mut self, number: u8) {
        let (id, asked) = (stream(number), self.disk.moment());
        let what = (id, self.facts.batches.len());
        let forgotten = self.wal().forget(&[id]).unwrap();
        assert_eq!(forgotten.streams, 1);
        let done = Some(self.disk.moment());
        self.facts.forgotten.push(Asked { what, asked, done });
        self.next.remove(&id);
    }

    pub(crate) fn erase(&mut self, targets: &[(u8, u64)]) {
        let asked = self.disk.moment();
        let targets = targets.iter().map(|(number, seq)| ContentAt {
            stream: stream(*number),
            seq: *seq,
            index: 0,
        });
        let targets: Vec<ContentAt> = targets.collect();
        let count = self.wal().erase(&targets).unwrap();
        assert_eq!(count, targets.len() as u64);
        let done = Some(self.disk.moment());
        self.facts
            .erased
            .extend(targets.into_iter().map(|what| Asked { what, asked, done }));
    }
}

fn issued(id: StreamId, seq: u64, turn: usize, size: usize) -> Issued {
    let text = format!("{id} {seq} {turn} ");
    let bytes = text.bytes().cycle().enumerate();
    Issued {
        body: text.clone().into_bytes(),
        // No two pieces of a content are alike, so none can stand for another.
        content: bytes
            .map(|(at, byte)| byte ^ (at / 97 % 251) as u8)
            .take(size)
            .collect(),
    }
}

pub(crate) fn new_record(issued: &Issued) -> NewRecord {
    let content = Content {
        salt: SALT,
        bytes: issued.content.clone().into(),
    };
    NewRecord {
        time: 42,
        kind: 3,
        schema: 1,
        body: issued.body.clone(),
        contents: vec![content],
    }
}

/// What was issued, as it must read back.
pub(crate) fn stored(issued: &Issued) -> Stored {
    Stored::Here(Content {
        salt: SALT,
        bytes: issued.content.clone().into(),
    })
}
