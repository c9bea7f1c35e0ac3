//! The census of law 13: the generator produces every kind, every pair of neighbouring kinds, and every refusal.
//!
//! - Programs come from a fixed seed, so that the census is the same on every machine; `cargo test census -- --nocapture` prints it.

use crate::run::Run;
use recount_tests::generate::{Census, Given, KINDS, NEVER_NEIGHBOURS, Op};
use recount_tests::system::System;
use serde_json::json;

/// Rules that only a log that exists already can break, or that need a damaged one.
const NOT_LIVE: [&str; 3] = ["Gap", "Unreadable", "Resolved"];

/// Rules that no JSON of a host can break, since reading it refuses first.
const UNREADABLE: [&str; 1] = ["CallMissing"];

/// Every rule of the fold, as `Problem` names them.
const RULES: [&str; 42] = [
    "Future",
    "BeforeStart",
    "OffTimeline",
    "Undone",
    "NotUndoable",
    "RestsOn",
    "WentOn",
    "NothingThatOld",
    "FewerTurns",
    "NoTurns",
    "NoCheckpoint",
    "NoCause",
    "NoCall",
    "NotACall",
    "CallElsewhere",
    "CallClosed",
    "RangeMissing",
    "MarkerForbidden",
    "RangeReversed",
    "NothingVisible",
    "EndNotShown",
    "CutsFold",
    "SplitsUnit",
    "OpenCall",
    "SummaryMissing",
    "Empty",
    "Repeated",
    "NotShown",
    "NameUsed",
    "NothingPending",
    "PlanPending",
    "Committed",
    "RangeDiffers",
    "NoChunk",
    "NoBlock",
    "NotReplaceable",
    "BadReplacement",
    "NoCacheEdit",
    "ForkMisplaced",
    "Gap",
    "Unreadable",
    "Resolved",
];

#[test]
fn the_generator_reaches_everything() {
    let mut census = Census::default();
    let mut seed = 1u64;
    wander(&mut census, &mut seed);
    before_the_start(&mut census);
    neighbours(&mut census, &mut seed);
    println!("{census}");
    for (kind, _, _) in KINDS {
        assert!(
            census.accepted.contains_key(*kind),
            "never accepted: {kind}\n{census}"
        );
    }
    let missing: Vec<String> = pairs()
        .filter(|(a, b)| !NEVER_NEIGHBOURS.contains(&(a.as_str(), b.as_str())))
        .filter(|pair| !census.pairs.contains(pair))
        .map(|(a, b)| format!("{a} {b}"))
        .collect();
    assert!(missing.is_empty(), "neighbours never seen: {missing:?}");
    let live = RULES
        .iter()
        .filter(|rule| !NOT_LIVE.contains(rule) && !UNREADABLE.contains(rule));
    let unseen: Vec<&&str> = live
        .filter(|rule| !census.rules.contains_key(**rule))
        .collect();
    assert!(unseen.is_empty(), "refusals never seen: {unseen:?}");
}

fn pairs() -> impl Iterator<Item = (String, String)> {
    let kinds = || KINDS.iter().map(|(kind, _, _)| (*kind).to_owned());
    kinds().flat_map(move |a| kinds().map(move |b| (a.clone(), b)))
}

/// The next number of a fixed sequence.
fn next(seed: &mut u64) -> u64 {
    *seed = seed
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *seed >> 16
}

/// An op of the whole mix.
fn any(seed: &mut u64) -> Op {
    let total: u64 = KINDS.iter().map(|(_, weight, _)| u64::from(*weight)).sum();
    let mut pick = next(seed) % total;
    let kind = KINDS.iter().position(|(_, weight, _)| {
        let here = pick < u64::from(*weight);
        pick = pick.saturating_sub(u64::from(*weight));
        here
    });
    Op {
        kind: kind.unwrap_or(0),
        seed: next(seed),
    }
}

fn step(run: &mut Run, op: Op, census: &mut Census) -> bool {
    let name = KINDS.get(op.kind).map_or("", |(name, _, _)| name);
    match run.hand(&run.given(op)) {
        Ok(_) => {
            census.accept(name);
            true
        }
        Err(refusal) => {
            census.refuse(name, &refusal.rule);
            false
        }
    }
}

/// Nothing stands before the first event, when that is a turn.
fn before_the_start(census: &mut Census) {
    let mut system = System::new();
    for value in [
        json!({"type": "message", "role": "user", "content": "hi"}),
        json!({"type": "rollback", "to": {"turns": 1}}),
    ] {
        let raw = value.to_string();
        if let Err(refusal) = system.append(&Given { raw, value }) {
            census.refuse("rollback", &refusal.rule);
        }
    }
}

/// Programs as the laws run them.
fn wander(census: &mut Census, seed: &mut u64) {
    for round in 0..300 {
        census.begin();
        let mut run = Run::new(round, false);
        for _ in 0..50 {
            let op = any(seed);
            step(&mut run, op, census);
        }
    }
}

/// What has to be there before an event of a kind fits.
fn needs(kind: &str) -> &'static [&'static str] {
    match kind {
        "cache_ack" => &["cache_edit"; 12],
        "compact_chunk" | "compact_abandon" => &["compact_plan"; 4],
        _ => &[],
    }
}

/// For each pair that was not met: programs until a state is found in which both fit.
fn neighbours(census: &mut Census, seed: &mut u64) {
    for (a, b) in pairs() {
        let (first, second) = (
            recount_tests::generate::kind(&a),
            recount_tests::generate::kind(&b),
        );
        for round in 0..200 {
            if census.pairs.contains(&(a.clone(), b.clone()))
                || NEVER_NEIGHBOURS.contains(&(a.as_str(), b.as_str()))
            {
                break;
            }
            let mut run = Run::new(round, false);
            census.begin();
            for _ in 0..8 + round % 24 {
                let op = any(seed);
                step(&mut run, op, census);
            }
            for needed in [&a, &b].into_iter().flat_map(|kind| needs(kind)) {
                let op = Op {
                    kind: recount_tests::generate::kind(needed),
                    seed: next(seed),
                };
                step(&mut run, op, census);
            }
            for _ in 0..4 {
                let op = Op {
                    kind: first,
                    seed: next(seed),
                };
                step(&mut run, op, census);
                let op = Op {
                    kind: second,
                    seed: next(seed),
                };
                step(&mut run, op, census);
            }
        }
    }
}
