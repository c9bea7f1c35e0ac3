//! The numbers of a policy: which are refused, what an older log may hold all the same.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

use proptest::prelude::*;
use recount_events::Preset;
use recount_policies::Constants;
use serde_json::{Value, json};

const PRESETS: [Preset; 5] = [
    Preset::None,
    Preset::Recount,
    Preset::ClaudeCode,
    Preset::FiveLayer,
    Preset::Cline,
];

fn resolve(preset: Preset, params: &Value) -> Result<Constants, String> {
    Constants::resolve(preset, Some(&params.to_string()))
}

/// A number by its name.
fn one(name: &str, value: &Value) -> Value {
    let (tier, field) = name.split_once('.').unwrap();
    json!({tier: {field: value}})
}

/// Names, the least and the most of what is bounded in claude-code.
const BOUNDS: &[(&str, u64, u64)] = &[
    ("budget.head_percent", 0, 100),
    ("budget.tail_percent", 0, 100),
    ("budget.bytes_percent", 0, 100),
    ("micro.keep", 1, u64::MAX),
    ("micro.cached_keep", 1, u64::MAX),
    ("collapse.commit_percent", 0, 100),
    ("collapse.block_percent", 0, 100),
    ("compact.cap_percent", 0, 100),
    ("compact.refill_percent", 0, 100),
    ("compact.summary_tokens", 1, u64::MAX),
];

#[test]
fn numbers_without_sense_are_refused_with_their_name_and_their_bounds() {
    for (name, least, most) in BOUNDS {
        for value in [*least, *most] {
            let taken = resolve(Preset::ClaudeCode, &one(name, &json!(value)));
            assert!(taken.is_ok(), "{name} {value}: {taken:?}");
        }
        let beyond = [least.checked_sub(1), most.checked_add(1)];
        for value in beyond.into_iter().flatten() {
            let why = resolve(Preset::ClaudeCode, &one(name, &json!(value))).unwrap_err();
            assert!(
                why.contains(name) && why.contains(&value.to_string()),
                "{why}"
            );
            assert!(why.contains(&least.to_string()), "{why}");
        }
    }
    for shares in [[0, 30, 15], [50, 30, 0], [101, 30, 15]] {
        let why = resolve(
            Preset::ClaudeCode,
            &json!({"overflow": {"keep_percent": shares}}),
        );
        assert!(why.unwrap_err().contains("overflow.keep_percent"));
    }
}

#[test]
fn numbers_that_do_not_go_together_are_refused() {
    for (params, name) in [
        (
            json!({"budget": {"head_percent": 60, "tail_percent": 41}}),
            "budget.tail_percent",
        ),
        (
            json!({"collapse": {"commit_percent": 96, "block_percent": 95}}),
            "collapse.commit_percent",
        ),
        (
            json!({"compact": {"buffer": 2_000, "blocking_buffer": 2_001}}),
            "compact.blocking_buffer",
        ),
        (
            json!({"compact": {"blocking_buffer": 13_001}}),
            "compact.blocking_buffer",
        ),
        (
            json!({"compact": {"limit": 5_000, "buffer": 5_000}}),
            "compact.buffer",
        ),
    ] {
        let why = resolve(Preset::ClaudeCode, &params).unwrap_err();
        assert!(why.contains(name), "{why}");
    }
    for params in [
        json!({"budget": {"head_percent": 60, "tail_percent": 40}}),
        json!({"collapse": {"commit_percent": 95, "block_percent": 95}}),
        json!({"compact": {"buffer": 2_000, "blocking_buffer": 2_000}}),
        json!({"compact": {"limit": 5_001, "buffer": 5_000}}),
    ] {
        assert!(resolve(Preset::ClaudeCode, &params).is_ok(), "{params}");
    }
}

/// What is not given follows what is.
#[test]
fn a_number_that_was_not_given_follows_one_that_was() {
    let of = |params: &Value| resolve(Preset::ClaudeCode, params).unwrap();
    let head = of(&json!({"budget": {"head_percent": 90}})).budget;
    assert_eq!((head.head_percent, head.tail_percent), (90, 10));
    let late = of(&json!({"collapse": {"commit_percent": 97}})).collapse;
    assert_eq!((late.commit_percent, late.block_percent), (97, 97));
    let early = of(&json!({"collapse": {"block_percent": 80}})).collapse;
    assert_eq!((early.commit_percent, early.block_percent), (80, 80));
    let small = of(&json!({"compact": {"buffer": 1_000}})).compact;
    assert_eq!((small.buffer, small.blocking_buffer), (1_000, 1_000));
    let own = of(&json!({"compact": {"limit": 4_000}})).compact;
    assert!(own.buffer < 4_000 && own.blocking_buffer <= own.buffer);
}

#[test]
fn the_presets_own_numbers_make_sense() {
    for preset in PRESETS {
        let own = Constants::of(preset);
        assert_eq!(
            Constants::resolve(preset, Some(&own.to_params())),
            Ok(own.clone())
        );
        assert_eq!(
            Constants::recorded(preset, Some(&own.to_params())),
            Ok((own, vec![]))
        );
    }
}

/// Any numbers at any of the names.
fn params() -> impl Strategy<Value = Value> {
    let names = [
        "budget.head_percent",
        "budget.tail_percent",
        "budget.bytes_percent",
        "micro.keep",
        "micro.cached_keep",
        "collapse.commit_percent",
        "collapse.block_percent",
        "compact.cap_percent",
        "compact.limit",
        "compact.buffer",
        "compact.blocking_buffer",
        "compact.summary_tokens",
        "compact.refills",
        "compact.keep_most",
    ];
    let number = prop_oneof![0..3_u64, 0..120_u64, 0..40_000_u64, Just(u64::MAX)];
    proptest::collection::vec((prop::sample::select(names.to_vec()), number), 0..5).prop_map(
        |all| {
            let mut params = json!({});
            for (name, value) in all {
                let (tier, field) = name.split_once('.').unwrap();
                params[tier][field] = json!(value);
            }
            params
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// What is taken is taken again as it is held; what an older log holds is taken too, and makes sense then.
    #[test]
    fn what_is_held_in_full_is_taken_again(params in params(), which in 0..PRESETS.len()) {
        let preset = PRESETS[which];
        if let Ok(taken) = resolve(preset, &params) {
            prop_assert_eq!(Constants::resolve(preset, Some(&taken.to_params())), Ok(taken));
        }
        let (held, told) = Constants::recorded(preset, Some(&params.to_string())).unwrap();
        let full = held.to_params();
        prop_assert_eq!(Constants::resolve(preset, Some(&full)), Ok(held.clone()));
        prop_assert_eq!(Constants::recorded(preset, Some(&full)), Ok((held, vec![])));
        if told.is_empty() {
            prop_assert!(resolve(preset, &params).is_ok());
        }
    }
}
