//! What a round of this tier comes to.

use super::stand_in;
use crate::reading::{Brought, TakenBack, freed, taken_back};
use crate::{Proposal, Proposed, Situation, Spill, cut};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_events::{BlockId, Body, Budget, Content, Replace, Text, escape};

/// What is to happen, gathered block by block.
pub(super) struct Plan<'a> {
    pub(super) at: &'a Situation<'a>,
    examined: Vec<BlockId>,
    /// What stands for a block, in UTF-16 units.
    gone: BTreeMap<BlockId, u64>,
    events: Vec<Proposed>,
    spills: Vec<Spill>,
    /// What was undone; read when it is needed first.
    back: Option<TakenBack>,
    /// Bytes by which each block gets smaller.
    saved: BTreeMap<BlockId, u64>,
    files: u64,
    cut: u64,
    pictures: u64,
}

impl<'a> Plan<'a> {
    pub(super) fn new(at: &'a Situation<'a>) -> Self {
        Self {
            at,
            examined: Vec::new(),
            gone: BTreeMap::new(),
            events: Vec::new(),
            spills: Vec::new(),
            back: None,
            saved: BTreeMap::new(),
            files: 0,
            cut: 0,
            pictures: 0,
        }
    }

    /// A result was looked at.
    pub(super) fn examined(&mut self, block: BlockId) {
        self.examined.push(block);
    }

    /// UTF-16 units of what stands for a block from this round on.
    pub(super) fn stand_in(&self, block: BlockId) -> Option<u64> {
        self.gone.get(&block).copied()
    }

    /// Bytes by which this round makes the body smaller, at the least.
    pub(super) fn saved(&self) -> u64 {
        self.saved.values().copied().fold(0, u64::saturating_add)
    }

    /// Its replacement was undone.
    pub(super) fn is_back(&mut self, block: BlockId) -> bool {
        let state = self.at.state;
        let back = self.back.get_or_insert_with(|| taken_back(state));
        back.blocks.contains(&block)
    }

    /// A result gives way to a preview of its file; without a place for files, to its two ends within `limit`. False: that would not make
    /// it smaller, or it was brought back.
    pub(super) fn spill(
        &mut self,
        block: BlockId,
        brought: &Brought<'_>,
        limit: u64,
        cause: &str,
    ) -> bool {
        let Some((root, folder)) = self.at.spill else {
            let words = stand_in::ends(self.at, brought, block, limit);
            return self.replace(block, brought, words, cause);
        };
        let name = name(block, brought);
        let path = format!("{}/{folder}/{name}", root.trim_end_matches('/'));
        let words = stand_in::preview(self.at, brought, &path);
        if !self.fits(block, brought, &words) {
            return false;
        }
        self.spills.push(Spill {
            block,
            name,
            bytes: brought.file.to_vec(),
        });
        self.files = self.files.saturating_add(1);
        self.put(block, brought, &words, cause);
        true
    }

    /// A result gives way to words.
    pub(super) fn replace(
        &mut self,
        block: BlockId,
        brought: &Brought<'_>,
        words: String,
        cause: &str,
    ) -> bool {
        if !self.fits(block, brought, &words) {
            return false;
        }
        self.cut = self.cut.saturating_add(1);
        self.put(block, brought, &words, cause);
        true
    }

    fn fits(&mut self, block: BlockId, brought: &Brought<'_>, words: &str) -> bool {
        let raw = if brought.json {
            brought.file.len()
        } else {
            escape(&brought.words).len()
        };
        cut::units(words) < brought.units && escape(words).len() < raw && !self.is_back(block)
    }

    fn put(&mut self, block: BlockId, brought: &Brought<'_>, words: &str, cause: &str) {
        self.gone.insert(block, cut::units(words));
        let saved = brought.file.len().saturating_sub(words.len());
        self.saved.insert(block, saved as u64);
        self.content(block, Content::string(&escape(words)), cause);
    }

    /// A block that shows pictures or documents gives way to a content without them; `bytes`: its size until now.
    pub(super) fn unseen(&mut self, block: BlockId, with: Content, bytes: u64, cause: &str) {
        let words = with.blocks.iter().filter_map(|block| block.words());
        self.gone
            .insert(block, words.map(|words| cut::units(&words)).sum());
        let now = size(&with).saturating_add(ENVELOPE);
        self.saved.insert(block, bytes.saturating_sub(now));
        self.pictures = self.pictures.saturating_add(1);
        self.content(block, with, cause);
    }

    fn content(&mut self, block: BlockId, with: Content, cause: &str) {
        self.events.push(Proposed::from(Body::Replace(Replace {
            blocks: Vec::from([block]),
            with,
            cause: Some(Text::plain(cause)),
        })));
    }

    /// The proposal: what leaves, then what was examined.
    pub(super) fn finish(mut self) -> Proposal {
        let freed = self.at.scaled(freed(self.at, &self.saved));
        let did = self.did();
        if !self.examined.is_empty() {
            let judged = core::mem::take(&mut self.examined);
            self.events
                .push(Proposed::from(Body::Budget(Budget { judged })));
        }
        Proposal {
            did,
            freed,
            events: self.events,
            spills: self.spills,
        }
    }

    fn did(&self) -> String {
        let examined = self.examined.iter();
        let inline = examined
            .filter(|block| !self.gone.contains_key(block))
            .count() as u64;
        let parts = [
            (self.files, "written to a file"),
            (self.cut, "cut to its ends"),
            (self.pictures, "shown without pictures or documents"),
            (inline, "left as it is"),
        ];
        let parts: Vec<String> = parts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        match parts.as_slice() {
            [] => String::new(),
            parts => "results: ".to_string() + &parts.join(", "),
        }
    }
}

/// The name of a result's file.
pub(super) fn name(block: BlockId, brought: &Brought<'_>) -> String {
    let ending = if brought.json { "json" } else { "txt" };
    format!("{}-{}.{ending}", block.seq, block.index)
}

/// Bytes around a result's content on the wire, at the most: its type, its id, that it failed.
const ENVELOPE: u64 = 128;
/// Bytes around the words of a text block.
const TEXT_BLOCK: u64 = 32;

/// Bytes of a content on the wire.
fn size(content: &Content) -> u64 {
    let blocks = content.blocks.iter();
    let sizes = blocks.map(|block| block.raw.len.saturating_add(TEXT_BLOCK));
    sizes.fold(0, u64::saturating_add)
}
