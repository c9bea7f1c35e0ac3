//! Sessions relived: no refusal that could have been prevented, no loop, every request valid, nothing changed without a cause.

use crate::sessions::{all, long, named};
use recount_tests::simulation::{HEAD, Outcome, Recording, Setup, Summary, run};
use recount_tests::validator::Wire;

const PRESETS: [&str; 2] = ["claude-code", "five-layer"];
const WINDOWS: [u64; 4] = [32_000, 64_000, 100_000, 200_000];

/// Relives, prints the row, collects what must not be.
fn relive(recording: &Recording, setup: &Setup, failures: &mut Vec<String>) -> Option<Outcome> {
    let began = std::time::Instant::now();
    let place = format!("{} {} {}", recording.name, setup.preset, setup.window);
    match run(recording, setup) {
        Ok(outcome) => {
            println!("{outcome}");
            eprintln!(
                "{place}: {:?}, tiers {:?}, summaries {:?}, refusals {:?}, passed over {}, unasked {}, told {}",
                began.elapsed(),
                outcome.tally.tiers,
                outcome.tally.outcomes,
                outcome.tally.overflows,
                outcome.tally.passed_over,
                outcome.tally.unasked,
                outcome.tally.told
            );
            failures.extend(
                outcome
                    .tally
                    .defects
                    .iter()
                    .map(|why| format!("{place}: {why}")),
            );
            Some(outcome)
        }
        Err(why) => {
            failures.push(format!("{place}: {why}"));
            None
        }
    }
}

fn check(failures: &[String]) {
    assert!(
        failures.is_empty(),
        "{} defects:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

#[test]
fn stretches_of_sessions_are_relived() {
    let mut failures = Vec::new();
    println!("{HEAD}");
    for (name, steps, windows) in [
        ("fa812bfe", 140, [32_000, 64_000]),
        ("1746716292678", 60, [32_000, 100_000]),
    ] {
        let Some(recording) = named(name) else { return };
        let recording = recording.shortened(steps);
        for preset in PRESETS {
            for window in windows {
                let setup = Setup::new(preset, window, Wire::Anthropic, &recording.name);
                relive(&recording, &setup, &mut failures);
            }
        }
        let setup = Setup::new("claude-code", 64_000, Wire::Chat, &recording.name);
        relive(&recording, &setup, &mut failures);
    }
    check(&failures);
}

#[test]
fn every_long_session_is_relived_under_each_preset_in_each_window() {
    let Some(part) = long() else {
        eprintln!("left out: RECOUNT_SIMULATION=long relives every long session");
        return;
    };
    let mut failures = Vec::new();
    let mut summary = Summary::default();
    println!("{HEAD}");
    for recording in all(part) {
        for preset in PRESETS {
            for window in WINDOWS {
                for wire in [Wire::Anthropic, Wire::Chat] {
                    if wire == Wire::Chat && window != 64_000 {
                        continue;
                    }
                    let setup = Setup::new(preset, window, wire, &recording.name);
                    if let Some(outcome) = relive(&recording, &setup, &mut failures) {
                        summary.add(&outcome);
                    }
                }
            }
        }
    }
    println!("{summary}");
    check(&failures);
}
