//! What Roo hides of its history: by summaries, and by markers that stand for what was cut away.
//!
//! The rules (Roo Code, `src/core/condense/index.ts`, Apache-2.0): what names an existing summary or marker as its parent is not sent;
//! and of what is left, only the newest summary and what follows it, behind the first message unless a person's role says the summary.

use super::Host;
use super::said::Said;
use std::collections::{BTreeMap, BTreeSet};

/// What hides what.
#[derive(Debug, Default)]
pub(super) struct Parents {
    /// By the message after which they are hidden: messages and why.
    after: BTreeMap<usize, Vec<(usize, &'static str)>>,
}

impl Parents {
    pub(super) fn read(&mut self, said: &[Said<'_>], host: Host) {
        if host != Host::Roo {
            return;
        }
        let places = |mark: &str, id: &str| -> BTreeMap<String, usize> {
            let named = said
                .iter()
                .enumerate()
                .filter(|(_, said)| said.members.is_true(mark));
            named
                .filter_map(|(at, said)| Some((said.members.text(id)?, at)))
                .collect()
        };
        let summaries = places("isSummary", "condenseId");
        let markers = places("isTruncationMarker", "truncationId");
        let parents = [
            ("condenseParent", &summaries, "condense"),
            ("truncationParent", &markers, "truncation"),
        ];
        for (index, said) in said.iter().enumerate() {
            for (key, known, cause) in &parents {
                let parent = said
                    .members
                    .text(key)
                    .and_then(|id| known.get(&id).copied());
                let Some(parent) = parent.filter(|parent| *parent != index) else {
                    continue;
                };
                // Its calls are closed by what follows it.
                let when = parent.max(index.saturating_add(1));
                self.after.entry(when).or_default().push((index, cause));
            }
        }
    }

    /// What is hidden once a message is said: runs of messages, first and last.
    pub(super) fn hides(&self, index: usize, said: &Said<'_>) -> Vec<(usize, usize, &'static str)> {
        let mut runs: Vec<(usize, usize, &'static str)> = Vec::new();
        for (at, cause) in self.after.get(&index).into_iter().flatten() {
            match runs.last_mut() {
                Some((_, last, other)) if last.checked_add(1) == Some(*at) && other == cause => {
                    *last = *at
                }
                _ => runs.push((*at, *at, cause)),
            }
        }
        if said.members.is_true("isSummary") && index > 0 {
            let first = usize::from(said.members.text("role").as_deref() != Some("user"));
            if first < index {
                runs.push((first, index.saturating_sub(1), "condense"));
            }
        }
        runs
    }

    /// Names of summaries and markers that messages name and nobody has.
    pub(super) fn orphans(said: &[Said<'_>]) -> BTreeSet<usize> {
        let ids: BTreeSet<String> = said
            .iter()
            .flat_map(|said| ["condenseId", "truncationId"].map(|key| said.members.text(key)))
            .flatten()
            .collect();
        let lost = |said: &Said<'_>| {
            ["condenseParent", "truncationParent"]
                .iter()
                .filter_map(|key| said.members.text(key))
                .any(|id| !ids.contains(&id))
        };
        let orphans = said.iter().enumerate().filter(|(_, said)| lost(said));
        orphans.map(|(index, _)| index).collect()
    }
}
