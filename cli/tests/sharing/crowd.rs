//! Twenty processes on one directory and one session, while whoever holds the lock is killed at random.
//!
//! - Every acknowledged event is there once, in the order in which its process sent it.
//! - Of two appends that expect the same head one wins; the other is a conflict and leaves nothing.
//! - `RECOUNT_CROWD` says how many events each process appends (default 10).

use super::support::{Chance, Rpc, ok};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const PROCESSES: usize = 20;

fn rounds() -> usize {
    let asked = std::env::var("RECOUNT_CROWD");
    asked.ok().and_then(|text| text.parse().ok()).unwrap_or(10)
}

fn text(process: usize, number: usize) -> String {
    format!("p{process} n{number}.")
}

fn event(process: usize, number: usize) -> Value {
    json!({"type": "message", "role": "user", "content": text(process, number)})
}

/// What happened, counted by everybody.
#[derive(Default)]
struct Census {
    kills: AtomicU32,
    restarts: AtomicU32,
    unknown: AtomicU32,
    conflicts: AtomicU32,
}

/// One answer; none when the process died over the request.
fn answer(rpc: &mut Rpc, method: &str, params: Value) -> Option<Value> {
    let id = rpc.ask(method, params)?;
    loop {
        let answer = rpc.answer(Duration::from_secs(120))?;
        if answer["id"] == id {
            return Some(answer);
        }
    }
}

/// Appends until it is acknowledged, with the same key each time, in a new process when its own was killed.
fn append(data: &Path, rpc: &mut Rpc, census: &Census, process: usize, number: usize) -> u64 {
    let params = json!({"session": "s", "events": [event(process, number)], "key": format!("{process}/{number}")});
    for _ in 0..200 {
        match answer(rpc, "v1.session.append", params.clone()) {
            Some(answer) if answer["result"].is_object() => {
                let receipt = &answer["result"];
                assert!(
                    receipt["durable"].as_u64() >= receipt["first"].as_u64(),
                    "{answer}"
                );
                return receipt["first"].as_u64().expect("a position");
            }
            Some(answer) => {
                let kind = answer["error"]["data"]["kind"].as_str().unwrap_or_default();
                assert!(
                    ["unknown", "busy", "locked", "cancelled"].contains(&kind),
                    "{answer}"
                );
                census.unknown.fetch_add(1, Ordering::Relaxed);
            }
            None => {
                census.restarts.fetch_add(1, Ordering::Relaxed);
                *rpc = Rpc::start(data);
            }
        }
    }
    panic!("an append was never acknowledged: process={process} number={number}")
}

/// The process that the lock file names.
fn holder(data: &Path) -> Option<String> {
    let text = std::fs::read_to_string(data.join("lock")).ok()?;
    let pid = text.strip_prefix("pid=")?.split(' ').next()?;
    Some(pid.to_owned())
}

/// Kills the holder now and then until everybody is done; only processes that this test started are ever named there.
fn kill_holders(data: &Path, over: &AtomicBool, census: &Census, started: &Mutex<Vec<u32>>) {
    let mut chance = Chance::new(7);
    while !over.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(40 + chance.below(150)));
        let Some(pid) = holder(data) else { continue };
        let ours = started
            .lock()
            .is_ok_and(|all| all.iter().any(|id| id.to_string() == pid));
        if ours && !over.load(Ordering::Relaxed) {
            let killed = std::process::Command::new("kill")
                .args(["-KILL", &pid])
                .status();
            census.kills.fetch_add(
                u32::from(killed.is_ok_and(|status| status.success())),
                Ordering::Relaxed,
            );
        }
    }
}

#[test]
fn twenty_processes_append_to_one_session_while_holders_are_killed() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = Arc::new(scratch.path().to_path_buf());
    Rpc::start(&data).result("v1.session.open", json!({"session": "s", "create": true}));
    let (census, over, started) = (
        Census::default(),
        AtomicBool::new(false),
        Mutex::new(Vec::new()),
    );
    let work = |process: usize| {
        let mut rpc = Rpc::start(&data);
        let mut mine = Vec::new();
        for number in 0..rounds() {
            if let Ok(mut all) = started.lock() {
                all.push(rpc.id());
            }
            let first = append(&data, &mut rpc, &census, process, number);
            mine.push(((process, number), first));
        }
        mine
    };
    let receipts: BTreeMap<(usize, usize), u64> = std::thread::scope(|scope| {
        let killer = scope.spawn(|| kill_holders(&data, &over, &census, &started));
        let work = &work;
        let threads: Vec<_> = (0..PROCESSES)
            .map(|process| scope.spawn(move || work(process)))
            .collect();
        let all = threads
            .into_iter()
            .flat_map(|thread| thread.join().expect("a thread ends"))
            .collect();
        over.store(true, Ordering::Relaxed);
        killer.join().expect("the killer ends");
        all
    });
    let mut rpc = Rpc::start(&data);
    let there = positions(&mut rpc);
    for (of, seq) in &receipts {
        assert_eq!(
            there.get(&text(of.0, of.1)),
            Some(&vec![*seq]),
            "{of:?} is there once, where its receipt says"
        );
    }
    assert_eq!(there.len(), PROCESSES * rounds());
    for process in 0..PROCESSES {
        let order: Vec<u64> = (0..rounds())
            .filter_map(|number| receipts.get(&(process, number)).copied())
            .collect();
        assert!(order.is_sorted(), "process {process}: {order:?}");
    }
    assert!(rpc.close().success());
    let verified = ok(&data, &["verify"]);
    assert!(
        !verified.contains("damaged") && !verified.contains("truncated"),
        "{verified}"
    );
    println!(
        "twenty processes: acknowledged={} holders_killed={} restarts={} asked_again={}",
        receipts.len(),
        census.kills.load(Ordering::Relaxed),
        census.restarts.load(Ordering::Relaxed),
        census.unknown.load(Ordering::Relaxed),
    );
    assert!(
        census.kills.load(Ordering::Relaxed) > 0,
        "no holder was ever killed"
    );
}

/// Where each text stands.
fn positions(rpc: &mut Rpc) -> BTreeMap<String, Vec<u64>> {
    let mut there: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut from = json!(0);
    while !from.is_null() {
        let log = rpc.result(
            "v1.session.log",
            json!({"session": "s", "from": from, "limit": 500}),
        );
        for event in log["events"].as_array().expect("events") {
            if let (Some(text), Some(seq)) = (event["content"].as_str(), event["seq"].as_u64()) {
                there.entry(text.to_owned()).or_default().push(seq);
            }
        }
        from = log["next"].clone();
    }
    there
}

#[test]
fn of_those_who_expect_the_same_head_one_wins() {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let data = scratch.path();
    Rpc::start(data).result("v1.session.open", json!({"session": "s", "create": true}));
    let census = Census::default();
    let work = |process: usize| {
        let mut rpc = Rpc::start(data);
        let mut won = 0;
        for number in 0..8 {
            let head = rpc.result("v1.session.status", json!({"session": "s"}))["head"].clone();
            let params =
                json!({"session": "s", "events": [event(process, number)], "expect": head});
            let answer = rpc.call("v1.session.append", params);
            if let Some(first) = answer["result"]["first"].as_u64() {
                assert_eq!(Some(first), head.as_u64().map(|head| head + 1), "{answer}");
                won += 1;
            } else {
                assert_eq!(answer["error"]["data"]["kind"], "conflict", "{answer}");
                census.conflicts.fetch_add(1, Ordering::Relaxed);
            }
        }
        // Ends as a host does: a clean hand-over must leave nobody in doubt.
        assert!(rpc.close().success());
        won
    };
    let wins: usize = std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..6)
            .map(|process| scope.spawn(move || work(process)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a thread ends"))
            .sum()
    });
    let conflicts = census.conflicts.load(Ordering::Relaxed) as usize;
    println!("six processes that expect heads: won={wins} conflicts={conflicts}");
    assert_eq!(wins + conflicts, 48);
    let there = positions(&mut Rpc::start(data));
    assert_eq!(there.values().map(Vec::len).sum::<usize>(), wins);
}
