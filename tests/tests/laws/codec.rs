//! Laws 3 and 12: a recorded digest is rendered again from its cut; events survive their bytes.

use crate::run::{Run, told};
use proptest::prelude::*;
use recount_events::{Event, Found, Seq};
use recount_projections::{State, Timeline, replay};
use recount_tests::generate::{Mix, cases, program};
use recount_tests::system::projected;
use recount_tests::validator::Wire;

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn law_3_a_recorded_digest_is_rendered_again(seed: u64, program in program(Mix::Deep, 40)) {
        let mut run = Run::new(seed, false);
        run.play(&program);
        let mut live = State::new();
        let mut recorded = Vec::new();
        for event in sealed(&run.system.log) {
            let seq = live.retake(event);
            recorded.push((seq, digest(live.timeline())));
        }
        let again = replay(decoded(&run.system.log).into_iter().map(Ok));
        for (seq, digest) in recorded {
            let timeline = again.timeline_at(seq).expect("a position of the past");
            let now = self::digest(&timeline);
            prop_assert_eq!(now, digest, "at {} in\n{}", seq, told(&run.host));
        }
    }

    #[test]
    fn law_12_an_event_survives_its_bytes(seed: u64, program in program(Mix::Whole, 40)) {
        let mut run = Run::new(seed, false);
        run.play(&program);
        for (before, after) in sealed(&run.system.log).iter().zip(decoded(&run.system.log)) {
            prop_assert_eq!(before, &after);
        }
    }
}

fn digest(timeline: &Timeline) -> Option<String> {
    let projection = projected(timeline, Wire::Anthropic, true)?;
    Some(projection.digest.to_string())
}

fn sealed(log: &[Event]) -> Vec<Event> {
    let mut salt = 0u8;
    let mut salts = || {
        salt = salt.wrapping_add(1);
        [salt; 16]
    };
    let mut log = log.to_vec();
    log.iter_mut().for_each(|event| event.seal(&mut salts));
    log
}

/// The log through its bytes.
fn decoded(log: &[Event]) -> Vec<Event> {
    let sealed = sealed(log);
    let through = |event: &Event| {
        let encoded = event.encode().expect("a sealed event is encoded");
        let contents = encoded
            .contents
            .into_iter()
            .map(|(salt, bytes)| Found::Here { salt, bytes })
            .collect();
        Event::decode(encoded.kind, encoded.schema, &encoded.body, contents)
            .expect("what was encoded is decoded")
    };
    sealed.iter().map(through).collect()
}

/// Positions are written as they count.
#[test]
fn law_12_positions_are_dense() {
    let mut run = Run::new(1, false);
    run.play(&[]);
    assert_eq!(run.system.state.head(), Some(Seq(0)));
}
