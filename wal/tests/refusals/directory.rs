//! A real directory that is taken away, that cannot be written, or that is full.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::*;
use recount_wal::{AppendError, Class, OpenError, Options, State, Wal};

fn opened(directory: &Path) -> Wal {
    Wal::open(directory, Options::default().segment_size(SMALL).ahead(0))
        .unwrap()
        .0
}

/// Closing may not hang, whatever happened.
fn closed_in_time(wal: Wal) {
    let started = Instant::now();
    let _ = wal.close();
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn what_goes_into_a_deleted_directory_is_not_acknowledged() {
    for deleted in ["", "segments"] {
        let directory = tempfile::tempdir().unwrap();
        let wal = opened(directory.path());
        append(&wal, stream(1), 0, 1);
        fs::remove_dir_all(directory.path().join(deleted)).unwrap();
        for _ in 0..3 {
            let next = wal.heads(stream(1)).unwrap().accepted + 1;
            let refused = wal.append(batch(stream(1), next, 1), Class::Synced);
            assert!(refused.is_err(), "{deleted}: {refused:?}");
        }
        // Another directory in its place is not ours.
        fs::create_dir_all(directory.path().join("segments")).unwrap();
        if deleted.is_empty() {
            let next = wal.heads(stream(1)).unwrap().accepted + 1;
            assert!(
                wal.append(batch(stream(1), next, 1), Class::Synced)
                    .is_err()
            );
            let there = fs::read_dir(directory.path().join("segments")).unwrap();
            assert_eq!(there.count(), 0);
        } else {
            // The folder is back: what waited is written into it.
            assert_eq!(wal.sync_all(), Ok(true));
            assert!(
                fs::read_dir(directory.path().join("segments"))
                    .unwrap()
                    .count()
                    > 0
            );
        }
        closed_in_time(wal);
    }
}

#[test]
fn a_segment_deleted_while_it_is_written_loses_nothing_that_was_acknowledged_later() {
    let directory = tempfile::tempdir().unwrap();
    let wal = opened(directory.path());
    append(&wal, stream(1), 0, 1);
    for entry in fs::read_dir(directory.path().join("segments")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let unknown = wal.append(batch(stream(1), 1, 1), Class::Synced);
    assert!(
        matches!(unknown, Err(AppendError::Unknown { .. })),
        "{unknown:?}"
    );
    assert_eq!(wal.sync(stream(1), 1), Ok(1));
    append(&wal, stream(1), 2, 1);
    closed_in_time(wal);
    let (wal, recovered) = Wal::open(directory.path(), Options::default()).unwrap();
    // The store may still have the body of the first one.
    assert!(seqs(&wal, stream(1)).ends_with(&[1, 2]));
    assert_eq!(recovered.state, State::Truncated, "{recovered:?}");
}

#[test]
fn a_directory_that_cannot_be_written_is_read() {
    let directory = tempfile::tempdir().unwrap();
    let wal = opened(directory.path());
    append(&wal, stream(1), 0, 3);
    closed_in_time(wal);
    let Some(_mounted) = Mount::read_only(directory.path()) else {
        println!("not shown: nothing can be mounted here");
        return;
    };
    let (wal, recovered) = Wal::open(directory.path(), Options::default()).unwrap();
    assert!(wal.is_read_only());
    assert_eq!(recovered.state, State::Clean, "{recovered:?}");
    assert_eq!(seqs(&wal, stream(1)), [0, 1, 2]);
    for class in [Class::Synced, Class::Ordered] {
        let refused = wal.append(batch(stream(1), 3, 1), class);
        assert_eq!(refused, Err(AppendError::ReadOnly));
    }
    assert_eq!(wal.verify().unwrap().state, State::Clean);
    wal.close().unwrap();
}

#[test]
fn a_directory_that_is_absent_and_cannot_be_made_is_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let refused = Wal::open(&file.path().join("below"), Options::default());
    assert!(matches!(refused, Err(OpenError::Io { .. })));
}

#[test]
fn a_real_disk_that_is_full_loses_nothing_and_goes_on_when_there_is_room() {
    let directory = tempfile::tempdir().unwrap();
    let Some(_mounted) = Mount::small(directory.path(), "size=1m") else {
        println!("not shown: nothing can be mounted here");
        return;
    };
    let data = directory.path().join("data");
    let ballast = directory.path().join("ballast");
    let (wal, _) = Wal::open(&data, Options::default().segment_size(64 << 10)).unwrap();
    append(&wal, stream(1), 0, 5);
    fill(&ballast);
    let (mut acknowledged, mut refusals) = (4, 0);
    for round in 0..3 {
        for _ in 0..400 {
            let next = wal.heads(stream(1)).unwrap().accepted + 1;
            match wal.append(batch(stream(1), next, 4), Class::Synced) {
                Ok(receipt) => acknowledged = receipt.last,
                Err(
                    AppendError::Io { .. }
                    | AppendError::Unknown { .. }
                    | AppendError::NotDurable { .. },
                ) => {
                    refusals += 1;
                    break;
                }
                Err(other) => panic!("{other:?}"),
            }
        }
        assert!(refusals > round, "it never became full");
        let head = wal.heads(stream(1)).unwrap();
        assert!(head.durable >= Some(acknowledged));
        assert_eq!(
            seqs(&wal, stream(1)),
            (0..=head.accepted).collect::<Vec<_>>()
        );
        // A second process finds all that was acknowledged while the disk is still full.
        let reader = recount_wal::Reader::open(&data).unwrap();
        assert!(reader.heads(stream(1)).unwrap().accepted >= acknowledged);
        fs::remove_file(&ballast).unwrap();
        let next = wal.heads(stream(1)).unwrap().accepted + 1;
        append(&wal, stream(1), next, 1);
        acknowledged = next;
        fill(&ballast);
    }
    println!("a real disk was full: refusals={refusals} acknowledged={acknowledged}");
    closed_in_time(wal);
    // It opens while it is full, and reads.
    let (wal, recovered) = Wal::open(&data, Options::default()).unwrap();
    assert_eq!(recovered.state, State::Clean, "{recovered:?}");
    assert!(seqs(&wal, stream(1)).len() as u64 > acknowledged);
    closed_in_time(wal);
}

/// Takes what room is left, to the last byte.
fn fill(path: &Path) {
    use std::io::Write;
    let mut file = fs::File::create(path).unwrap();
    for size in [4096, 512, 1] {
        let piece = vec![7; size];
        while file.write_all(&piece).is_ok() {}
    }
}

/// A mount that ends with it.
struct Mount(std::path::PathBuf);

impl Mount {
    /// A small file system in memory; none when this process may not mount.
    fn small(at: &Path, size: &str) -> Option<Mount> {
        mount(&["-t", "tmpfs", "-o", size, "tmpfs"], at)
    }

    /// The directory itself, mounted over itself without the right to write.
    fn read_only(at: &Path) -> Option<Mount> {
        let from = at.to_str()?;
        let mounted = mount(&["--bind", from], at)?;
        let done = run(&["-o", "remount,bind,ro"], at);
        done.then_some(mounted)
    }
}

fn mount(options: &[&str], at: &Path) -> Option<Mount> {
    run(options, at).then(|| Mount(at.to_path_buf()))
}

fn run(options: &[&str], at: &Path) -> bool {
    let status = Command::new("mount")
        .args(options)
        .arg(at)
        .stderr(std::process::Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}
