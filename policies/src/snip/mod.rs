//! ② Zombies: what is in the prompt without use, removed by name.
//!
//! - Each heuristic is a line of `RULES`: its switch, what it finds, and what it says in the log. One event for each that found something.
//! - Whole responses only, with all their results, and only when every call of theirs is a zombie; single injections. Never the person's words,
//!   never words of the model beyond an announcement of its calls, never a thing that the open tool loop or one of the newest responses needs.
//! - Signed thinking that is bound to its prefix would become invalid behind a removal: what stands in front of it stays, unless the policy
//!   allows it; then the answer says so.
//! - What was undone stays undone.
//! - A round looks at what is new since the last one, where it is given what that one knew; it reads results only where sizes and
//!   arguments are equal.

mod empty;
mod exchange;
mod index;
mod marker;
mod read;
mod scene;

pub use index::Index;

use crate::constants::Snip as Switches;
use crate::reading::{taken_back, tokens};
use crate::{Proposal, Proposed, Situation};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{BlockId, Body, Covered, Seq, SessionKind, Snip, Text};
use scene::Scene;

/// A heuristic.
struct Rule {
    /// Its name.
    name: &'static str,
    /// It is switched on.
    on: fn(&Switches) -> bool,
    /// The keys of what it would remove.
    finds: fn(&Scene<'_>, &Index) -> BTreeSet<Seq>,
    /// Why, for the log.
    cause: &'static str,
}

/// All of them; what one found is not looked for again.
const RULES: [Rule; 4] = [
    Rule {
        name: "superseded reads",
        on: |switches| switches.superseded_reads,
        finds: |scene, index| scene.wholly(&index.superseded()),
        cause: "superseded reads: the same part of the same unchanged file was read again later",
    },
    Rule {
        name: "duplicates",
        on: |switches| switches.duplicates,
        finds: |scene, index| scene.wholly(&index.duplicates()),
        cause: "duplicates: the same call brought the same result again later",
    },
    Rule {
        name: "empty messages",
        on: |switches| switches.empty,
        finds: empty::messages,
        cause: "empty messages: the model said nothing and called nothing",
    },
    Rule {
        name: "markers",
        on: |switches| switches.markers,
        finds: marker::stale,
        cause: "markers: progress that is over, or the same injection again later",
    },
];

/// What this tier proposes.
#[must_use]
pub fn propose(at: &Situation<'_>) -> Proposal {
    propose_with(at, &mut Index::default())
}

/// The same by one that looks only at what is new: `index` followed every event since it was used last, and nothing else used it.
#[must_use]
pub fn propose_with(at: &Situation<'_>, index: &mut Index) -> Proposal {
    let switches = &at.constants.snip;
    let on: Vec<&Rule> = RULES.iter().filter(|rule| (rule.on)(switches)).collect();
    if on.is_empty() || !at.auto || at.kind == SessionKind::Side {
        return Proposal::default();
    }
    let scene = Scene::of(at);
    index.look(&scene);
    let mut taken = BTreeSet::new();
    let mut found: Vec<(&Rule, BTreeSet<Seq>)> = Vec::new();
    for rule in on {
        let new: BTreeSet<Seq> = (rule.finds)(&scene, index)
            .into_iter()
            .filter(|key| taken.insert(*key))
            .collect();
        found.push((rule, new));
    }
    if taken.is_empty() {
        return Proposal::default();
    }
    let back = taken_back(at.state).messages;
    let invalidated = Allowed::of(at, &scene, &mut found, &back);
    plan(at, &scene, &found, invalidated)
}

/// What may go, after all.
struct Allowed;

impl Allowed {
    /// Leaves what may go; answers how many of those make thinking behind them invalid.
    fn of(
        at: &Situation<'_>,
        scene: &Scene<'_>,
        found: &mut [(&Rule, BTreeSet<Seq>)],
        back: &BTreeSet<Seq>,
    ) -> u64 {
        let bound = scene.bound_thinking();
        let mut invalidated = 0_u64;
        for (_, keys) in found {
            keys.retain(|key| {
                let was_back = scene.positions(*key).iter().any(|seq| back.contains(seq));
                let before = bound.is_some_and(|thinking| *key < thinking);
                let stays = was_back || (before && !at.constants.snip.before_thinking);
                if !stays && before {
                    invalidated = invalidated.saturating_add(1);
                }
                !stays
            });
        }
        invalidated
    }
}

fn plan(
    at: &Situation<'_>,
    scene: &Scene<'_>,
    found: &[(&Rule, BTreeSet<Seq>)],
    invalidated: u64,
) -> Proposal {
    let all = found.iter().flat_map(|(_, keys)| keys);
    let blocks: BTreeSet<BlockId> = all.flat_map(|key| scene.blocks(*key)).collect();
    let counted = tokens(at, &blocks);
    if counted < at.constants.snip.least_tokens {
        return Proposal::default();
    }
    let mut proposal = Proposal {
        freed: at.scaled(counted),
        ..Proposal::default()
    };
    let mut parts: Vec<String> = Vec::new();
    for (rule, keys) in found.iter().filter(|(_, keys)| !keys.is_empty()) {
        parts.push(format!("{} {}", keys.len(), rule.name));
        proposal.events.push(Proposed::from(Body::Snip(Snip {
            messages: keys.iter().flat_map(|key| scene.positions(*key)).collect(),
            cause: Some(Text::plain(rule.cause)),
            covered: Covered::default(),
        })));
    }
    if parts.is_empty() {
        return proposal;
    }
    proposal.did = format!("removed: {}", parts.join(", "));
    if invalidated > 0 {
        proposal.did.push_str(&format!(
            "; {invalidated} of them in front of signed thinking, which is left out from there on"
        ));
    }
    proposal
}
