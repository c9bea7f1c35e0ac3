//! What is under way when a process is killed.

use crate::support::Rpc;
use crate::world::{End, SESSIONS, UnderWay, World, logged};
use serde_json::json;
use std::time::Duration;

/// A phase and what it does.
pub(crate) type Phase = (&'static str, fn(&mut World));

/// They take turns.
pub(crate) const PHASES: &[Phase] = &[
    ("append", append),
    ("recovery", recovery),
    ("holder", holder),
    ("rebuild", rebuild),
    ("import", import),
    ("close", close),
    ("compression", compression),
    ("terminate", terminate),
    ("client", client),
];

const ALL: [usize; SESSIONS] = [0, 1, 2, 3];

/// All sessions through one process.
fn append(world: &mut World) {
    let mut rpc = world.start();
    answers(&mut rpc);
    let millis = 5 + world.chance.below(120);
    let mut under_way = world.append_for(&mut rpc, &ALL, millis);
    world.end(&mut rpc, &mut under_way, End::Kill);
}

/// Killed while it appends; then while it recovers from that, and again.
fn recovery(world: &mut World) {
    append(world);
    for _ in 0..4 {
        let mut rpc = world.start();
        // A start takes some ten milliseconds.
        world.wait(30_000);
        world.end(&mut rpc, &mut UnderWay::new(), End::Kill);
    }
}

/// The holder is killed under its client, which goes on.
fn holder(world: &mut World) {
    let mut holder = world.start();
    answers(&mut holder);
    let mut client = world.start();
    answers(&mut client);
    let millis = 5 + world.chance.below(60);
    let mut theirs = UnderWay::new();
    world.send(&mut client, 2, &mut theirs);
    world.send(&mut client, 3, &mut theirs);
    let mut own = world.append_for(&mut holder, &[0, 1], millis);
    world.end(&mut holder, &mut own, End::Kill);
    // What the client had asked carries keys: it becomes the holder and answers.
    let mut under_way = world.append_for(&mut client, &[0, 1], 5 + millis / 2);
    under_way.extend(theirs);
    world.end(&mut client, &mut under_way, End::Kill);
}

/// A client is killed; its holder goes on.
fn client(world: &mut World) {
    let mut holder = world.start();
    answers(&mut holder);
    let mut client = world.start();
    answers(&mut client);
    let millis = 5 + world.chance.below(60);
    let mut under_way = world.append_for(&mut client, &[0, 1], millis);
    world.end(&mut client, &mut under_way, End::Kill);
    let mut under_way = world.append_for(&mut holder, &[2, 3], millis);
    world.end(&mut holder, &mut under_way, End::Kill);
}

/// The store is gone, and what builds it again is killed.
fn rebuild(world: &mut World) {
    let _ = std::fs::remove_dir_all(world.data().join("store"));
    for _ in 0..4 {
        let mut rpc = world.start();
        world.wait(40_000);
        world.end(&mut rpc, &mut UnderWay::new(), End::Kill);
    }
}

/// A large import is killed, and made again: then all of it is there, once.
fn import(world: &mut World) {
    let (path, name, messages) = world.transcript();
    let ask = json!({"path": path, "name": name});
    for _ in 0..3 {
        let mut rpc = world.start();
        answers(&mut rpc);
        rpc.ask("v1.import", ask.clone());
        world.wait(60_000);
        world.end(&mut rpc, &mut UnderWay::new(), End::Kill);
    }
    let mut rpc = world.start();
    rpc.result("v1.import", ask);
    world.end(&mut rpc, &mut UnderWay::new(), End::Kill);
    let mut rpc = world.start();
    let texts = logged(&mut rpc, &name);
    assert_eq!(
        texts.len(),
        messages,
        "an import that was answered is there"
    );
    for (turn, text) in texts.iter().enumerate() {
        assert!(text.starts_with(&format!("turn {turn} ")), "{text}");
    }
}

/// The host goes away, and the process is killed while it closes.
fn close(world: &mut World) {
    for _ in 0..3 {
        let mut rpc = world.start();
        answers(&mut rpc);
        let mut under_way = world.append_for(&mut rpc, &ALL, 20);
        rpc.hang_up();
        world.wait(8_000);
        world.end(&mut rpc, &mut under_way, End::Kill);
    }
}

/// Many segments are sealed, and it is killed while they are compressed; then again at the next start, which goes on with it.
fn compression(world: &mut World) {
    let mut rpc = world.start();
    let mut under_way = world.append_for(&mut rpc, &ALL, 150);
    world.wait(20_000);
    world.end(&mut rpc, &mut under_way, End::Kill);
    for _ in 0..2 {
        let mut rpc = world.start();
        answers(&mut rpc);
        world.wait(20_000);
        world.end(&mut rpc, &mut UnderWay::new(), End::Kill);
    }
}

/// Asked to end instead of killed.
fn terminate(world: &mut World) {
    let mut rpc = world.start();
    answers(&mut rpc);
    let millis = 5 + world.chance.below(60);
    let mut under_way = world.append_for(&mut rpc, &ALL, millis);
    world.end(&mut rpc, &mut under_way, End::Terminate);
}

/// Waits until a process has the directory, or reaches who has it.
fn answers(rpc: &mut Rpc) {
    rpc.ask("v1.hello", json!({}));
    assert!(
        rpc.answer(Duration::from_secs(60)).is_some(),
        "a process that was started answers"
    );
}
