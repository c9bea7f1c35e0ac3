//! Over random tasks: what is decided with what is shown alone is what the exact rules decide over the full history.
//!
//! Not the same, and left out here (each has a test in `differs`): a first answer with native calls, results that were dropped and count as reads
//! all the same, a notice without a range.

use crate::both::{Both, Part};
use proptest::prelude::*;
use recount_policies::cline::View;

/// What the person or the tools say in a turn.
#[derive(Clone, Debug)]
enum Said {
    Words(usize),
    Read(u8, usize),
    Written(u8, usize),
    Mention(Vec<(u8, usize)>),
}

#[derive(Clone, Debug)]
struct Turn {
    said: Said,
    /// Native results with these words, and whether words stand beside them.
    calls: usize,
    environment: bool,
    tokens: u64,
}

fn said() -> impl Strategy<Value = Said> {
    let size = || prop_oneof![3 => 1_usize..200, 1 => 200_usize..3_000];
    let file = move || (0_u8..3, size());
    prop_oneof![
        2 => size().prop_map(Said::Words),
        4 => file().prop_map(|(path, size)| Said::Read(path, size)),
        2 => file().prop_map(|(path, size)| Said::Written(path, size)),
        3 => prop::collection::vec(file(), 1..4).prop_map(Said::Mention),
    ]
}

/// Below the limit of a window of 64,000, at it, above, and where half is above.
fn tokens() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => Just(36_999_u64),
        2 => Just(37_000),
        1 => Just(74_000),
        1 => Just(74_001)
    ]
}

fn turn(calls: usize) -> impl Strategy<Value = Turn> {
    (said(), 0..=calls, any::<bool>(), tokens()).prop_map(|(said, calls, environment, tokens)| {
        Turn {
            said,
            calls,
            environment,
            tokens,
        }
    })
}

fn text(said: &Said) -> String {
    let body = |size: &usize| "z".repeat(*size);
    match said {
        Said::Words(size) => body(size),
        Said::Read(path, size) => format!("[read_file for 'f{path}'] Result:\n{}", body(size)),
        Said::Written(path, size) => format!(
            "[replace_in_file for 'f{path}'] Result:\nsaved\n<final_file_content path=\"f{path}\">{}</final_file_content>\nso it is",
            body(size)
        ),
        Said::Mention(files) => {
            let files = files.iter().map(|(path, size)| {
                format!(
                    "<file_content path=\"f{path}\">{}</file_content>",
                    body(size)
                )
            });
            format!("see them:\n{}", files.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// A task of three exchanges, so that the first range is never empty.
fn begun() -> Both {
    let mut both = Both::new(64_000);
    for turn in 0..3 {
        both.asks(&format!("question {turn}"));
        both.answers(&format!("answer {turn}"), 0);
    }
    both
}

/// Both sides send the same, out of as many messages.
fn check(both: &Both) -> Result<(), TestCaseError> {
    prop_assert_eq!(both.sends(), both.theirs());
    let left_out = both.range.map_or(0, |range| range.end - 1);
    let view = View::of(both.host.state.timeline());
    prop_assert_eq!(
        i64::try_from(view.messages.len()).unwrap(),
        i64::try_from(both.history.len()).unwrap() - left_out
    );
    prop_assert_eq!(both.host.reopened().prompt(), both.host.prompt());
    Ok(())
}

/// A turn of texts: what tools say stands in the words, as models without native calls are told.
fn of_texts(both: &mut Both, turn: &Turn, number: usize) {
    let environment = Part::Text(format!("environment {number}"));
    both.says(&[Part::Text(text(&turn.said)), environment]);
}

/// A turn of native results, with words beside them or without.
fn of_results(both: &mut Both, turn: &Turn, number: usize, calls: usize) {
    let mut parts: Vec<Part> = (0..calls)
        .map(|call| Part::Result(call, format!("result {number}.{call}: {:?}", turn.tokens)))
        .collect();
    if turn.environment || parts.is_empty() {
        parts.push(Part::Text(format!("environment {number}")));
    }
    both.says(&parts);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn k2_k3_k4_over_texts_the_decisions_are_those_over_the_full_history(
        turns in prop::collection::vec(turn(0), 1..14)
    ) {
        let mut both = begun();
        for (number, turn) in turns.iter().enumerate() {
            of_texts(&mut both, turn, number);
            both.makes_room(turn.tokens);
            check(&both)?;
            both.answers(&format!("done {number}"), 0);
        }
    }

    #[test]
    fn k2_over_native_calls_the_ranges_are_those_over_the_full_history(
        turns in prop::collection::vec(turn(2), 1..14)
    ) {
        let mut both = begun();
        let mut calls = 0;
        for (number, turn) in turns.iter().enumerate() {
            // Results are no reads: they name no file.
            of_results(&mut both, turn, number, calls);
            both.makes_room(turn.tokens);
            check(&both)?;
            calls = turn.calls;
            both.answers(&format!("done {number}"), calls);
        }
    }

    #[test]
    fn k3_reads_by_native_calls_are_replaced_alike_until_results_are_dropped(
        turns in prop::collection::vec(turn(2), 1..10)
    ) {
        let mut both = begun();
        let mut calls = 0;
        for (number, turn) in turns.iter().enumerate() {
            let mut parts: Vec<Part> =
                (0..calls).map(|call| Part::Result(call, text(&turn.said))).collect();
            parts.push(Part::Text(format!("environment {number}")));
            both.says(&parts);
            both.makes_room(turn.tokens);
            if both.range.is_some() {
                break;
            }
            check(&both)?;
            calls = turn.calls;
            both.answers(&format!("done {number}"), calls);
        }
    }
}
