//! What a session's length costs; small numbers in an ordinary run, `RECOUNT_EVENTS` for more.

use crate::host::*;
use recount_events::*;
use std::time::Instant;

#[test]
fn a_long_session_stays_quick() {
    let events: u64 = std::env::var("RECOUNT_EVENTS")
        .ok()
        .and_then(|events| events.parse().ok())
        .unwrap_or(2_000);
    let mut host = Host::new();
    let start = Instant::now();
    let before = resident();
    for turn in 0..events / 5 {
        let id = format!("t{turn}");
        host.user("words");
        host.answer(&[&id]);
        host.result(&id, "r").unwrap();
        host.answer(&[]);
        host.usage(&id, 1, 1).unwrap();
        if turn == events / 10 {
            let half = host.state.head().unwrap().0 / 2 / 5 * 5;
            lap("compact", || host.keep_from(half + 1));
        }
    }
    println!(
        "build {:?}, {} bytes an event",
        start.elapsed(),
        (resident() - before) / events
    );
    let head = host.state.head().unwrap().0;
    let fold = host
        .log
        .iter()
        .position(|event| matches!(event.body, Body::CompactCommit(_)))
        .unwrap() as u64;
    lap("undo the compaction", || host.undo(fold));
    lap("undo the undo", || host.undo(host.state.head().unwrap().0));
    lap("rollback far", || host.rollback(Target::Seq(Seq(head / 3))));
    lap("undo the rollback", || {
        host.undo(host.state.head().unwrap().0)
    });
    lap("rollback near", || host.rollback(Target::Turns(1)));
    let state = lap("replay", || Ok::<_, ()>(host.replayed()));
    assert_eq!(state.head(), host.state.head());
}

fn lap<T, E: std::fmt::Debug>(what: &str, mut act: impl FnMut() -> Result<T, E>) -> T {
    let start = Instant::now();
    let done = act().unwrap();
    println!("{what}: {:?}", start.elapsed());
    done
}

/// Bytes of memory of this process; 0 where the system does not say.
fn resident() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .unwrap_or(0)
        * 4096
}
