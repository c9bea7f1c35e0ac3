//! Law 9: what is ready fits, as the provider counts, after its first answer; law 10: compaction shrinks, and comes to rest.
//!
//! - A census over drills of a fixed seed shows that they reach what the laws speak of.

use crate::drills::{add, drill, plans};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRng, TestRunner};
use recount_tests::generate::cases;
use recount_tests::simulation::Drill;
use std::collections::BTreeMap;

/// Defects that are about a law.
fn about(drill: &Drill, words: &[&str]) -> Vec<String> {
    let named = |defect: &&String| words.iter().any(|word| defect.contains(word));
    drill.defects.iter().filter(named).cloned().collect()
}

/// What law 10 says must not be; the rest is law 9's.
const LAW_10: [&str; 2] = ["made", "come to rest"];

fn told(drill: &Drill) -> String {
    let short = |event: &serde_json::Value| event.to_string().chars().take(200).collect::<String>();
    let log: Vec<String> = drill.log.iter().map(short).collect();
    log.join("\n")
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 300, ..cases(60) })]

    #[test]
    fn law_9_what_is_ready_fits(plan in plans(40, false)) {
        let drill = drill(&plan).expect("a directory opens");
        let wrong: Vec<&String> = drill.defects.iter().filter(|defect| !LAW_10.iter().any(|word| defect.contains(word))).collect();
        prop_assert!(wrong.is_empty(), "{:?}\n{}", wrong, told(&drill));
    }

    #[test]
    fn law_10_compaction_shrinks_and_comes_to_rest(plan in plans(40, true)) {
        let drill = drill(&plan).expect("a directory opens");
        let wrong = about(&drill, &LAW_10);
        prop_assert!(wrong.is_empty(), "{:?}\n{}", wrong, told(&drill));
    }
}

/// What drills must reach, as the census names it.
const REACHED: [&str; 15] = [
    "ready",
    "waiting",
    "impossible",
    "answered",
    "overflowed retry",
    "overflowed summarise",
    "overflowed surface",
    "summarised committed",
    "summarised retry",
    "compact planned",
    "compact committed",
    "logged compact_commit",
    "logged compact_abandon",
    "logged collapse_commit",
    "logged undo",
];

#[test]
fn drills_reach_what_the_laws_speak_of() {
    let mut runner = TestRunner::new_with_rng(
        Config::default(),
        TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let mut census = BTreeMap::new();
    for _ in 0..60 {
        let plan = plans(40, true)
            .new_tree(&mut runner)
            .expect("a plan")
            .current();
        add(&mut census, &drill(&plan).expect("a directory opens"));
    }
    for (name, count) in &census {
        println!("{name:<32} {count:>7}");
    }
    let missing: Vec<&&str> = REACHED
        .iter()
        .filter(|name| !census.contains_key(**name))
        .collect();
    assert!(missing.is_empty(), "never seen: {missing:?}");
}
