//! Strategies for every kind of event, for laws and generators elsewhere.
//!
//! - Events come unsealed, but for opaque ones of newer versions, whose bodies fix their seals.
//! - They are canonical: what a log line of theirs says reads back equal. Names are plain or hold half a surrogate pair; raw JSON has
//!   no line breaks; blocks have the kind that their dialect gives them.
//! - Fields that admission resolves hold anything: these are bytes to write and read, not a session that makes sense.

mod bodies;
mod json;
mod texts;

use crate::{Body, Digest, Event, KINDS, Millis, Seq};
use alloc::boxed::Box;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

pub use bodies::{body_of, newer};
pub use json::{json, object};
pub use texts::{block, content, json_text, loose, message_content, name};

/// An event of any kind, also of kinds that this version does not know.
pub fn event() -> BoxedStrategy<Event> {
    prop_oneof![8 => (0..KINDS.len()).prop_flat_map(of_place), 1 => newer()].boxed()
}

fn of_place(place: usize) -> BoxedStrategy<Event> {
    event_of(KINDS.get(place).map_or(0, |kind| kind.0))
}

/// An event of the kind of this number; of kind 2 (`closed`) where there is none.
pub fn event_of(kind: u16) -> BoxedStrategy<Event> {
    with_common(body_of(kind)).boxed()
}

fn with_common(body: BoxedStrategy<Body>) -> impl Strategy<Value = Event> {
    let extra = option::weighted(
        0.2,
        texts::held(object().prop_map(|raw| crate::Text::json(&raw))),
    );
    (millis(), option::weighted(0.2, seq()), extra, body).prop_map(|(at, because, extra, body)| {
        Event {
            at,
            body,
            because,
            extra,
        }
    })
}

/// A position, mostly a small one.
pub fn seq() -> BoxedStrategy<Seq> {
    prop_oneof![8 => 0..64_u64, 2 => 0..100_000_u64, 1 => any::<u64>()]
        .prop_map(Seq)
        .boxed()
}

/// A time.
pub fn millis() -> BoxedStrategy<Millis> {
    prop_oneof![4 => 1_700_000_000_000..1_900_000_000_000_u64, 1 => any::<u64>()]
        .prop_map(Millis)
        .boxed()
}

/// A digest.
pub fn digest() -> BoxedStrategy<Digest> {
    any::<[u8; 32]>().prop_map(Digest).boxed()
}

/// A block's name.
pub fn block_id() -> BoxedStrategy<crate::BlockId> {
    (seq(), 0..5_u32)
        .prop_map(|(seq, index)| crate::BlockId { seq, index })
        .boxed()
}

/// A source of salts for [`Event::seal`]: each another one, the same in every run.
#[must_use]
pub fn salts() -> Box<dyn FnMut() -> [u8; 16]> {
    let mut next = 0_u128;
    Box::new(move || {
        next = next.wrapping_add(1);
        next.to_le_bytes()
    })
}

fn some<S: Strategy>(strategy: S) -> option::OptionStrategy<S> {
    option::of(strategy)
}

fn few<S: Strategy>(strategy: S) -> proptest::collection::VecStrategy<S> {
    vec(strategy, 0..4)
}
