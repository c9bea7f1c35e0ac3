//! The provider's prompt cache: what a request reads and writes, by the published rules (platform.claude.com, prompt caching;
//! developers.openai.com, prompt caching).
//!
//! - Anthropic: explicit breakpoints, exact prefixes, written only at breakpoints, found at most 20 positions before one (itself
//!   counted), five minutes or an hour from the start of the request that wrote or read them, nothing below the least prefix.
//! - OpenAI: the longest prefix shared with an earlier request, in steps of 128 tokens from 1,024 on, for ten minutes.

use super::body::{Body, Life};
use crate::validator::Wire;
use std::collections::BTreeMap;

/// Positions that are looked at from a breakpoint backwards, itself counted.
const LOOK_BACK: usize = 20;
/// The least prefix that is cached, in tokens: that of the Sonnet models.
const LEAST: u64 = 1_024;
/// OpenAI's step.
const STEP: u64 = 128;
/// OpenAI's idle lifetime, in ms.
const IDLE: u64 = 10 * 60_000;

/// What a request read and wrote, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Neither read nor written.
    pub input: u64,
    /// Read.
    pub read: u64,
    /// Written for five minutes.
    pub write_short: u64,
    /// Written for an hour.
    pub write_long: u64,
}

impl Account {
    /// All input.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input + self.read + self.write_short + self.write_long
    }
}

/// A cached prefix.
#[derive(Clone, Copy, Debug)]
struct Entry {
    life: Life,
    until: u64,
}

/// The cache of one workspace.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    entries: BTreeMap<[u8; 32], Entry>,
}

impl Cache {
    /// Books a request: `tokens` holds what each block costs, the fixed overhead in the first.
    pub fn book(&mut self, wire: Wire, body: &Body, tokens: &[u64], now: u64) -> Account {
        let prefixes = prefixes(body);
        let sums: Vec<u64> = tokens
            .iter()
            .scan(0, |sum, tokens| {
                *sum += tokens;
                Some(*sum)
            })
            .collect();
        self.entries.retain(|_, entry| entry.until > now);
        match wire {
            Wire::Anthropic => self.marked(body, &prefixes, &sums, now),
            Wire::Chat => self.automatic(&prefixes, &sums, now),
        }
    }

    fn marked(&mut self, body: &Body, prefixes: &[[u8; 32]], sums: &[u64], now: u64) -> Account {
        let sum = |index: Option<usize>| {
            index
                .and_then(|index| sums.get(index))
                .copied()
                .unwrap_or(0)
        };
        let marks: Vec<(usize, Life)> = body
            .blocks
            .iter()
            .enumerate()
            .filter_map(|(index, block)| Some((index, block.mark?)))
            .collect();
        let hit = marks.iter().rev().find_map(|(mark, _)| {
            let from = (mark + 1).saturating_sub(LOOK_BACK);
            (from..=*mark).rev().find(|index| {
                let known = prefixes.get(*index);
                known.is_some_and(|prefix| self.entries.contains_key(prefix))
            })
        });
        if let Some(entry) = hit
            .and_then(|index| prefixes.get(index))
            .and_then(|prefix| self.entries.get_mut(prefix))
        {
            entry.until = entry.until.max(now + entry.life.millis());
        }
        for (mark, life) in &marks {
            if sum(Some(*mark)) >= LEAST
                && let Some(prefix) = prefixes.get(*mark)
            {
                let until = now + life.millis();
                let fresh = Entry { life: *life, until };
                let entry = self.entries.entry(*prefix).or_insert(fresh);
                entry.life = entry.life.max(*life);
                entry.until = entry.until.max(until);
            }
        }
        let total = sums.last().copied().unwrap_or(0);
        let read = sum(hit);
        let written = |wanted: Option<Life>| {
            let beyond = marks
                .iter()
                .filter(|(mark, life)| {
                    sum(Some(*mark)) >= LEAST
                        && Some(*mark) > hit
                        && wanted.is_none_or(|wanted| *life == wanted)
                })
                .map(|(mark, _)| sum(Some(*mark)));
            beyond.max().unwrap_or(read)
        };
        let (long, last) = (written(Some(Life::Long)), written(None));
        Account {
            input: total - last,
            read,
            write_short: last - long,
            write_long: long - read,
        }
    }

    fn automatic(&mut self, prefixes: &[[u8; 32]], sums: &[u64], now: u64) -> Account {
        let hit = prefixes
            .iter()
            .rposition(|prefix| self.entries.contains_key(prefix));
        let total = sums.last().copied().unwrap_or(0);
        let shared = hit.and_then(|index| sums.get(index)).copied().unwrap_or(0);
        let read = if shared < LEAST {
            0
        } else {
            shared / STEP * STEP
        };
        for prefix in prefixes {
            let fresh = Entry {
                life: Life::Short,
                until: now + IDLE,
            };
            self.entries.insert(*prefix, fresh);
        }
        Account {
            input: total - read,
            read,
            ..Account::default()
        }
    }
}

/// The digest of each block with everything before it.
fn prefixes(body: &Body) -> Vec<[u8; 32]> {
    let mut hasher = blake3::Hasher::new();
    body.blocks
        .iter()
        .map(|block| {
            hasher.update(&(block.bytes.len() as u64).to_le_bytes());
            hasher.update(block.bytes.as_bytes());
            *hasher.finalize().as_bytes()
        })
        .collect()
}
