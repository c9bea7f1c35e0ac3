//! Law 5: a rollback restores the timeline of its target; rolling it back restores the bytes; the ledger loses nothing.

use crate::run::{Run, bodies, told};
use proptest::prelude::*;
use recount_events::Seq;
use recount_tests::generate::{Given, Mix, cases, program};
use recount_tests::system::projected;
use recount_tests::validator::Wire;
use serde_json::{Value, json};

fn given(value: Value) -> Given {
    Given {
        raw: value.to_string(),
        value,
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn law_5_a_rollback_restores_its_target(seed: u64, program in program(Mix::Whole, 40), to: prop::sample::Index) {
        let mut run = Run::new(seed, false);
        run.play(&program);
        let head = run.system.log.len() - 1;
        let to = to.index(head + 1);
        let then = bodies_at(&run, to);
        let now = bodies(&run.system.state);
        let before = ledger(&run);
        run.hand(&given(json!({"type": "rollback", "to": {"seq": to}}))).expect("any position so far is a target");
        prop_assert_eq!(bodies(&run.system.state), then, "to {} in\n{}", to, told(&run.host));
        prop_assert_eq!(ledger(&run), before.clone());
        run.hand(&given(json!({"type": "undo", "event": head + 1}))).expect("nothing followed the rollback");
        prop_assert_eq!(bodies(&run.system.state), now, "undone, to {} in\n{}", to, told(&run.host));
        prop_assert_eq!(ledger(&run), before);
    }

    #[test]
    fn law_5_past_timelines_stay_what_they_were(seed: u64, program in program(Mix::Deep, 40)) {
        let mut run = Run::new(seed, false);
        let mut past = vec![bodies(&run.system.state)];
        for op in program {
            if run.hand(&run.given(op)).is_ok() {
                past.push(bodies(&run.system.state));
            }
        }
        for (seq, then) in past.iter().enumerate() {
            prop_assert_eq!(&bodies_at(&run, seq), then, "at {} in\n{}", seq, told(&run.host));
        }
    }
}

fn bodies_at(run: &Run, seq: usize) -> Vec<Option<Vec<u8>>> {
    let timeline = run
        .system
        .state
        .timeline_at(Seq(seq as u64))
        .expect("a position of the past");
    [Wire::Anthropic, Wire::Chat]
        .map(|wire| projected(&timeline, wire, true).map(|projection| projection.body()))
        .into()
}

/// All of the ledger but whether it was closed last, which any further event ends.
fn ledger(run: &Run) -> String {
    let mut ledger = run.system.state.ledger().clone();
    ledger.closed = None;
    format!("{ledger:?}")
}
