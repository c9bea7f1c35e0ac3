//! The same run with the engine killed at random points, in the middle of calls too: the same prompts, to the byte, and the same end.

use crate::sessions::{all, long, named};
use recount_tests::simulation::{Kills, Recording, Setup, run_killed};
use recount_tests::validator::Wire;

/// Runs twice, once undisturbed, and compares.
fn compare(recording: &Recording, setup: &Setup, count: u64) {
    let place = format!("{} {} {}", recording.name, setup.preset, setup.window);
    let spills = tempfile::tempdir().unwrap();
    let setup = &Setup {
        spills: spills.path().to_str().map(str::to_owned),
        keep: true,
        ..setup.clone()
    };
    let whole = run_killed(recording, setup, None).unwrap_or_else(|why| panic!("{place}: {why}"));
    let one_in = (whole.calls * 3 / (count * 4).max(1)).max(1);
    let kills = Kills::seeded(&place, count, one_in);
    let killed =
        run_killed(recording, setup, Some(kills)).unwrap_or_else(|why| panic!("{place}: {why}"));
    println!(
        "{place}: {} kills, {} of them in the middle of a call",
        killed.killed.0, killed.killed.1
    );
    let parted = whole
        .tally
        .bodies
        .iter()
        .zip(&killed.tally.bodies)
        .position(|(whole, killed)| whole != killed);
    if let Some(at) = parted {
        let (a, b) = (&whole.tally.texts[at], &killed.tally.texts[at]);
        let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        let near = |text: &String| {
            let from = same.saturating_sub(80);
            String::from_utf8_lossy(&text.as_bytes()[from..(same + 160).min(text.len())])
                .into_owned()
        };
        panic!(
            "{place}: the prompts part at {at} of {}, byte {same}:\n{}\n{}\n{:?}",
            whole.tally.bodies.len(),
            near(a),
            near(b),
            killed.tally.defects
        );
    }
    assert_eq!(
        whole.tally.bodies.len(),
        killed.tally.bodies.len(),
        "{place}"
    );
    assert_eq!(whole.last, killed.last, "{place}");
    assert_eq!(killed.tally.defects, whole.tally.defects, "{place}");
    assert!(
        killed.killed.0 * 10 >= count.min(whole.calls) * 8,
        "{place}: only {} kills",
        killed.killed.0
    );
}

#[test]
fn a_stretch_killed_and_resumed_ends_in_the_same_bytes() {
    let Some(recording) = named("fa812bfe") else {
        return;
    };
    let recording = recording.shortened(70);
    let setup = Setup::new("claude-code", 32_000, Wire::Anthropic, "killed");
    compare(&recording, &setup, 20);
}

#[test]
fn long_sessions_killed_at_two_hundred_points_end_in_the_same_bytes() {
    let Some(part) = long() else {
        eprintln!("left out: RECOUNT_SIMULATION=long kills every long session at 200 points");
        return;
    };
    for recording in all(part) {
        for (preset, window) in [("claude-code", 32_000), ("five-layer", 64_000)] {
            let setup = Setup::new(preset, window, Wire::Anthropic, "killed");
            compare(&recording, &setup, 200);
        }
    }
}
