//! What the heuristics know of what is shown, kept from one round to the next: a round looks at what is new.
//!
//! - Nothing in it decides: it is found again from nothing by the same rules. The tests hold both against each other.
//! - Entries before the lowest key that an event touched stay; the rest is looked at again. So does what a removal left behind it.
//! - Things that may be the same stand in one group: exchanges whose results have equal sizes and whose arguments are equal, reads that
//!   the host says show the same, injections with the same words. Only groups that something came to or left are judged again.

use super::scene::{Exchange, Scene, reads};
use super::{empty, exchange, marker, read};
use crate::micro;
use crate::reading::{self, arguments};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{BlockId, Body, Digest, Event, Seq};
use recount_projections::{Applied, Shown, Timeline, Unit};

/// A call among those that are shown: its response, and its place in it.
pub(super) type Spot = (Seq, u32);

/// A call of a response: the response's key, and the call.
pub(super) type Zombie = (Seq, BlockId);

/// What the host says about results: file and digest.
pub(super) type Told = BTreeMap<BlockId, (String, Option<Digest>)>;

/// Things that may be the same.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    /// Calls by the size of their results and a print of their arguments.
    Sized(u64, u64),
    /// Reads by file, digest and a print of their arguments.
    Told(String, Digest, u64),
    /// Injections by slot and a print of what they say.
    Said(String, u64),
}

/// What a group's members came to.
#[derive(Clone, Debug, Default)]
struct Verdict {
    superseded: Vec<Zombie>,
    duplicates: Vec<Zombie>,
    repeated: Vec<Seq>,
}

/// What is known of what is shown.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// What is shown before this key is known; none: everything is.
    touched: Option<Seq>,
    /// It was looked at.
    begun: bool,
    told: Told,
    /// Calls whose results cache edits name.
    named: BTreeSet<BlockId>,
    /// The groups that each shown entry is in.
    places: BTreeMap<Seq, Vec<Group>>,
    groups: BTreeMap<Group, BTreeSet<Spot>>,
    changed: BTreeSet<Group>,
    verdicts: BTreeMap<Group, Verdict>,
    /// Responses that say nothing.
    silent: BTreeSet<Seq>,
    /// Injections of progress, by slot.
    progress: BTreeMap<String, BTreeSet<Seq>>,
}

impl Index {
    /// Hears of an event that was taken in; `timeline`: as it is behind it, or behind later ones.
    pub fn follow(&mut self, event: &Event, applied: &Applied, timeline: &Timeline) {
        match &event.body {
            Body::FileRead(read) => {
                if let (Some(block), Some(path)) = (read.block, read.path.words()) {
                    let told = (path.into_owned(), read.digest);
                    self.told.insert(block, told);
                    self.touch(place(timeline, block));
                }
            }
            Body::CacheEdit(edit) => {
                for call in &edit.calls {
                    self.named.insert(*call);
                    self.touch(place(timeline, *call));
                }
            }
            Body::Rollback(_) | Body::Undo(_) | Body::CacheReset(_) | Body::Erased(_) => {
                *self = Self::default();
            }
            _ => self.touch(applied.touched),
        }
    }

    fn touch(&mut self, key: Option<Seq>) {
        self.touched = match (self.touched, key) {
            (Some(before), Some(now)) => Some(before.min(now)),
            (before, now) => before.or(now),
        };
    }

    /// Looks at what is new.
    pub(super) fn look(&mut self, scene: &Scene<'_>) {
        let timeline = scene.at.timeline();
        if !self.begun {
            *self = Self {
                begun: true,
                touched: Some(Seq(0)),
                told: reads(timeline),
                named: micro::named(timeline),
                ..Self::default()
            };
        }
        let Some(from) = self.touched.take() else {
            return;
        };
        self.forget(from);
        for (key, shown) in timeline.shown.range(from..) {
            match shown {
                Shown::Unit(unit) => self.unit(timeline, *key, unit),
                Shown::Inject(_) => self.injection(timeline, *key),
                _ => {}
            }
        }
        for group in core::mem::take(&mut self.changed) {
            self.judge(scene, group);
        }
    }

    /// Takes out what stands from a key on.
    fn forget(&mut self, from: Seq) {
        for (key, groups) in self.places.split_off(&from) {
            for group in groups {
                if let Some(members) = self.groups.get_mut(&group) {
                    members.retain(|(member, _)| *member != key);
                    if members.is_empty() {
                        self.groups.remove(&group);
                    }
                }
                self.changed.insert(group);
            }
        }
        self.silent.split_off(&from);
        self.progress.retain(|_, keys| {
            keys.split_off(&from);
            !keys.is_empty()
        });
    }

    fn unit(&mut self, timeline: &Timeline, key: Seq, unit: &Unit) {
        if empty::says_nothing(unit) {
            self.silent.insert(key);
        }
        for (place, call) in (0_u32..).zip(&unit.calls) {
            let Some(answer) = reading::closing(call) else {
                continue;
            };
            if timeline.replaced.contains_key(&answer.block) || self.named.contains(&call.block) {
                continue;
            }
            let facts = reading::facts(unit, call);
            let given = facts
                .map(|facts| arguments(facts.input))
                .unwrap_or_default();
            let words = given
                .iter()
                .flat_map(|(name, value)| [name.as_str(), value.as_str()]);
            let print = print(words.map(str::as_bytes));
            if let Some((path, Some(digest))) = self.told.get(&answer.block) {
                let group = Group::Told(path.clone(), *digest, print);
                self.join(group, (key, place));
            }
            let size = super::scene::size(answer);
            self.join(Group::Sized(size, print), (key, place));
        }
    }

    fn injection(&mut self, timeline: &Timeline, key: Seq) {
        let Some((slot, inject)) = marker::once(timeline, key) else {
            return;
        };
        if marker::is_progress(&slot) {
            let keys = self.progress.entry(slot.clone()).or_default();
            keys.insert(key);
        }
        let blocks = inject.content.blocks.iter();
        let print = print(blocks.map(|block| block.raw.bytes().unwrap_or_default()));
        self.join(Group::Said(slot, print), (key, 0));
    }

    fn join(&mut self, group: Group, spot: Spot) {
        let members = self.groups.entry(group.clone()).or_default();
        members.insert(spot);
        if members.len() > 1 {
            self.changed.insert(group.clone());
        }
        self.places.entry(spot.0).or_default().push(group);
    }

    /// Judges the members of a group anew.
    fn judge(&mut self, scene: &Scene<'_>, group: Group) {
        let members = self.groups.get(&group).filter(|members| members.len() > 1);
        let Some(members) = members else {
            self.verdicts.remove(&group);
            return;
        };
        let timeline = scene.at.timeline();
        let mut verdict = Verdict::default();
        if let Group::Said(..) = group {
            let keys = members.iter().map(|(key, _)| *key).collect();
            verdict.repeated = marker::repeated(timeline, keys);
        } else {
            let spots = members.iter().copied();
            let same: Vec<Exchange<'_>> = spots.filter_map(|spot| scene.exchange(spot)).collect();
            verdict.superseded = read::superseded(scene, &same, &self.told);
            if matches!(group, Group::Sized(..)) {
                verdict.duplicates = exchange::duplicates(&same);
            }
        }
        if verdict.superseded.is_empty()
            && verdict.duplicates.is_empty()
            && verdict.repeated.is_empty()
        {
            self.verdicts.remove(&group);
        } else {
            self.verdicts.insert(group, verdict);
        }
    }

    /// Calls of reads that later ones make superfluous.
    pub(super) fn superseded(&self) -> BTreeSet<Zombie> {
        let all = self.verdicts.values();
        all.flat_map(|verdict| verdict.superseded.iter().copied())
            .collect()
    }

    /// Calls that were made again later with the same result.
    pub(super) fn duplicates(&self) -> BTreeSet<Zombie> {
        let all = self.verdicts.values();
        all.flat_map(|verdict| verdict.duplicates.iter().copied())
            .collect()
    }

    /// Responses that say nothing.
    pub(super) const fn silent(&self) -> &BTreeSet<Seq> {
        &self.silent
    }

    /// Injections that a later one repeats word for word.
    pub(super) fn repeated(&self) -> impl Iterator<Item = Seq> + '_ {
        let all = self.verdicts.values();
        all.flat_map(|verdict| verdict.repeated.iter().copied())
    }

    /// Injections of progress, slot by slot.
    pub(super) fn progress(&self) -> impl Iterator<Item = &BTreeSet<Seq>> {
        self.progress.values()
    }
}

/// The entry that shows a block: the first of those that its position belongs to.
fn place(timeline: &Timeline, block: BlockId) -> Option<Seq> {
    let place = timeline.content.get(&block.seq)?;
    place.units.iter().copied().chain([block.seq]).min()
}

/// A print of some texts: equal for equal ones. (FNV-1a, <http://www.isthe.com/chongo/tech/comp/fnv/>.) What only seems equal is told
/// apart when it is judged.
fn print<'a>(texts: impl Iterator<Item = &'a [u8]>) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    texts.fold(0xcbf2_9ce4_8422_2325, |hash, text| {
        step(text.iter().copied().fold(hash, step), 0xff)
    })
}
