//! A state as plain data, for a state checkpoint: every event in it is a position, to be read again from the log.
//!
//! - No text that anybody wrote is in it: names and ids are short digests, words stand in the log.
//! - `freeze` and `thaw` are inverse to each other on cooled states: thawed and frozen again it is the same data.
//! - The data is only as good as where it comes from: whoever keeps it checks that it is whole and belongs to the log's very records.

mod ledger;
mod needs;
mod thaw;
mod timeline;
mod whole;

use crate::state::{At, Bone};
use crate::{List, Map, State};
use alloc::vec::Vec;
use bincode::{Decode, Encode};
use ledger::FrozenLedger;
use recount_events::Seq;
use timeline::FrozenTimeline;
use whole::FrozenWhole;

/// The most bytes of a frozen state.
const LIMIT: usize = 1 << 30;

/// A state as plain data.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Frozen {
    next: Seq,
    origin: Option<Seq>,
    bones: Vec<FrozenBone>,
    timeline: FrozenTimeline,
    ledger: FrozenLedger,
    whole: FrozenWhole,
}

/// How a position hangs together with others; what is usual is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
struct FrozenBone {
    flags: u8,
    prev: Option<Seq>,
    moved: Option<Seq>,
}

/// It does not count.
const SKIP: u8 = 1;
/// A fact of the ledger stands there.
const LEDGER: u8 = 2;
/// The position before it on its line is the one before it in the log.
const FOLLOWS: u8 = 4;
/// The lowest key that moved is its own.
const OWN: u8 = 8;

impl State {
    /// The state as plain data; `None` when damage touched it: it is folded from the log each time.
    #[must_use]
    pub fn freeze(&self) -> Option<Frozen> {
        if !self.can_cool() {
            return None;
        }
        let positions = (0..self.next.0).map(Seq);
        let bones = positions.map(|seq| Some(FrozenBone::of(seq, self.log.at(seq)?)));
        Some(Frozen {
            next: self.next,
            origin: self.origin,
            bones: bones.collect::<Option<_>>()?,
            timeline: FrozenTimeline::of(&self.now),
            ledger: FrozenLedger::of(&self.ledger),
            whole: FrozenWhole::of(&self.whole),
        })
    }
}

impl Frozen {
    /// The newest position in it.
    #[must_use]
    pub fn head(&self) -> Option<Seq> {
        self.next.prev()
    }

    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        bincode::encode_to_vec(self, config()).unwrap_or_default()
    }

    /// From its bytes; `None` for any other bytes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (frozen, read) = bincode::decode_from_slice::<Self, _>(bytes, config()).ok()?;
        (read == bytes.len()).then_some(frozen)
    }
}

fn config() -> impl bincode::config::Config {
    bincode::config::standard().with_limit::<LIMIT>()
}

impl FrozenBone {
    fn of(seq: Seq, at: At<'_>) -> Self {
        let follows = at.prev() == seq.prev();
        let own = at.moved() == Some(seq);
        let flag = |flag: u8, there: bool| if there { flag } else { 0 };
        Self {
            flags: flag(SKIP, at.skip())
                | flag(LEDGER, at.is_ledger())
                | flag(FOLLOWS, follows)
                | flag(OWN, own),
            prev: at.prev().filter(|_| !follows),
            moved: at.moved().filter(|_| !own),
        }
    }

    fn bone(self, seq: Seq) -> Bone {
        let is = |flag: u8| self.flags & flag != 0;
        let prev = if is(FOLLOWS) { seq.prev() } else { self.prev };
        let moved = if is(OWN) { Some(seq) } else { self.moved };
        Bone::new(prev, moved, is(SKIP), is(LEDGER))
    }
}

/// A map as a list, in its order.
fn list<K: Ord + Copy, V: Copy>(map: &Map<K, V>) -> Vec<(K, V)> {
    map.iter().map(|(key, value)| (*key, *value)).collect()
}

/// The keys of a map, in order.
fn keys<K: Ord + Copy, V>(map: &Map<K, V>) -> Vec<K> {
    map.keys().copied().collect()
}

/// A list as a map.
fn map<K: Ord + Copy, V: Copy>(list: &[(K, V)]) -> Map<K, V> {
    list.iter().copied().collect()
}

/// A list of keys as a map.
fn set<K: Ord + Copy>(keys: &[K]) -> Map<K, ()> {
    keys.iter().map(|key| (*key, ())).collect()
}

/// A persistent list as a plain one.
fn plain<T: Copy>(list: &List<T>) -> Vec<T> {
    list.iter().copied().collect()
}
