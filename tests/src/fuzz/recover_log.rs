//! Segments of any bytes: the log opens, makes nothing up, verifies, and goes on.
//!
//! - The first byte chooses: `r` puts the rest in the place of the only segment; anything else reads the rest as blows to a log
//!   that was written well.

use recount_wal::disk::{SimulatedDisk, Survival};
use recount_wal::{
    Batch, Class, Content, ContentAt, Entry, NewRecord, Options, Reader, Record, Recovered, Stored,
    StreamId, Wal,
};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Bytes of a segment, so that a short log has several.
const SEGMENT: u64 = 4096;
/// How many streams the log has.
const STREAMS: u8 = 3;
/// Bytes that make a blow: segment, kind, place (2), length (2).
const BLOW: usize = 6;

/// Recovers a log whose segments are damaged by the bytes, or made of them.
pub fn recover_log(data: &[u8]) {
    match data {
        [] => {}
        [b'r', bytes @ ..] => {
            let disk = SimulatedDisk::new();
            disk.put("segments/0000000000000000.seg", bytes.to_vec());
            recovers(&disk, None);
        }
        [_, blows @ ..] => {
            let (whole, all) = written();
            let disk = whole.crashed(Survival::Kept);
            blows
                .chunks_exact(BLOW)
                .take(8)
                .for_each(|blow| strike(&disk, blow));
            recovers(&disk, Some(all));
        }
    }
}

fn open(disk: &SimulatedDisk) -> (Wal, Recovered) {
    let options = Options::default()
        .segment_size(SEGMENT)
        .ahead(0)
        .compress(false);
    Wal::open_on(Arc::new(disk.clone()), options).expect("a log always opens")
}

type All = BTreeMap<(StreamId, u64), Record>;

fn recovers(disk: &SimulatedDisk, all: Option<&All>) {
    let reader = Reader::open_on(Arc::new(disk.clone())).expect("a reader always opens");
    let (wal, _) = open(disk);
    assert_eq!(
        reader.streams(),
        wal.streams(),
        "a reader and a writer see the same streams"
    );
    holds_together(&wal, all);
    let before = verify(&wal);
    let kept: Vec<_> = (0..STREAMS).map(|number| seqs(&wal, number)).collect();
    (0..STREAMS).for_each(|number| append(&wal, number, 2));
    // Leaves it as a killed process does, then takes the power away.
    std::mem::forget(wal);
    let (wal, again) = open(&disk.crashed(Survival::Lost));
    for (number, kept) in (0..STREAMS).zip(kept) {
        let now = seqs(&wal, number);
        assert!(
            now.starts_with(&kept) && now.len() == kept.len() + 2,
            "what was there, and what was added, is there again: {kept:?} {now:?}"
        );
    }
    assert_eq!(again.cut, None, "nothing acknowledged is cut");
    holds_together(&wal, all);
    assert!(
        verify(&wal) >= before + 2 * u64::from(STREAMS),
        "and all of it verifies"
    );
}

/// Records that verify. Their chain holds: no record is taken for another.
fn verify(wal: &Wal) -> u64 {
    let found = wal.verify().expect("a log can be verified");
    assert_eq!(found.unchained, [], "chains hold");
    found.records
}

/// Entries follow one another without holes; each is one that was written.
fn holds_together(wal: &Wal, all: Option<&All>) {
    for info in wal.streams() {
        let mut next = info.first;
        for entry in wal.read(info.stream, info.first, u64::MAX) {
            let entry = entry.expect("a simulated disk is read");
            let (first, last) = match &entry {
                Entry::Gap(gap) => (gap.first, gap.last),
                Entry::Record(record) => (record.seq, record.seq),
            };
            assert_eq!(first, next, "entries are dense");
            next = last + 1;
            if let (Entry::Record(record), Some(all)) = (entry, all) {
                was_written(&record, all);
            }
        }
        assert_eq!(next, info.heads.accepted + 1, "up to the head");
    }
}

fn was_written(record: &Record, all: &All) {
    // What was appended after the damage is not in the list.
    let Some(original) = all.get(&(record.stream, record.seq)) else {
        return;
    };
    if record.digest != original.digest && record.body == addition(record.seq).body {
        return;
    }
    assert_eq!(
        (record.digest, &record.body, record.time),
        (original.digest, &original.body, original.time),
        "nothing is made up"
    );
    for (stored, was) in record.contents.iter().zip(&original.contents) {
        assert!(
            stored == was || *stored == Stored::Lost,
            "a content is what it was, or lost"
        );
    }
}

fn seqs(wal: &Wal, number: u8) -> Vec<u64> {
    let entries = wal.read(stream(number), 0, u64::MAX).map(Result::unwrap);
    entries
        .filter_map(|entry| match entry {
            Entry::Record(record) => Some(record.seq),
            Entry::Gap(_) => None,
        })
        .collect()
}

fn stream(number: u8) -> StreamId {
    StreamId([number; 16])
}

fn addition(seq: u64) -> NewRecord {
    record(format!("added {seq}"))
}

fn record(text: String) -> NewRecord {
    let content = Content {
        salt: [7; 16],
        bytes: format!("content of {text}").into_bytes().into(),
    };
    NewRecord {
        time: 42,
        kind: 3,
        schema: 1,
        body: text.into_bytes(),
        contents: vec![content],
    }
}

fn append(wal: &Wal, number: u8, count: u64) {
    let first = wal
        .heads(stream(number))
        .map_or(0, |heads| heads.accepted + 1);
    let batch = Batch {
        stream: stream(number),
        first,
        records: (first..first + count).map(addition).collect(),
        tag: None,
        origin: None,
    };
    wal.append(batch, Class::Synced)
        .expect("a log that was opened goes on");
}

/// A log of three streams in several segments, with an erased content and a closing record; and all that is in it.
fn written() -> (&'static SimulatedDisk, &'static All) {
    static WRITTEN: OnceLock<(SimulatedDisk, All)> = OnceLock::new();
    let (disk, all) = WRITTEN.get_or_init(write);
    (disk, all)
}

fn write() -> (SimulatedDisk, All) {
    let disk = SimulatedDisk::new();
    let (wal, _) = open(&disk);
    for step in 0..36_u64 {
        let number = stream(u8::try_from(step % 3).unwrap_or(0));
        let first = wal.heads(number).map_or(0, |heads| heads.accepted + 1);
        let batch = Batch {
            stream: number,
            first,
            records: (first..=first + step % 3)
                .map(|seq| record(format!("{number} {seq}")))
                .collect(),
            tag: None,
            origin: None,
        };
        wal.append(batch, Class::Synced)
            .expect("a good disk takes it");
        if step == 24 {
            // The blows meet both kinds of segments.
            let compressed = wal.compress_now().expect("a good disk takes it");
            assert!(compressed > 0, "some are sealed by then");
        }
    }
    let erased = ContentAt {
        stream: stream(1),
        seq: 0,
        index: 0,
    };
    wal.erase(&[erased]).expect("a content can be erased");
    let mut all = All::new();
    for number in 0..STREAMS {
        for entry in wal.read(stream(number), 0, u64::MAX) {
            if let Entry::Record(record) = entry.expect("a good disk is read") {
                all.insert((record.stream, record.seq), *record);
            }
        }
    }
    wal.close().expect("a good disk is closed");
    (disk, all)
}

/// One blow to one segment.
fn strike(disk: &SimulatedDisk, blow: &[u8]) {
    let &[segment, kind, low, high, short, long] = blow else {
        return;
    };
    let names: Vec<String> = disk.names();
    let segments: Vec<&String> = names.iter().filter(|name| name.ends_with(".seg")).collect();
    let Some(name) = segments.get(usize::from(segment) % segments.len().max(1)) else {
        return;
    };
    let mut bytes = disk.bytes(name).unwrap_or_default();
    let size = bytes.len();
    let at = size * usize::from(u16::from_le_bytes([low, high])) / 65_536;
    let length = usize::from(u16::from_le_bytes([short, long]) % 2_000);
    let end = (at + length).min(size);
    match kind % 7 {
        0 => bytes[at..end].fill(0),
        1 => bytes[at..end]
            .iter_mut()
            .for_each(|byte| *byte ^= short | 1),
        2 => bytes.truncate(at),
        3 => bytes.extend(std::iter::repeat_n(short, length)),
        4 => {
            let piece = bytes[at..end].to_vec();
            let to = (at / 2) / 8 * 8;
            bytes[to..to + piece.len()].copy_from_slice(&piece);
        }
        5 => bytes = disk.bytes(segments[0]).unwrap_or_default(),
        _ => bytes.clear(),
    }
    disk.put(name, bytes);
}
