//! The same directory by the reader that takes no lock and needs no store.
//!
//! - It shows every acknowledged record with its digest and its contents, and chains that hold.

use crate::marks::{Ack, Marks};
use crate::{Failure, Outcome, Trying as _};
use recount_wal::{Entry, Reader, State, Stored, StreamId};
use std::path::Path;

/// Says what was found, or what does not hold.
pub(crate) fn check(dir: &Path, marks: &Marks) -> Outcome<String> {
    let reader = Reader::open(dir).trying("open without the store")?;
    if reader.recovered().state > State::Torn {
        let detail = format!("{:?}", reader.recovered());
        return Err(Failure::new("READER_DAMAGED", detail));
    }
    for ack in marks.acks.values() {
        let gone = marks.forgotten.contains_key(&ack.session)
            && reader.heads(stream(&reader, &ack.session)).is_none();
        if !gone {
            acknowledged(&reader, ack)?;
        }
    }
    let verdict = reader.verify().trying("verify without the store")?;
    if verdict.state > State::Torn {
        return Err(Failure::new("READER_VERIFY", format!("{verdict:?}")));
    }
    let (streams, records) = (verdict.streams, verdict.records);
    Ok(format!("streams={streams} records={records}"))
}

fn acknowledged(reader: &Reader, ack: &Ack) -> Outcome<()> {
    let what = format!("{:?} {}..={}", ack.session, ack.first, ack.head);
    let mut expected = ack.records.iter();
    for entry in reader.read(stream(reader, &ack.session), ack.first, ack.head) {
        match entry.trying("read a record")? {
            Entry::Record(record) => {
                if Some(&record.digest.to_string()) != expected.next() {
                    let detail = format!("{what}: seq={}", record.seq);
                    return Err(Failure::new("READER_CHANGED", detail));
                }
                if record
                    .contents
                    .iter()
                    .any(|one| !matches!(one, Stored::Here(_)))
                {
                    let detail = format!("{what}: a content of seq={}", record.seq);
                    return Err(Failure::new("READER_LOST", detail));
                }
            }
            Entry::Gap(gap) => {
                return Err(Failure::new("READER_LOST", format!("{what}: {gap:?}")));
            }
        }
    }
    match expected.next() {
        None => Ok(()),
        Some(_) => Err(Failure::new("READER_LOST", what)),
    }
}

/// The stream of a session: the first half of a hash of its name, keyed with the directory's secret.
fn stream(reader: &Reader, session: &str) -> StreamId {
    let digest = blake3::keyed_hash(&reader.key(), session.as_bytes());
    let mut id = [0; 16];
    for (to, from) in id.iter_mut().zip(digest.as_bytes()) {
        *to = *from;
    }
    StreamId(id)
}
