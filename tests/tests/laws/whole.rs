//! Laws 7 and 8: nothing is missing without a named cause; a ready request is one that the provider accepts.

use crate::run::{Run, told};
use proptest::prelude::*;
use recount_events::{Profile, Seq};
use recount_projections::{Cause, Outcome};
use recount_tests::generate::{Mix, cases, program};
use recount_tests::model::{self, Model, tame};
use recount_tests::system::profile;
use recount_tests::validator::{Facts, Wire, validate};
use serde_json::Value;

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn law_7_what_is_missing_has_one_cause(seed: u64, program in program(Mix::Deep, 40)) {
        let mut run = Run::new(seed, false);
        let mut model = Model::new();
        for op in std::iter::once(None).chain(program.into_iter().map(Some)) {
            let given = match op {
                None => None,
                Some(op) => Some(run.given(op)).filter(|given| run.hand(given).is_ok()),
            };
            let raw = given.map_or_else(|| run.host.log.first().map(Value::to_string).unwrap_or_default(), |given| given.raw);
            if model.len() < run.host.log.len() {
                let event: Value = serde_json::from_str(&tame(&raw)).expect("generated JSON");
                model.append(&event).expect("both accept");
            }
        }
        let shown = model.visible();
        for (seq, event) in run.host.log.iter().enumerate() {
            let content = matches!(event["type"].as_str(), Some("message" | "tool_result" | "inject"));
            let cause = run.system.state.hidden_by(run.system.state.timeline(), Seq(seq as u64));
            if content {
                prop_assert_eq!(named(cause), model.cause(seq), "{} of\n{}", seq, told(&run.host));
            }
            if content && event["lifetime"] != "tail" && !shown.contains(&seq) {
                prop_assert!(cause.is_some() || event["type"] == "tool_result" || repeats(&run, seq), "{} of\n{}", seq, told(&run.host));
            }
        }
    }

    #[test]
    fn law_8_a_ready_request_is_accepted(seed: u64, program in program(Mix::Whole, 40)) {
        valid(seed, &program);
    }

    #[test]
    fn law_8_a_ready_request_of_a_deep_state_is_accepted(seed: u64, program in program(Mix::Deep, 40)) {
        valid(seed, &program);
    }
}

/// A message of nothing but results that were there already.
fn repeats(run: &Run, seq: usize) -> bool {
    run.host
        .log
        .get(seq)
        .is_some_and(|event| event["content"].is_array())
}

fn named(cause: Option<Cause>) -> Option<model::Cause> {
    let at = |seq: Seq| seq.0 as usize;
    Some(match cause? {
        Cause::Rollback(seq) => model::Cause::Rollback(at(seq)),
        Cause::Undo(seq) => model::Cause::Undo(at(seq)),
        Cause::Mask(seq) => model::Cause::Mask(at(seq)),
        Cause::Superseded(seq) => model::Cause::Superseded(at(seq)),
        Cause::Replaced(seq) => model::Cause::Replaced(at(seq)),
        Cause::Later | Cause::Skipped => return None,
    })
}

fn valid(seed: u64, program: &[recount_tests::generate::Op]) {
    let mut run = Run::new(seed, false);
    for op in program {
        let given = run.given(*op);
        if run.hand(&given).is_err() {
            continue;
        }
        for (wire, heal) in [
            (Wire::Anthropic, false),
            (Wire::Anthropic, true),
            (Wire::Chat, true),
        ] {
            let Some(projection) = run.system.project(wire, heal) else {
                continue;
            };
            if projection.outcome != Outcome::Ready {
                continue;
            }
            let profile = profile(run.system.state.timeline()).expect("it was projected");
            let body = projection.body();
            let mut violations = validate(wire, &body, &facts(profile));
            // What no table knows goes to the provider that made it, and to nobody else.
            let own =
                |rule: &str| matches!(rule, "block-kind" | "part-kind") && issued(&run, profile);
            violations.retain(|violation| !own(violation.rule));
            let text = String::from_utf8_lossy(&body);
            assert!(
                violations.is_empty(),
                "{wire:?} {violations:?}\n{text}\n{}",
                told(&run.host)
            );
        }
    }
}

pub(crate) fn facts(profile: &Profile) -> Facts {
    Facts {
        prefill: profile.prefill,
        system_role: profile.system_role,
        cache_edits: profile.cache_edits,
        body_bytes: profile.body_bytes,
        images_count: profile.images_count,
        images_bytes: profile.images_bytes,
        images_pixels: profile.images_pixels,
        ..Facts::default()
    }
}

/// A block of an unknown kind was made by the profile's own provider.
fn issued(run: &Run, profile: &Profile) -> bool {
    let odd = run
        .host
        .log
        .iter()
        .filter(|event| event.to_string().contains("widget"));
    odd.into_iter()
        .any(|event| event["issuer"].as_str() == profile.provider.as_str())
}
