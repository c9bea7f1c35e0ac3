//! Laws 1, 2 and 4: a log folds the same however it is cut; a live state is the fold of what was logged; refusals leave no trace.

use crate::run::{Run, bodies, same, told};
use proptest::prelude::*;
use recount_events::Event;
use recount_projections::{State, replay};
use recount_tests::generate::{Mix, cases, program};

proptest! {
    // Parts of a response are rare in a program: more programs than elsewhere.
    #![proptest_config(cases(1000))]

    #[test]
    fn law_2_live_is_replay_of_log_lines(seed: u64, program in program(Mix::Whole, 60)) {
        let mut run = Run::new(seed, false);
        run.play(&program);
        let lines = run.system.log.iter().zip(0u64..).map(|(event, seq)| event.to_json(recount_events::Seq(seq), None));
        let read = lines.map(|line| Ok(Event::from_log_json(&line).expect("a log line reads back").event));
        same(&replay(read), &run.system.state, &run);
    }
}

proptest! {
    #![proptest_config(cases(120))]

    #[test]
    fn law_1_a_log_folds_the_same_at_every_cut(seed: u64, program in program(Mix::Whole, 40), cut: prop::sample::Index) {
        let mut run = Run::new(seed, false);
        run.play(&program);
        let log = &run.system.log;
        let whole = fold(State::new(), log);
        let (before, after) = log.split_at(cut.index(log.len() + 1));
        let half = fold(State::new(), before);
        same(&fold(half.clone(), after), &whole, &run);
        // The half is a value of its own: going on from it changed nothing in it.
        same(&half, &fold(State::new(), before), &run);
    }

    #[test]
    fn law_2_live_is_replay(seed: u64, program in program(Mix::Deep, 40)) {
        let mut run = Run::new(seed, false);
        run.play(&program);
        let replayed = replay(run.system.log.iter().cloned().map(Ok));
        prop_assert_eq!(replayed.skipped().count(), 0, "{}", told(&run.host));
        same(&replayed, &run.system.state, &run);
    }

    #[test]
    fn law_4_refusals_leave_no_trace(seed: u64, program in program(Mix::Whole, 40)) {
        let mut run = Run::new(seed, false);
        for op in program {
            let before = (run.system.state.clone(), run.system.log.len(), bodies(&run.system.state));
            if run.hand(&run.given(op)).is_err() {
                prop_assert_eq!(run.system.log.len(), before.1);
                prop_assert_eq!(bodies(&run.system.state), before.2);
                same(&before.0, &run.system.state, &run);
            }
        }
    }
}

fn fold(mut state: State, log: &[Event]) -> State {
    for event in log {
        state.retake(event.clone());
    }
    state
}
