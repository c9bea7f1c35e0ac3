//! One crash, judged: what is found is a prefix of what was issued that ends at a batch and holds everything that was
//! acknowledged; it is durable once it was shown; three more appends go through; two more openings show the same.

use std::collections::BTreeMap;
use std::sync::Arc;

use recount_wal::disk::{SimulatedDisk, Survival};
use recount_wal::{
    Batch, Class, Entry, Options, RecordDigest, Recovered, State, Stored, StreamId, Wal,
};

use crate::common::stream;
use crate::run::{Asked, Facts, Issued, IssuedBatch, Shown, ShownRecord, new_record, stored};

type Verdict<T> = Result<T, String>;

/// Opens what a crash left and goes on; answers what was found at first.
pub(crate) fn recover(disk: &SimulatedDisk, options: Options) -> Verdict<Shown> {
    let (wal, recovered) = open(disk, options)?;
    undamaged(&recovered)?;
    if wal.key() == [0; 32] {
        return Err("the directory's key was never drawn".to_owned());
    }
    let shown = read_all(&wal)?;
    let (again, _) = open(&disk.crashed(Survival::Lost), options)?;
    same("what was shown was not durable", &shown, &read_all(&again)?)?;
    drop(again);
    let more = go_on(&wal, &shown, &mut |_| ())?;
    let lost_power = disk.crashed(Survival::Lost);
    drop(wal);
    let (wal, recovered) = open(&lost_power, options)?;
    if recovered.state != State::Clean {
        return Err(format!("not clean after a sound recovery: {recovered:?}"));
    }
    same("the second opening differs", &more, &read_all(&wal)?)?;
    wal.close().map_err(|error| format!("close: {error}"))?;
    let (wal, recovered) = open(&lost_power, options)?;
    if recovered.state != State::Clean || !recovered.closed {
        return Err(format!("not closed: {recovered:?}"));
    }
    same("the third opening differs", &more, &read_all(&wal)?)?;
    let verification = wal.verify().map_err(|error| error.to_string())?;
    if verification.state > State::Torn
        || !verification.unchained.is_empty()
        || !verification.lost.is_empty()
    {
        return Err(format!("does not verify: {verification:?}"));
    }
    Ok(shown)
}

fn open(disk: &SimulatedDisk, options: Options) -> Verdict<(Wal, Recovered)> {
    Wal::open_on(Arc::new(disk.clone()), options).map_err(|error| format!("does not open: {error}"))
}

/// A crash is no damage, and no content of what survived is lost by it.
fn undamaged(recovered: &Recovered) -> Verdict<()> {
    if recovered.state <= State::Torn && recovered.damaged.is_empty() {
        return Ok(());
    }
    Err(format!("taken for damage: {recovered:?}"))
}

pub(crate) fn read_all(wal: &Wal) -> Verdict<Shown> {
    let mut shown = Shown::new();
    for info in wal.streams() {
        let mut records = Vec::new();
        for entry in wal.read(info.stream, 0, u64::MAX) {
            let record = match entry {
                Ok(Entry::Record(record)) => record,
                Ok(Entry::Gap(gap)) => return Err(format!("a gap: {gap:?}")),
                Err(error) => return Err(format!("not read: {error}")),
            };
            let content = record.contents.first().cloned().unwrap_or(Stored::Lost);
            records.push(ShownRecord {
                seq: record.seq,
                digest: record.digest,
                body: record.body,
                content,
            });
        }
        tags(wal, info.stream, &records)?;
        shown.insert(info.stream, records);
    }
    Ok(shown)
}

/// The key of the newest batch is known, or a repeated request would be done twice.
fn tags(wal: &Wal, id: StreamId, records: &[ShownRecord]) -> Verdict<()> {
    let tags = wal.tags(id).map_err(|error| format!("tags: {error}"))?;
    let last = tags.last().map(|tagged| tagged.last);
    if last == records.last().map(|record| record.seq) {
        return Ok(());
    }
    Err(format!("the newest tag is that of {last:?} in {id}"))
}

fn same(what: &str, expected: &Shown, found: &Shown) -> Verdict<()> {
    if expected == found {
        return Ok(());
    }
    Err(format!(
        "{what}: {} instead of {}",
        counts(found),
        counts(expected)
    ))
}

fn counts(shown: &Shown) -> String {
    let counts = shown
        .iter()
        .map(|(id, records)| format!("{id}:{}", records.len()));
    counts.collect::<Vec<_>>().join(" ")
}

/// Three more appends, one of them to a new stream; `done` is told of each when it was acknowledged.
pub(crate) fn go_on(wal: &Wal, shown: &Shown, done: &mut dyn FnMut(IssuedBatch)) -> Verdict<Shown> {
    let mut more = shown.clone();
    let known = shown.keys().next().copied().unwrap_or(stream(0));
    for id in [known, stream(9), known] {
        let records = more.entry(id).or_default();
        let seq = records.last().map_or(0, |record| record.seq + 1);
        let issued = Issued {
            body: format!("after {seq}").into_bytes(),
            content: vec![3; 100],
        };
        let batch = Batch {
            stream: id,
            first: seq,
            records: vec![new_record(&issued)],
            tag: Some([9; 32]),
            origin: None,
        };
        let receipt = wal
            .append(batch, Class::Synced)
            .map_err(|error| format!("does not go on: {error}"))?;
        records.push(ShownRecord {
            seq,
            digest: receipt.digest,
            content: stored(&issued),
            body: issued.body.clone(),
        });
        done(IssuedBatch {
            number: usize::MAX,
            stream: id,
            first: seq,
            records: vec![issued],
            refused: None,
        });
    }
    Ok(more)
}

/// Holds what was found against what was issued, and what had been acknowledged by a moment.
pub(crate) fn judge(facts: &Facts, moment: usize, shown: &Shown) -> Verdict<()> {
    let mut model = facts.clone();
    let refused = |refused: Option<usize>| refused.is_some_and(|since| since <= moment);
    for Asked { what, asked, done } in &facts.forgotten {
        let (id, before) = *what;
        let surely = done.is_some_and(|done| done <= moment);
        // In between it is gone whole, or not at all: then it is judged like any other.
        if surely || (*asked <= moment && !shown.contains_key(&id)) {
            model
                .batches
                .retain(|batch| batch.stream != id || batch.number >= before);
            model
                .durable
                .retain(|(since, other, _)| *other != id || since > asked);
        }
    }
    model.batches.retain(|batch| !refused(batch.refused));
    prefix(&model, moment, shown)?;
    acknowledged(&model, moment, shown)
}

fn acknowledged(facts: &Facts, moment: usize, shown: &Shown) -> Verdict<()> {
    let promised = facts
        .durable
        .iter()
        .filter(|(since, _, _)| *since <= moment);
    for (since, id, last) in promised {
        let head = shown.get(id).and_then(|records| records.last());
        if head.is_none_or(|head| head.seq < *last) {
            return Err(format!(
                "lost: {last} of {id} was acknowledged at {since}, found up to {:?}",
                head.map(|head| head.seq)
            ));
        }
    }
    Ok(())
}

/// There is a number of batches, in the order of their issue, that are all there is.
fn prefix(facts: &Facts, moment: usize, shown: &Shown) -> Verdict<()> {
    let mut left: BTreeMap<StreamId, &[ShownRecord]> = shown
        .iter()
        .map(|(id, records)| (*id, records.as_slice()))
        .collect();
    let mut chain: BTreeMap<StreamId, RecordDigest> = BTreeMap::new();
    for batch in &facts.batches {
        let records = left.entry(batch.stream).or_default();
        if records.is_empty() {
            break;
        }
        let Some((here, rest)) = records.split_at_checked(batch.records.len()) else {
            return Err(format!(
                "a part of the batch {} of {}",
                batch.first, batch.stream
            ));
        };
        let digest = chain.entry(batch.stream).or_insert(RecordDigest::ROOT);
        for ((seq, issued), found) in (batch.first..).zip(&batch.records).zip(here) {
            *digest = RecordDigest::of(*digest, seq, 3, 1, &issued.body);
            if (found.seq, &found.body, found.digest) != (seq, &issued.body, *digest) {
                return Err(format!("not what was issued: {seq} of {}", batch.stream));
            }
            content(facts, moment, batch.stream, issued, found)?;
        }
        *records = rest;
    }
    match left.into_iter().find(|(_, records)| !records.is_empty()) {
        None => Ok(()),
        Some((id, records)) => Err(format!(
            "not a prefix: {} of {id} is there, an earlier batch is not",
            records[0].seq
        )),
    }
}

fn content(
    facts: &Facts,
    moment: usize,
    id: StreamId,
    issued: &Issued,
    found: &ShownRecord,
) -> Verdict<()> {
    let erasure = facts
        .erased
        .iter()
        .find(|asked| (asked.what.stream, asked.what.seq) == (id, found.seq));
    let whole = found.content == stored(issued);
    let right = match erasure {
        None => whole,
        Some(asked) if asked.done.is_some_and(|done| done <= moment) => {
            found.content == Stored::Erased
        }
        Some(asked) if asked.asked > moment => whole,
        Some(_) => whole || found.content == Stored::Erased,
    };
    if right {
        return Ok(());
    }
    Err(format!(
        "the content of {} of {id} reads {:?}",
        found.seq, found.content
    ))
}
