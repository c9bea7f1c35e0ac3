//! Forty threads on one session, through the engine and through several holders of one directory.

use crate::common::{Fixture, says};
use recount::share::Handle;
use recount::{ErrorKind, Options, api};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};

const THREADS: usize = 40;
const EACH: usize = 6;

fn text(thread: usize, number: usize) -> String {
    format!("t{thread} n{number}.")
}

/// Every text is there once, where its receipt says, and each thread's in its order.
fn whole(log: &[Box<RawValue>], receipts: &BTreeMap<(usize, usize), u64>) {
    let place = |event: &str| {
        let (_, rest) = event.split_once("\"seq\":").unwrap();
        rest.split(',').next().unwrap().parse::<u64>().unwrap()
    };
    for (of, seq) in receipts {
        let quoted = format!("\"{}\"", text(of.0, of.1));
        let there: Vec<u64> = log
            .iter()
            .filter(|event| event.get().contains(&quoted))
            .map(|event| place(event.get()))
            .collect();
        assert_eq!(there, [*seq], "{of:?}");
    }
    for thread in 0..THREADS {
        let order: Vec<u64> = receipts
            .range((thread, 0)..=(thread, EACH))
            .map(|(_, seq)| *seq)
            .collect();
        assert!(order.is_sorted(), "thread {thread}: {order:?}");
    }
}

#[test]
fn forty_threads_on_one_session_lose_nothing_and_conflicts_are_right() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    let conflicts = AtomicU32::new(0);
    let work = |thread: usize| {
        let mut mine = Vec::new();
        for number in 0..EACH {
            loop {
                // Half of them insist on the head that they saw.
                let expect = thread
                    .is_multiple_of(2)
                    .then(|| session.status().unwrap().head);
                let ask = api::Append {
                    events: vec![RawValue::from_string(says(&text(thread, number))).unwrap()],
                    expect,
                    ..Default::default()
                };
                match session.append_with(ask) {
                    Ok(receipt) => {
                        assert!(expect.is_none_or(|head| head + 1 == receipt.first));
                        mine.push(((thread, number), receipt.first));
                        break;
                    }
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
                        conflicts.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        }
        mine
    };
    let receipts = run(&work);
    let log = session.log(0, 10_000).unwrap();
    whole(&log.events, &receipts);
    println!(
        "forty threads: acknowledged={} conflicts={conflicts:?}",
        receipts.len()
    );
    assert_eq!(engine.verify().unwrap().state, api::State::Clean);
}

#[test]
fn forty_threads_through_holders_that_close_lose_nothing() {
    let fixture = Fixture::new();
    let open = || Handle::open(fixture.path(), Options::default()).unwrap();
    let holder = open();
    holder
        .call("v1.session.open", r#"{"session":"s","create":true}"#)
        .unwrap();
    let clients: Vec<Handle> = (0..4).map(|_| open()).collect();
    let holder = std::sync::Mutex::new(Some(holder));
    let work = |thread: usize| {
        let handle = clients[thread % clients.len()].clone();
        let mut mine = Vec::new();
        for number in 0..EACH {
            if (thread, number) == (7, EACH / 2) {
                // The holder closes in the middle of it all: one of the clients takes over.
                drop(holder.lock().unwrap().take());
            }
            let event = says(&text(thread, number));
            let ask = format!(r#"{{"session":"s","events":[{event}]}}"#);
            // Without a key: a hand-over that is clean leaves nobody in doubt.
            let receipt = handle.call("v1.session.append", &ask).unwrap();
            let receipt: api::Appended = serde_json::from_str(receipt.get()).unwrap();
            mine.push(((thread, number), receipt.first));
        }
        mine
    };
    let receipts = run(&work);
    let answer = clients[0]
        .call("v1.session.log", r#"{"session":"s","limit":10000}"#)
        .unwrap();
    let log: serde_json::Value = serde_json::from_str(answer.get()).unwrap();
    let events: Vec<Box<RawValue>> = log["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| RawValue::from_string(event.to_string()).unwrap())
        .collect();
    let places: BTreeMap<&str, u64> = log["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|event| Some((event["content"].as_str()?, event["seq"].as_u64()?)))
        .collect();
    assert_eq!(events.len(), 1 + receipts.len());
    for (of, seq) in &receipts {
        assert_eq!(places.get(text(of.0, of.1).as_str()), Some(seq));
    }
}

fn run(
    work: &(dyn Fn(usize) -> Vec<((usize, usize), u64)> + Sync),
) -> BTreeMap<(usize, usize), u64> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    })
}
