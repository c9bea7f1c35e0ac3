//! Injections that say nothing any more.
//!
//! Two shapes are known to be stale; all else may be meant to add up, and stays:
//! - *progress*: an injection of lifetime `once` in the slot `progress`, or one that begins with `progress:`, `progress/` or `progress.`. It is
//!   over when a newer one of its slot is shown, and orphaned when the turn in which it stood is over;
//! - *repeated*: an injection of lifetime `once` that says word for word what a later one of the same slot says.

use super::index::Index;
use super::scene::Scene;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{Body, Inject, Lifetime, Seq};
use recount_projections::{Shown, Timeline};

/// Injections that are stale.
pub(super) fn stale(scene: &Scene<'_>, index: &Index) -> BTreeSet<Seq> {
    let turn = scene.at.timeline().authored_last;
    let over = |key: &Seq| turn.is_some_and(|turn| *key < turn);
    let mut found: BTreeSet<Seq> = index.repeated().collect();
    for slot in index.progress() {
        let last = slot.iter().next_back();
        let stale = slot.iter().filter(|key| Some(*key) != last || over(key));
        found.extend(stale.copied());
    }
    found.retain(|key| scene.is_old(*key));
    found
}

/// An injection of lifetime once, and its slot.
pub(super) fn once(timeline: &Timeline, key: Seq) -> Option<(String, &Inject)> {
    let Shown::Inject(logged) = timeline.shown.get(&key)? else {
        return None;
    };
    let Body::Inject(inject) = &logged.event.body else {
        return None;
    };
    let slot = inject
        .slot
        .words()
        .filter(|_| inject.lifetime == Lifetime::Once)?;
    Some((slot.into_owned(), inject))
}

/// Of injections of one slot, in the order of the prompt, those that a later one repeats.
pub(super) fn repeated(timeline: &Timeline, keys: Vec<Seq>) -> Vec<Seq> {
    let mut found = Vec::new();
    let mut seen: Vec<&Inject> = Vec::new();
    for key in keys.into_iter().rev() {
        let Some((_, inject)) = once(timeline, key) else {
            continue;
        };
        if seen.iter().any(|later| says_the_same(later, inject)) {
            found.push(key);
        } else {
            seen.push(inject);
        }
    }
    found
}

/// The slot is one of progress.
pub(super) fn is_progress(slot: &str) -> bool {
    let rest = slot.strip_prefix("progress");
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/', '.']))
}

fn says_the_same(one: &Inject, other: &Inject) -> bool {
    let blocks = one.content.blocks.iter().zip(&other.content.blocks);
    one.content.format == other.content.format
        && one.content.blocks.len() == other.content.blocks.len()
        && blocks
            .into_iter()
            .all(|(one, other)| one.raw.bytes().is_some() && one.raw.bytes() == other.raw.bytes())
}
