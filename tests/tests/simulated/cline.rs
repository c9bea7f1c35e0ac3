//! Sessions relived under the preset `cline`: every request is valid, every change has its event, kills change nothing. Cline's rules wait for the
//! provider to say that a prompt was too full, so refusals that could have been prevented are no defect of theirs: they are counted.

use crate::sessions::named;
use recount_tests::simulation::{HEAD, Kills, Setup, run, run_killed};
use recount_tests::validator::Wire;

#[test]
fn k1_k5_stretches_of_sessions_are_relived_by_clines_rules() {
    println!("{HEAD}");
    let mut decided = 0;
    for (name, steps, window) in [
        ("fa812bfe", 140, 32_000),
        ("fa812bfe", 140, 64_000),
        ("1746716292678", 110, 32_000),
        ("1746716292678", 110, 64_000),
    ] {
        let Some(recording) = named(name) else { return };
        let recording = recording.shortened(steps);
        for wire in [Wire::Anthropic, Wire::Chat] {
            let setup = Setup::new("cline", window, wire, &recording.name);
            let place = format!("{name} {window} {wire:?}");
            let outcome = run(&recording, &setup).unwrap_or_else(|why| panic!("{place}: {why}"));
            println!("{outcome}");
            println!(
                "{place}: preventable {}, tiers {:?}, refusals {:?}",
                outcome.tally.preventable, outcome.tally.tiers, outcome.tally.overflows
            );
            let defects = outcome.tally.defects.iter();
            let real: Vec<&String> = defects
                .filter(|why| !why.contains("could have been prevented"))
                .collect();
            assert!(real.is_empty(), "{place}: {real:#?}");
            decided += outcome
                .tally
                .tiers
                .get("cline")
                .map_or(0, |(times, _)| *times);
        }
    }
    assert!(decided >= 8, "{decided} decisions only: nothing was seen");
}

#[test]
fn k2_a_stretch_killed_and_resumed_ends_in_the_same_bytes() {
    let Some(recording) = named("1746716292678") else {
        return;
    };
    let recording = recording.shortened(60);
    let setup = Setup {
        keep: true,
        ..Setup::new("cline", 32_000, Wire::Anthropic, "killed")
    };
    let whole = run_killed(&recording, &setup, None).unwrap();
    assert!(whole.tally.tiers.contains_key("cline"));
    let kills = Kills::seeded("cline", 10, (whole.calls * 3 / 40).max(1));
    let killed = run_killed(&recording, &setup, Some(kills)).unwrap();
    assert!(killed.killed.0 >= 8, "{:?}", killed.killed);
    assert_eq!(whole.tally.bodies, killed.tally.bodies);
    assert_eq!(whole.last, killed.last);
}
