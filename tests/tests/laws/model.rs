//! Law 13: the prompt equals the one that a naive interpreter computes, event by event; so do refusals.

use crate::run::{Run, told};
use proptest::prelude::*;
use recount_projections::{MisfitKind, Outcome};
use recount_tests::generate::{Mix, Op, cases, program};
use recount_tests::model::Outcome as Theirs;
use recount_tests::model::{Kind, Model, Prompt, Refused, tame};
use recount_tests::system::Refusal;
use recount_tests::validator::{Wire, parse};
use serde_json::Value;

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn law_13_the_model_agrees_on_everything(seed: u64, program in program(Mix::Whole, 40)) {
        agree(seed, false, &program);
    }

    #[test]
    fn law_13_the_model_agrees_on_deep_states(seed: u64, program in program(Mix::Deep, 50)) {
        agree(seed, false, &program);
    }

    #[test]
    fn law_13_the_model_agrees_on_digests(seed: u64, program in program(Mix::Deep, 40)) {
        agree(seed, true, &program);
    }
}

/// Runs both side by side. `tidy`: no broken text, so that digests are comparable.
fn agree(seed: u64, tidy: bool, program: &[Op]) {
    let mut run = Run::new(seed, tidy);
    let mut model = Model::new();
    for event in &run.host.log {
        model.append(event).expect("a profile is always accepted");
    }
    for op in program {
        let given = run.given(*op);
        let tamed: Value = serde_json::from_str(&tame(&given.raw)).expect("generated JSON");
        let ours = run.hand(&given);
        let theirs = model.append(&tamed);
        let log = || format!("{}\nthen {}", told(&run.host), given.raw);
        assert!(
            same(&ours, &theirs),
            "system {ours:?} model {theirs:?}\n{}",
            log()
        );
        if theirs.is_err() {
            continue;
        }
        for wire in [Wire::Anthropic, Wire::Chat] {
            for heal in [false, true] {
                let prompt = model.prompt(model.len() - 1, wire, heal);
                let Some(projection) = run.system.project(wire, heal) else {
                    assert_eq!(prompt.outcome, Theirs::NoProfile);
                    continue;
                };
                let body = projection.body();
                let text = String::from_utf8_lossy(&body);
                let parsed = parse(&body)
                    .unwrap_or_else(|violation| panic!("{violation:?} {text}\n{}", log()));
                let told = (plain(&parsed.value), plain(&prompt.body));
                assert!(
                    told.0 == told.1,
                    "{wire:?} {}
{}",
                    apart(&told.0, &told.1),
                    log()
                );
                assert!(
                    outcomes(&projection.outcome, &prompt),
                    "{:?} {:?}\n{}",
                    projection.outcome,
                    prompt.outcome,
                    log()
                );
                if tidy {
                    assert_eq!(
                        projection.digest.to_string(),
                        prompt.digest,
                        "{wire:?} {text}\n{}",
                        log()
                    );
                }
            }
        }
    }
}

/// A body for comparison: as text, so that the order of members counts; an escaped U+FFFD inside quoted JSON is that character.
fn plain(value: &Value) -> String {
    let text = value.to_string().replace("\\\\ufffd", "\u{fffd}");
    text.replace('\u{fdd1}', "\u{fffd}")
}

fn same(ours: &Result<recount_events::Seq, Refusal>, theirs: &Result<usize, Refused>) -> bool {
    match (ours, theirs) {
        (Ok(seq), Ok(place)) => seq.0 == *place as u64,
        (Err(refusal), Err(refused)) => match refusal.kind {
            // It could not even be read: the model reads more kindly, and refuses for another reason.
            None => true,
            Some(kind) => kinds(kind) == Some(refused.kind),
        },
        _ => false,
    }
}

fn kinds(kind: MisfitKind) -> Option<Kind> {
    match kind {
        MisfitKind::Rejected => Some(Kind::Rejected),
        MisfitKind::NotFound => Some(Kind::NotFound),
        MisfitKind::Invalid => Some(Kind::Invalid),
        MisfitKind::Conflict | MisfitKind::Cold => None,
    }
}

fn outcomes(ours: &Outcome, theirs: &Prompt) -> bool {
    match (ours, &theirs.outcome) {
        (Outcome::Ready, Theirs::Ready) | (Outcome::WaitingPerson, Theirs::WaitingPerson) => true,
        (Outcome::WaitingResults { calls }, Theirs::WaitingResults(places)) => {
            let calls: Vec<_> = calls
                .iter()
                .map(|call| (call.seq.0 as usize, call.index as usize))
                .collect();
            calls == *places
        }
        _ => false,
    }
}

/// Where two texts part.
fn apart(ours: &str, theirs: &str) -> String {
    let same = ours
        .chars()
        .zip(theirs.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let near = |text: &str| {
        text.chars()
            .skip(same.saturating_sub(80))
            .take(240)
            .collect::<String>()
    };
    format!("system …{}…\nmodel …{}…", near(ours), near(theirs))
}
