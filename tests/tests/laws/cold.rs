//! Law 1 from every stored state checkpoint too: a state that was frozen and thawed, or cooled in place, goes on as the fold of the
//! whole log does, or says that it does not hold enough.
//!
//! - A cold position is never taken for a gap: whatever answers, answers what the whole state answers.

use crate::run::{Run, bodies, same, told};
use proptest::prelude::*;
use recount_events::{Event, Seq};
use recount_projections::{Frozen, Logged, Misfit, Source, State, Timeline};
use recount_tests::generate::{Mix, Op, cases, op, program};
use recount_tests::system::projected;
use recount_tests::validator::Wire;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A whole state, from which a cooled one reads its events again.
#[derive(Debug, Default)]
struct Shelf {
    state: State,
    missed: AtomicU64,
}

impl Source for Shelf {
    fn event(&self, seq: Seq) -> Option<Arc<Logged>> {
        self.state.event(seq)
    }

    fn missed(&self) {
        self.missed.fetch_add(1, Ordering::Relaxed);
    }
}

fn shelf(state: &State) -> Arc<Shelf> {
    Arc::new(Shelf {
        state: state.clone(),
        missed: AtomicU64::new(0),
    })
}

/// Through bytes and back, as a state checkpoint goes.
fn thawed(state: &State) -> State {
    let bytes = state.freeze().expect("nothing odd was taken in").encode();
    let frozen = Frozen::decode(&bytes).expect("its own bytes");
    let needs = frozen.needs();
    let mut read = |seq: Seq| needs.contains(&seq).then(|| state.event(seq))?;
    frozen
        .thaw(&mut read, shelf(state))
        .expect("what it needs is there")
}

fn folded(log: &[Event]) -> State {
    let mut state = State::new();
    for event in log {
        state.retake(event.clone());
    }
    state
}

/// What happened, over all cases of a law.
struct Tally {
    answered: AtomicU64,
    cold: AtomicU64,
    cases: AtomicU64,
}

impl Tally {
    const fn new() -> Self {
        Self {
            answered: AtomicU64::new(0),
            cold: AtomicU64::new(0),
            cases: AtomicU64::new(0),
        }
    }

    fn note(&self, cold: bool) {
        let counter = if cold { &self.cold } else { &self.answered };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Every 50th case tells how it stands.
    fn print(&self, what: &str) {
        if !self
            .cases
            .fetch_add(1, Ordering::Relaxed)
            .is_multiple_of(50)
        {
            return;
        }
        let (answered, cold) = (&self.answered, &self.cold);
        println!(
            "{what}: answered={} cold={}",
            answered.load(Ordering::Relaxed),
            cold.load(Ordering::Relaxed)
        );
    }
}

/// Two answers are equal, or the cooled state did not hold enough.
fn agree<T: PartialEq + Debug>(
    cooled: Result<T, Misfit>,
    whole: &Result<T, Misfit>,
    tally: &Tally,
    told: impl Fn() -> String,
) {
    let cold = matches!(&cooled, Err(misfit) if misfit.is_cold());
    tally.note(cold);
    if !cold {
        assert_eq!(&cooled, whole, "{}", told());
    }
}

/// Goes on with what came later, as the engine does: where too little is held, the whole log is folded.
fn go_on(mut state: State, log: &[Event], from: usize, tally: &Tally) -> State {
    for (place, event) in log.iter().enumerate().skip(from) {
        match state.try_retake(event.clone()) {
            Ok(seq) => {
                assert_eq!(seq.0, place as u64);
                tally.note(false);
            }
            Err(misfit) => {
                assert!(misfit.is_cold());
                tally.note(true);
                state = folded(&log[..=place]);
            }
        }
    }
    state
}

fn shows(timeline: &Timeline) -> Vec<Option<Vec<u8>>> {
    [Wire::Anthropic, Wire::Chat]
        .map(|wire| projected(timeline, wire, true).map(|projection| projection.body()))
        .into()
}

/// Every question that a state answers, asked of both.
fn questioned(cooled: &State, whole: &State, run: &Run, ops: &[Op], tally: &Tally) {
    for seq in (0..=run.system.log.len() as u64).map(Seq) {
        let log = || format!("seq {seq}\n{}", told(&run.host));
        assert_eq!(cooled.event(seq), whole.event(seq), "{}", log());
        assert_eq!(
            cooled.hidden_by(cooled.timeline(), seq),
            whole.hidden_by(whole.timeline(), seq),
            "{}",
            log()
        );
        let at = |state: &State| state.timeline_at(seq).map(|timeline| shows(&timeline));
        agree(at(cooled), &at(whole), tally, log);
        let forked = |state: &State| state.fork(seq).map(|fork| bodies(&fork));
        agree(forked(cooled), &forked(whole), tally, log);
        for kind in ["rollback", "undo"] {
            let body = match kind {
                "rollback" => serde_json::json!({"type": kind, "to": {"seq": seq.0}}),
                _ => serde_json::json!({"type": kind, "event": seq.0}),
            };
            let event = Event::from_json(&body.to_string(), recount_events::Millis(0));
            let event = event.expect("an event");
            let after = |state: &State| took(state, event.clone());
            agree(after(cooled), &after(whole), tally, log);
        }
    }
    for op in ops {
        let given = run.given(*op);
        let Ok(event) = Event::from_json(&given.raw, recount_events::Millis(0)) else {
            continue;
        };
        let after = |state: &State| took(state, event.clone());
        agree(after(cooled), &after(whole), tally, || {
            format!("{}\n{}", given.raw, told(&run.host))
        });
    }
}

/// An event as it was admitted, and the bodies of the prompts after it.
type Taken = (Event, Vec<Option<Vec<u8>>>);

/// What a state admits the event as, and what it shows then; or its refusal with the suggestion.
fn took(state: &State, event: Event) -> Result<Taken, Misfit> {
    let admitted = state.admit(event)?;
    let event = admitted.event().clone();
    let mut after = state.clone();
    after.apply(admitted);
    Ok((event, bodies(&after)))
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn law_1_from_a_stored_state_too(seed: u64, program in program(Mix::Whole, 40), cut: prop::sample::Index) {
        static TALLY: Tally = Tally::new();
        let mut run = Run::new(seed, false);
        run.play(&program);
        let log = &run.system.log;
        let cut = 1 + cut.index(log.len());
        let before = folded(&log[..cut]);
        let start = thawed(&before);
        prop_assert_eq!(start.freeze(), before.freeze(), "{}", told(&run.host));
        prop_assert_eq!(start.cold(), cut as u64);
        let mut cooled = before.clone();
        prop_assert!(cooled.cool(shelf(&before)));
        prop_assert_eq!(cooled.freeze(), before.freeze(), "{}", told(&run.host));
        let whole = folded(log);
        for start in [start, cooled] {
            let end = go_on(start, log, cut, &TALLY);
            same(&end, &whole, &run);
            prop_assert_eq!(end.freeze(), whole.freeze(), "cut {} of\n{}", cut, told(&run.host));
        }
        if let Ok(end) = whole.cooled_to(&before, shelf(&before)) {
            same(&end, &whole, &run);
            prop_assert_eq!(end.freeze(), whole.freeze(), "cut {} of\n{}", cut, told(&run.host));
            prop_assert_eq!(end.cold(), cut as u64);
        }
        TALLY.print("events taken in after a stored state");
    }

    #[test]
    fn law_1_a_cold_position_is_no_gap(seed: u64, program in program(Mix::Deep, 30), cut: prop::sample::Index, ops in prop::collection::vec(op(Mix::Whole), 12)) {
        static TALLY: Tally = Tally::new();
        let mut run = Run::new(seed, false);
        run.play(&program);
        let log = &run.system.log;
        let cut = 1 + cut.index(log.len());
        let start = thawed(&folded(&log[..cut]));
        let end = go_on(start, log, cut, &TALLY);
        questioned(&end, &folded(log), &run, &ops, &TALLY);
        TALLY.print("questions to a cooled state");
    }

    #[test]
    fn no_authored_text_is_in_a_frozen_state(seed: u64, program in program(Mix::Whole, 60)) {
        let mut run = Run::new(seed, false);
        run.play(&program);
        let bytes = run.system.state.freeze().map(|frozen| frozen.encode()).unwrap_or_default();
        for event in &run.system.log {
            for text in event.texts() {
                let said = text.bytes().unwrap_or_default();
                // Numbers below 65 are no letters: a short run of them may say what a text of blanks and digits says.
                let says = said.len() >= 4 && said.iter().any(u8::is_ascii_alphabetic);
                prop_assert!(
                    !says || !bytes.windows(said.len()).any(|window| window == said),
                    "{:?} is in it", String::from_utf8_lossy(said)
                );
            }
        }
    }
}
