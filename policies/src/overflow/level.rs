//! Levels without a model (R3, R4): 1 to 3, each cutting harder than the one before.
//!
//! - A level clears all results but the newest few; where that is not enough it folds what is older than a part of the trigger; where one
//!   turn alone is larger than the window, the largest results in it lose their middle.
//! - The level that was reached is a fact of the log and holds until an answer comes.

use super::clear;
use crate::compact::limits::{counted, keep_percent, percent};
use crate::compact::trial::{Look, Trial};
use crate::compact::{Ask, atoms, breakers, fold_by_rule, range};
use crate::{Proposal, Proposed, Situation};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{BlockId, Body, BreakerState, Trigger};

/// The last level.
pub const LEVELS: u8 = 3;
/// Per cent of what was refused that may be left at levels 1 to 3, whatever our own estimate said.
const LEFT: [u64; 3] = [90, 70, 50];
/// Counted tokens that a cut result keeps at levels 1 to 3, where the window is large enough.
const LEAST: [u64; 3] = [512, 128, 32];

/// The level that was reached since the last answer; 0: none.
#[must_use]
pub fn reached(at: &Situation<'_>) -> u8 {
    breakers::level(at)
}

/// The level to try next: the smallest above the one reached that is expected to free the excess (provider's tokens; none: nobody knows).
/// None: there is no further one.
#[must_use]
pub fn wanted(at: &Situation<'_>, excess: Option<u64>, reached: u8) -> Option<u8> {
    let next = reached.checked_add(1).filter(|next| *next <= LEVELS)?;
    let Some(excess) = excess else {
        return Some(next);
    };
    let enough = (next..=LEVELS).find(|level| {
        let left = percent(at.lines.trigger.min(at.weighed()), keep_percent(at, *level));
        at.weighed().saturating_sub(left) >= excess
    });
    Some(enough.unwrap_or(LEVELS))
}

/// What a level does. Empty where it can free nothing.
#[must_use]
pub fn level(at: &Situation<'_>, level: u8) -> Proposal {
    let level = level.clamp(1, LEVELS);
    let index = usize::from(level).saturating_sub(1);
    let mark = breakers::event(breakers::LEVEL, BreakerState::Counts, u64::from(level));
    let goal = percent(at.lines.trigger.min(at.weighed()), keep_percent(at, level));
    let keep = at.constants.overflow.keep_results.get(index).copied();

    let old = clear::old(at, keep.unwrap_or(0));
    let mut steps = Steps::new(at, mark);
    steps.clear(&old, level);
    let look = steps.trial.look();
    if look.at(at).weighed() > goal {
        let ask = Ask {
            trigger: Trigger::Overflow,
            level,
            ..Ask::default()
        };
        steps = folded(at, &look, &ask, &old).unwrap_or(steps);
    }
    let left = LEFT.get(index).copied().unwrap_or(50);
    let fits = sendable(at).min(percent(at.fill.total, left));
    let least = LEAST.get(index).copied().unwrap_or(32);
    steps.cut(fits, least.min(counted(at, at.profile.window) / 16), level);
    steps.proposal(level)
}

/// Tokens that a whole prompt may have so that an answer fits behind it.
fn sendable(at: &Situation<'_>) -> u64 {
    let window = at.profile.window;
    let answer = at
        .profile
        .max_output
        .min(at.constants.compact.output_reserve)
        .min(window / 2);
    let sendable = window.saturating_sub(answer);
    match at.constants.compact.limit {
        0 => sendable.min(at.lines.effective),
        _ => sendable,
    }
}

/// Folds what `look` shows to be too much; clears only what the fold leaves.
fn folded<'a>(
    at: &'a Situation<'a>,
    look: &Look,
    ask: &Ask<'_>,
    old: &[BlockId],
) -> Option<Steps<'a>> {
    let range = {
        let then = look.at(at);
        let atoms = atoms::atoms(&then);
        range::resolve(&then, &atoms, ask).ok()?.ends(&atoms)?
    };
    let mark = breakers::event(breakers::LEVEL, BreakerState::Counts, u64::from(ask.level));
    let mut steps = Steps::new(at, mark);
    let rest: Vec<BlockId> = old
        .iter()
        .filter(|block| block.seq < range.0 || block.seq > range.1)
        .copied()
        .collect();
    steps.clear(&rest, ask.level);
    let look = steps.trial.look();
    let fold = fold_by_rule(&look.at(at), range, ask).ok()?;
    steps.did.push(fold.did);
    fold.events
        .into_iter()
        .for_each(|proposed| steps.take(proposed));
    Some(steps)
}

/// Events so far, tried one by one.
struct Steps<'a> {
    at: &'a Situation<'a>,
    trial: Trial<'a>,
    events: Vec<Proposed>,
    did: Vec<String>,
}

impl<'a> Steps<'a> {
    fn new(at: &'a Situation<'a>, mark: Proposed) -> Self {
        let mut steps = Self {
            at,
            trial: Trial::new(at),
            events: Vec::new(),
            did: Vec::new(),
        };
        steps.take(mark);
        steps
    }

    /// Takes an event in; one that does not fit is left out.
    fn take(&mut self, proposed: Proposed) {
        if self.trial.take(&proposed).is_ok() {
            self.events.push(proposed);
        }
    }

    /// Takes events in that make the prompt smaller together; others are left out.
    fn take_smaller(&mut self, bodies: Vec<Body>, did: String) {
        if bodies.is_empty() {
            return;
        }
        let (trial, events) = (self.trial.again(), self.events.len());
        let before = self.trial.tokens();
        bodies.into_iter().for_each(|body| self.take(body.into()));
        if self.trial.tokens() < before {
            self.did.push(did);
        } else {
            self.trial = trial;
            self.events.truncate(events);
        }
    }

    fn clear(&mut self, blocks: &[BlockId], level: u8) {
        if !blocks.is_empty() {
            let did = format!("{} old results cleared", blocks.len());
            self.take_smaller(alloc::vec![clear::cleared(blocks.to_vec(), level)], did);
        }
    }

    /// Cuts results until the whole prompt has at most so many tokens.
    fn cut(&mut self, fits: u64, least: u64, level: u8) {
        let look = self.trial.look();
        let then = look.at(self.at);
        let over = then.fill.total.saturating_sub(fits);
        if over == 0 {
            return;
        }
        let need = counted(self.at, over).saturating_add(1);
        let bodies = clear::cut(&then, need, least, level);
        let did = format!("{} large results cut", bodies.len());
        self.take_smaller(bodies, did);
    }

    fn proposal(self, level: u8) -> Proposal {
        let freed = self.trial.saved();
        if freed == 0 {
            return Proposal {
                did: format!("level {level}: there is nothing left to free"),
                ..Proposal::default()
            };
        }
        Proposal {
            did: format!("level {level}: {}", self.did.join("; ")),
            freed,
            events: self.events,
            spills: Vec::new(),
        }
    }
}
