//! The end of the conversation by the host's own rule, compared with the timeline that was read.
//!
//! The rule (Claude Agent SDK for Python, `sessions.py`, MIT): of the records that nobody names as parent, walk up to the
//! nearest message; of these, not a sub-agent's and not injected, the one that stands last in the file.

use super::Item;
use super::record::{Parent, Record};
use super::session::Session;
use crate::{Problem, Report};
use std::collections::{BTreeMap, BTreeSet};

type Chain<'i, 'a> = BTreeMap<&'i str, (usize, &'i Record<'a>)>;

/// Notes when the host would end elsewhere, and circles of parents.
pub(super) fn check<'a>(main: &Session<'a>, items: &[Item<'a>], report: &mut Report) {
    let records = || items.iter().filter_map(|item| item.record.as_ref());
    let links = records().enumerate().filter(|(_, record)| linked(record));
    let chain: Chain<'_, 'a> = links
        .filter_map(|(at, record)| Some((record.uuid()?, (at, record))))
        .collect();
    circles(main, &chain, report);
    let Some(leaf) = leaf(&chain) else { return };
    let node = leaf
        .uuid()
        .and_then(|uuid| main.timeline.find(uuid))
        .flatten();
    if node.is_some_and(|node| !main.timeline.follows(node)) {
        main.doubt(leaf, Problem::LeafElsewhere, String::new(), report);
    }
}

fn linked(record: &Record<'_>) -> bool {
    let family = record.name.split('/').next().unwrap_or_default();
    matches!(
        family,
        "user" | "assistant" | "progress" | "system" | "attachment"
    )
}

fn parent<'i>(record: &'i Record<'_>) -> Option<&'i str> {
    match &record.parent {
        Parent::Is(uuid) => Some(uuid),
        Parent::Absent | Parent::Root => None,
    }
}

fn leaf<'i, 'a>(chain: &Chain<'i, 'a>) -> Option<&'i Record<'a>> {
    let named: BTreeSet<&str> = chain
        .values()
        .filter_map(|(_, record)| parent(record))
        .collect();
    let ends = chain.iter().filter(|(uuid, _)| !named.contains(*uuid));
    let mut found = BTreeMap::new();
    let leaves = ends.filter_map(|(_, end)| nearest(*end, chain, &mut found));
    let plain =
        leaves.filter(|(_, record)| !record.sidechain() && !record.members.is_true("isMeta"));
    plain.max_by_key(|(at, _)| *at).map(|(_, record)| record)
}

/// The nearest message upwards; what was found below a record is remembered, so that no way is gone twice.
fn nearest<'i, 'a>(
    end: (usize, &'i Record<'a>),
    chain: &Chain<'i, 'a>,
    seen: &mut BTreeMap<usize, ()>,
) -> Option<(usize, &'i Record<'a>)> {
    let mut here = end;
    loop {
        if here.1.says() {
            return Some(here);
        }
        if seen.insert(here.0, ()).is_some() {
            return None;
        }
        here = *chain.get(parent(here.1)?)?;
    }
}

/// Circles of parents, each reported once.
fn circles<'a>(main: &Session<'a>, chain: &Chain<'_, 'a>, report: &mut Report) {
    let mut walks: BTreeMap<usize, usize> = BTreeMap::new();
    for (walk, start) in chain.values().enumerate() {
        let mut here = *start;
        loop {
            match walks.get(&here.0) {
                // Names of themselves were noted when they were read.
                Some(other) if *other == walk && parent(here.1) != here.1.uuid() => {
                    main.doubt(here.1, Problem::Cycle, String::new(), report);
                    break;
                }
                Some(_) => break,
                None => walks.insert(here.0, walk),
            };
            let Some(next) = parent(here.1).and_then(|uuid| chain.get(uuid)) else {
                break;
            };
            here = *next;
        }
    }
}
