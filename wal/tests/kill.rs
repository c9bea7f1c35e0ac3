//! A process that is killed while it appends: this binary runs itself again as that process.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use common::*;
use recount_wal::{Class, Options, State, Wal};

const DIRECTORY: &str = "RECOUNT_WAL_KILL_DIRECTORY";

/// The part that is killed: appends for ever and says what was acknowledged. Does nothing in an ordinary run.
#[test]
fn appends_until_it_is_killed() {
    let Ok(directory) = std::env::var(DIRECTORY) else {
        return;
    };
    let (wal, _) = Wal::open(
        Path::new(&directory),
        Options::default().segment_size(1 << 14),
    )
    .unwrap();
    for step in 0.. {
        let id = stream((step % 3) as u8);
        let first = wal.heads(id).map_or(0, |heads| heads.accepted + 1);
        let class = if step % 4 == 0 {
            Class::Ordered
        } else {
            Class::Synced
        };
        let receipt = wal.append(batch(id, first, 1 + step % 3), class).unwrap();
        if class == Class::Synced {
            println!("acknowledged {} {}", step % 3, receipt.last);
        }
    }
}

#[test]
fn what_was_acknowledged_survives_a_kill() {
    let directory = tempfile::tempdir().unwrap();
    let mut acknowledged = [None; 3];
    for round in 0..6 {
        let lines = 5 + 37 * round;
        killed_after(directory.path(), lines, &mut acknowledged);
        let (wal, recovered) = Wal::open(directory.path(), Options::default()).unwrap();
        assert!(recovered.state <= State::Torn, "{recovered:?}");
        for number in 0..3_u8 {
            let there = seqs(&wal, stream(number));
            assert_eq!(there, (0..there.len() as u64).collect::<Vec<_>>());
            assert!(
                there.last().copied() >= acknowledged[usize::from(number)],
                "round={round}"
            );
        }
        assert!(wal.verify().unwrap().state <= State::Torn);
        wal.close().unwrap();
    }
}

fn killed_after(directory: &Path, lines: usize, acknowledged: &mut [Option<u64>; 3]) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "appends_until_it_is_killed", "--nocapture"])
        .env(DIRECTORY, directory)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    let mut heard = 0;
    for line in output.lines().map_while(Result::ok) {
        // The harness writes on the same lines.
        let Some((_, fact)) = line.split_once("acknowledged ") else {
            continue;
        };
        let mut numbers = fact
            .split(' ')
            .map_while(|number| number.trim().parse::<u64>().ok());
        let (Some(stream), Some(seq)) = (numbers.next(), numbers.next()) else {
            continue;
        };
        acknowledged[stream as usize] = Some(seq);
        heard += 1;
        if heard == lines {
            // On unix this is SIGKILL; what it says between now and its end is heard below.
            child.kill().unwrap();
        }
    }
    assert!(heard >= lines, "heard={heard}");
    child.wait().unwrap();
}
