//! Kills at random moments: while sessions are appended to, sealed, compressed, recovered, closed, imported, shared; while the store is rebuilt.
//!
//! - No acknowledged event is lost, none is there twice, none was invented; what was not acknowledged is repeated with its key and is then
//!   there once. After each round everything verifies.
//! - The phases take turns, each with its own kind of kill. `RECOUNT_KILLS` says how many rounds (default 18), `RECOUNT_SEED` which moments.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says so by failing"
)]

#[path = "../support/mod.rs"]
mod support;

mod phases;
mod world;

use phases::PHASES;
use world::World;

fn environment(name: &str, default: u64) -> u64 {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

#[test]
fn acknowledged_events_survive_kills() {
    let rounds = environment("RECOUNT_KILLS", 18);
    let seed = environment("RECOUNT_SEED", 20_261_129);
    let mut world = World::new(seed);
    for round in 0..rounds {
        let at = usize::try_from(round).unwrap_or(0) % PHASES.len();
        let (name, phase) = PHASES[at];
        world.enter(name);
        phase(&mut world);
        world.check();
        if (round + 1) % 100 == 0 {
            println!("{} of {rounds} rounds held", round + 1);
        }
    }
    world.tell(rounds, seed);
    assert!(
        world.acknowledged() > 0,
        "nothing was acknowledged at all: the test tested nothing"
    );
}
