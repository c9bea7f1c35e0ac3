//! What a policy looks at.

use crate::{Constants, Thresholds};
use alloc::vec::Vec;
use recount_events::{BlockId, Millis, Profile, Seq, SessionKind};
use recount_projections::{List, Piece, State, Timeline};

/// Tokens of words that are not in the log yet, as the session's tokenizer counts them.
pub trait Words {
    /// Tokens of a text.
    fn tokens(&self, text: &str) -> u64;
}

/// How full the window is. Tokens of the provider, where not said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fill {
    /// The whole prompt, what the provider adds included.
    pub total: u64,
    /// Of those, what the provider counted itself.
    pub measured: u64,
    /// The whole prompt in counted tokens (those of the pieces).
    pub counted: u64,
    /// Provider's tokens for a thousand counted ones.
    pub factor_milli: u64,
    /// What no tier can take away: tools, system prompt, what the provider adds.
    pub floor: u64,
    /// Bytes of the body.
    pub bytes: u64,
    /// Pictures in the prompt.
    pub images: u32,
    /// Cache edits were sent whose effect no answer has told yet.
    pub pending: bool,
}

/// What a policy looks at: one session at its head, and the time.
#[derive(Clone, Copy)]
pub struct Situation<'a> {
    /// The session.
    pub state: &'a State,
    /// For whom the prompt is.
    pub profile: &'a Profile,
    /// The policy's numbers.
    pub constants: &'a Constants,
    /// What the session is for.
    pub kind: SessionKind,
    /// Proactive tiers run.
    pub auto: bool,
    /// Reactive compaction runs even when `auto` is off.
    pub reactive: bool,
    /// The caller's time.
    pub now: Millis,
    /// The prompt at the head, open calls healed.
    pub pieces: &'a List<Piece>,
    /// How full it makes the window.
    pub fill: Fill,
    /// The lines that the policy draws in this window.
    pub lines: Thresholds,
    /// Tokens of new words.
    pub words: &'a dyn Words,
    /// Where spilled results go: the directory, as it was recorded, and the name of the session's own folder in it.
    pub spill: Option<(&'a str, &'a str)>,
}

impl Situation<'_> {
    /// What the prompt shows.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        self.state.timeline()
    }

    /// The position that the next event takes.
    #[must_use]
    pub fn next(&self) -> Seq {
        self.state.head().map_or(Seq(0), Seq::next)
    }

    /// The tokens that are compared with the lines: all, or those of messages alone where the policy has a limit of its own.
    #[must_use]
    pub fn weighed(&self) -> u64 {
        match self.constants.compact.limit {
            0 => self.fill.total,
            _ => self.fill.total.saturating_sub(self.fill.floor),
        }
    }

    /// Counted tokens as the provider will count them.
    #[must_use]
    pub fn scaled(&self, counted: u64) -> u64 {
        counted
            .saturating_mul(self.fill.factor_milli)
            .div_ceil(1_000)
    }

    /// Counted tokens and bytes of each block's piece from a piece on, in the order of the prompt.
    #[must_use]
    pub fn sizes(&self, from: usize) -> Vec<(BlockId, u64, u64)> {
        (from..self.pieces.len())
            .filter_map(|index| self.pieces.get(index))
            .map(|piece| (piece.source, piece.tokens, piece.bytes.len() as u64))
            .collect()
    }
}
