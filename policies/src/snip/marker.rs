//! Injections that say nothing any more.
//!
//! Two shapes are known to be stale; all else may be meant to add up, and stays:
//! - *progress*: an injection of lifetime `once` in the slot `progress`, or one that begins with `progress:`, `progress/` or `progress.`. It is
//!   over when a newer one of its slot is shown, and orphaned when the turn in which it stood is over;
//! - *repeated*: an injection of lifetime `once` that says word for word what a later one of the same slot says.

use super::scene::Scene;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{Body, Inject, Lifetime, Seq};
use recount_projections::Shown;

/// Injections that are stale.
pub(super) fn stale(scene: &Scene<'_>) -> BTreeSet<Seq> {
    let timeline = scene.at.timeline();
    let mut found = BTreeSet::new();
    let mut seen: BTreeMap<String, Vec<&Inject>> = BTreeMap::new();
    for (key, shown) in timeline.shown.iter().rev() {
        let Shown::Inject(logged) = shown else {
            continue;
        };
        let Body::Inject(inject) = &logged.event.body else {
            continue;
        };
        let Some(slot) = inject
            .slot
            .words()
            .filter(|_| inject.lifetime == Lifetime::Once)
        else {
            continue;
        };
        let later = seen.entry(slot.into_owned()).or_default();
        let over = timeline.authored_last.is_some_and(|turn| *key < turn);
        let progress = is_progress(inject) && (over || !later.is_empty());
        if progress || later.iter().any(|later| says_the_same(later, inject)) {
            found.insert(*key);
        }
        later.push(inject);
    }
    found.retain(|key| scene.is_old(*key));
    found
}

fn is_progress(inject: &Inject) -> bool {
    let slot = inject.slot.words().unwrap_or_default();
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
