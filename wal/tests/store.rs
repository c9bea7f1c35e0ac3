//! The log with its store: it reads like the log without one, whatever happened to the store.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use recount_wal::store::{Part, StoreOptions};
use recount_wal::{
    Batch, Class, Content, Entry, NewRecord, Options, Reader, Recovered, State, Stored, StreamId,
    Wal,
};

const LONG: Duration = Duration::from_secs(60);

fn id(n: u64) -> StreamId {
    StreamId([n as u8; 16])
}

fn options() -> Options {
    Options::default().segment_size(32 << 10).compress(false)
}

fn record(n: u64) -> NewRecord {
    let content = |k: u64| Content {
        salt: [k as u8; 16],
        bytes: format!("words {n} {k}").repeat(3).into_bytes().into(),
    };
    NewRecord {
        time: 1_000 + n,
        kind: (n % 5) as u16,
        schema: 1,
        body: format!("body {n}").into_bytes(),
        contents: (0..n % 3).map(content).collect(),
    }
}

fn tag(stream: StreamId, first: u64) -> [u8; 32] {
    let mut tag = [stream.0[0]; 32];
    tag[..8].copy_from_slice(&first.to_le_bytes());
    tag
}

/// Appends that many batches of one to three records over four streams.
fn grow(wal: &Wal, batches: u64) {
    for n in 0..batches {
        let stream = id(n % 4);
        let first = wal.heads(stream).map_or(0, |heads| heads.accepted + 1);
        let records = (0..1 + n % 3).map(|k| record(first + k)).collect();
        let batch = Batch {
            stream,
            first,
            records,
            tag: Some(tag(stream, first)),
            origin: None,
        };
        let class = if n % 10 == 0 {
            Class::Synced
        } else {
            Class::Ordered
        };
        wal.append(batch, class).unwrap();
    }
    assert!(wal.sync_all().unwrap());
}

fn open(directory: &Path) -> (Wal, Recovered) {
    let store = StoreOptions {
        wait: LONG,
        idle: Duration::from_millis(20),
        ..StoreOptions::default()
    };
    let (wal, recovered) = Wal::open_with(directory, options(), Some(store)).unwrap();
    assert!(wal.store().unwrap().wait_ready(LONG), "{:?}", wal.store());
    (wal, recovered)
}

fn everything(wal: &Wal) -> Vec<Entry> {
    let read =
        |info: recount_wal::StreamInfo| wal.read(info.stream, 0, u64::MAX).collect::<Vec<_>>();
    wal.streams()
        .into_iter()
        .flat_map(read)
        .map(Result::unwrap)
        .collect()
}

/// What a log without a store reads.
fn bare(directory: &Path) -> Vec<Entry> {
    let (wal, _) = Wal::open_with(directory, options(), None).unwrap();
    assert!(wal.store().is_none());
    let all = everything(&wal);
    wal.close().unwrap();
    all
}

/// How many records the store itself hands out, without the segments.
fn served(wal: &Wal) -> usize {
    let store = wal.store().unwrap();
    let mut count = 0;
    for info in wal.streams() {
        let mut from = 0;
        while from <= info.heads.accepted {
            match store.part(info.stream, from, u64::MAX) {
                Part::Records(records) => {
                    count += records.len();
                    from = records.last().unwrap().seq + 1;
                }
                Part::Elsewhere(last) => from = last.saturating_add(1),
            }
        }
    }
    count
}

fn wait_served(wal: &Wal, count: usize) {
    let started = Instant::now();
    while served(wal) != count {
        assert!(
            started.elapsed() < LONG,
            "{} of {count}: {:?}",
            served(wal),
            wal.store()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn filled() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let (wal, recovered) = open(directory.path());
    assert_eq!(recovered.rebuilt, None);
    grow(&wal, 600);
    wal.close().unwrap();
    directory
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path))
        } else {
            all.push(path)
        }
    }
    all
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target)
        } else {
            fs::copy(entry.path(), target).map(drop).unwrap()
        }
    }
}

/// Opens with a store: reads equal those without one, and come from the store. Answers why it was rebuilt.
fn equal_to_bare(directory: &Path) -> Option<String> {
    let expected = bare(directory);
    let (wal, recovered) = open(directory);
    assert_eq!(everything(&wal), expected);
    wait_served(&wal, expected.len());
    assert_eq!(everything(&wal), expected);
    wal.close().unwrap();
    recovered.rebuilt
}

#[test]
fn reads_equal_while_appending_and_after_reopening() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = open(directory.path());
    for round in 1..6 {
        grow(&wal, 100);
        assert_eq!(everything(&wal).len(), round * 199);
    }
    let live = everything(&wal);
    wait_served(&wal, live.len());
    assert_eq!(everything(&wal), live);
    wal.close().unwrap();
    assert_eq!(bare(directory.path()), live);
    assert_eq!(equal_to_bare(directory.path()), None);
}

#[test]
fn contents_come_back_whole() {
    let directory = filled();
    let (wal, _) = open(directory.path());
    for entry in everything(&wal) {
        let Entry::Record(found) = entry else {
            panic!("a gap")
        };
        let expected: Vec<Stored> = record(found.seq)
            .contents
            .into_iter()
            .map(Stored::Here)
            .collect();
        assert_eq!(found.contents, expected);
    }
}

#[test]
fn a_deleted_store_is_rebuilt() {
    let directory = filled();
    fs::remove_dir_all(directory.path().join("store")).unwrap();
    assert_eq!(equal_to_bare(directory.path()).as_deref(), Some("absent"));
    assert_eq!(equal_to_bare(directory.path()), None);
}

#[test]
fn a_garbled_store_is_rebuilt() {
    for step in [61, 509, 4_099] {
        let directory = filled();
        for file in files(&directory.path().join("store")) {
            let mut bytes = fs::read(&file).unwrap();
            bytes
                .iter_mut()
                .skip(step / 2)
                .step_by(step)
                .for_each(|byte| *byte = byte.wrapping_add(1));
            fs::write(&file, bytes).unwrap();
        }
        // With few flips the database may fall back to an older state of its own, which is only behind.
        let rebuilt = equal_to_bare(directory.path());
        assert!(rebuilt.is_some() || step > 61, "step {step}");
        assert_eq!(equal_to_bare(directory.path()), None);
    }
}

#[test]
fn a_stale_store_catches_up() {
    let directory = filled();
    let store = directory.path().join("store");
    copy(&store, &directory.path().join("older"));
    let (wal, _) = open(directory.path());
    grow(&wal, 500);
    wal.close().unwrap();
    fs::remove_dir_all(&store).unwrap();
    fs::rename(directory.path().join("older"), &store).unwrap();
    assert_eq!(equal_to_bare(directory.path()), None);
}

#[test]
fn a_foreign_store_is_rebuilt() {
    let (directory, other) = (filled(), filled());
    fs::remove_dir_all(directory.path().join("store")).unwrap();
    copy(&other.path().join("store"), &directory.path().join("store"));
    assert_eq!(equal_to_bare(directory.path()).as_deref(), Some("foreign"));
    assert_eq!(equal_to_bare(directory.path()), None);
}

#[test]
fn a_store_that_knows_more_tells_that_the_segments_were_cut() {
    let directory = filled();
    let older = tempfile::tempdir().unwrap();
    copy(directory.path(), older.path());
    let (wal, _) = open(directory.path());
    grow(&wal, 40);
    let head = wal.heads(id(1)).unwrap().accepted;
    wal.close().unwrap();
    // Somebody brings back an old copy of the segments only.
    fs::remove_dir_all(directory.path().join("segments")).unwrap();
    copy(
        &older.path().join("segments"),
        &directory.path().join("segments"),
    );
    let kept = Reader::open(directory.path()).unwrap();
    let kept = kept.heads(id(1)).unwrap().accepted;
    let (wal, recovered) = open(directory.path());
    // It is believed, so it is not rebuilt: it is the only one who still has the bodies.
    assert_eq!(recovered.rebuilt, None);
    assert_eq!(recovered.state, State::Truncated);
    let lost = |damage: &recount_wal::Damage| damage.lost == Some((id(1), kept + 1, head));
    assert!(recovered.damaged.iter().any(lost), "{recovered:?}");
    assert_eq!(wal.heads(id(1)).unwrap().accepted, head);
    wal.close().unwrap();
    // Once it is gone as well, the segments alone tell of the same loss.
    fs::remove_dir_all(directory.path().join("store")).unwrap();
    let (wal, again) = open(directory.path());
    assert_eq!(
        (again.state, wal.heads(id(1)).unwrap().accepted),
        (State::Truncated, head)
    );
    assert!(again.damaged.iter().any(lost), "{again:?}");
    let read = everything(&wal);
    wal.close().unwrap();
    assert_eq!(read, bare(directory.path()));
}

#[test]
fn what_damage_took_is_served_from_the_store() {
    let directory = filled();
    let before = bare(directory.path());
    let segment = files(&directory.path().join("segments"))
        .into_iter()
        .min()
        .unwrap();
    let mut bytes = fs::read(&segment).unwrap();
    // A body in the middle of the first segment.
    let at = bytes.len() / 2;
    let body = at
        + bytes[at..]
            .windows(5)
            .position(|window| window == b"body ")
            .unwrap();
    bytes[body] ^= 1;
    fs::write(&segment, &bytes).unwrap();
    let without = bare(directory.path());
    assert_eq!(
        without
            .iter()
            .filter(|entry| matches!(entry, Entry::Gap(_)))
            .count(),
        1
    );
    let (wal, recovered) = open(directory.path());
    assert_eq!(recovered.rebuilt, None, "{recovered:?}");
    assert_eq!(recovered.salvaged.len(), 1, "{recovered:?}");
    // The contents of the damaged frame have checksums of their own, so they are whole too.
    assert_eq!(everything(&wal), before);
}

#[test]
fn tags_are_found_in_the_store() {
    let directory = filled();
    let (wal, _) = open(directory.path());
    let store = wal.store().unwrap();
    let mut tags = 0;
    for entry in everything(&wal) {
        let Entry::Record(record) = entry else {
            panic!("a gap")
        };
        let Some(tag) = record.tag else { continue };
        let found = store
            .find_tag(record.stream, tag[..16].try_into().unwrap())
            .unwrap()
            .unwrap();
        assert_eq!(
            (found.tag, found.first, found.last),
            (tag, record.batch.0, record.batch.1)
        );
        tags += 1;
    }
    assert_eq!(tags, 600);
    assert_eq!(store.find_tag(id(1), [0xfe; 16]), Some(None));
}

#[test]
fn bodies_are_read_without_contents_and_tags_through_the_log() {
    let directory = filled();
    let (wal, _) = open(directory.path());
    let (bare_wal, expected) = {
        let copied = tempfile::tempdir().unwrap();
        copy(directory.path(), copied.path());
        let (bare, _) = Wal::open_with(copied.path(), options(), None).unwrap();
        let all: Vec<Entry> = bare
            .read_bodies(id(2), 0, u64::MAX)
            .map(Result::unwrap)
            .collect();
        (bare, all)
    };
    let found: Vec<Entry> = wal
        .read_bodies(id(2), 0, u64::MAX)
        .map(Result::unwrap)
        .collect();
    assert_eq!(found, expected);
    for entry in &found {
        let Entry::Record(record) = entry else {
            panic!("a gap")
        };
        for (index, at) in (0..).zip(&record.content_places) {
            let of = recount_wal::ContentAt {
                stream: record.stream,
                seq: record.seq,
                index,
            };
            assert_eq!(
                wal.content(of, *at).unwrap(),
                bare_wal.content(of, *at).unwrap()
            );
        }
        if let Some(tag) = record.tag {
            let start = tag[..16].try_into().unwrap();
            assert_eq!(
                wal.find_tag(record.stream, start).unwrap(),
                bare_wal.find_tag(record.stream, start).unwrap()
            );
        }
    }
    assert_eq!(wal.verify_store(), Some(Ok(1_200)));
    assert_eq!(bare_wal.verify_store(), None);
}

#[test]
fn a_tag_is_found_as_soon_as_its_batch_is_answered() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = open(directory.path());
    let wal = Arc::new(wal);
    let writers: Vec<_> = (0..3)
        .map(|n| {
            let wal = Arc::clone(&wal);
            std::thread::spawn(move || {
                for seq in 0..200 {
                    let tag = tag(id(n), seq);
                    let batch = Batch {
                        stream: id(n),
                        first: seq,
                        records: vec![record(seq)],
                        tag: Some(tag),
                        origin: None,
                    };
                    wal.append(batch, Class::Synced).unwrap();
                    let found = wal.find_tag(id(n), tag[..16].try_into().unwrap()).unwrap();
                    assert_eq!(found.map(|found| found.first), Some(seq));
                }
            })
        })
        .collect();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
}

#[test]
fn many_writers_and_readers_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let (wal, _) = open(directory.path());
    let wal = Arc::new(wal);
    let writers: Vec<_> = (0..6)
        .map(|n| {
            let wal = Arc::clone(&wal);
            std::thread::spawn(move || {
                for seq in 0..150 {
                    let records = vec![record(seq)];
                    let batch = Batch {
                        stream: id(n),
                        first: seq,
                        records,
                        tag: None,
                        origin: None,
                    };
                    wal.append(
                        batch,
                        if seq % 4 == 0 {
                            Class::Synced
                        } else {
                            Class::Ordered
                        },
                    )
                    .unwrap();
                    if seq % 10 == 0 {
                        let seqs: Vec<u64> = wal
                            .read(id(n), 0, u64::MAX)
                            .map(|entry| match entry.unwrap() {
                                Entry::Record(record) => record.seq,
                                Entry::Gap(gap) => panic!("{gap:?}"),
                            })
                            .collect();
                        assert_eq!(seqs, (0..=seq).collect::<Vec<_>>());
                    }
                }
            })
        })
        .collect();
    writers
        .into_iter()
        .for_each(|writer| writer.join().unwrap());
    assert!(wal.sync_all().unwrap());
    wait_served(&wal, 900);
    Arc::into_inner(wal).unwrap().close().unwrap();
    assert_eq!(equal_to_bare(directory.path()), None);
}

const CHILD: &str = "RECOUNT_WAL_STORE_CHILD";

/// Not a test of its own: what the killed process does.
#[test]
fn child_that_appends_until_it_is_killed() {
    let Ok(directory) = std::env::var(CHILD) else {
        return;
    };
    let (wal, _) = open(Path::new(&directory));
    loop {
        grow(&wal, 20);
    }
}

#[test]
fn a_killed_process_leaves_a_store_that_reads_equal() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..4_u64 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_that_appends_until_it_is_killed"])
            .env(CHILD, directory.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(150 + 130 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        equal_to_bare(directory.path());
    }
    assert!(bare(directory.path()).len() > 100);
}
