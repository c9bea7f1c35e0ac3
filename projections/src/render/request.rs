//! What a projection is asked with, and what it answers.
//!
//! - A request names a timeline and a profile; nothing else decides the pieces.
//! - Counts and budget decide the outcome and the answer's limit, never a piece.

use crate::render::{Category, LeftOut, Marks, Piece, Repair};
use crate::{List, Timeline};
use alloc::{string::String, sync::Arc, vec::Vec};
use recount_events::{BlockId, Digest, Profile, Wire};

/// Token counts: a fact of the ledger, a tokenizer's word or an estimate; the caller's business.
pub trait Counts {
    /// Tokens of a piece that comes from this block. `bytes`: the piece's canonical bytes. For a replaced block the block of the
    /// `replace` event is named; for a summary block 0 of the commit.
    fn count(&self, block: BlockId, bytes: &[u8]) -> u64;

    /// Tokens of a piece that the engine made (a placeholder): a quarter of its bytes, rounded up.
    fn made(&self, bytes: &[u8]) -> u64 {
        (bytes.len() as u64).div_ceil(4)
    }
}

/// Counts by bytes alone: a quarter of them, rounded up.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByBytes;

impl Counts for ByBytes {
    fn count(&self, _block: BlockId, bytes: &[u8]) -> u64 {
        self.made(bytes)
    }
}

/// How counts become an estimate of what the provider will count. Factors in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The provider's tokens for one counted token, × 1,000.
    pub factor_milli: u64,
    /// Safety margin, × 1,000.
    pub margin_milli: u64,
    /// Tokens of the whole prompt, margin included, where the caller knows better than by one factor for all of it.
    pub whole: Option<u64>,
    /// What the provider was seen to allow for prompt and answer together, where that is less than the profile's window. It makes the
    /// answer shorter, as long as a short one is worth it; what fits is judged by the profile.
    pub window: Option<u64>,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            factor_milli: 1000,
            margin_milli: 0,
            whole: None,
            window: None,
        }
    }
}

/// A prompt is asked for.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// What there is to show.
    pub timeline: &'a Timeline,
    /// For whom.
    pub profile: &'a Profile,
    /// In which dialect (`Anthropic` or `OpenaiChat`; others are rendered as Chat).
    pub wire: Wire,
    /// Open calls are shown with a placeholder instead of waited for.
    pub heal: bool,
    /// Token counts.
    pub counts: &'a dyn Counts,
    /// How counts become an estimate.
    pub budget: Budget,
}

/// What a projection is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It can be sent.
    Ready,
    /// The host has to bring the results of these calls (or to ask for healing).
    WaitingResults {
        /// The calls of the newest response without any result.
        calls: Vec<BlockId>,
    },
    /// The person has to say something.
    WaitingPerson,
    /// It is too much.
    Impossible {
        /// Of what.
        excess: Excess,
        /// How much the prompt needs (tokens with overhead and one token of answer, or bytes).
        need: u64,
        /// How much there is.
        limit: u64,
        /// The largest pieces, largest first, with their tokens.
        largest: Vec<(BlockId, u64)>,
    },
}

/// What a prompt has too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Tokens.
    Tokens,
    /// Bytes of the body, marks included.
    Bytes,
}

/// Tokens by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct By {
    /// Tools.
    pub tools: u64,
    /// The system prompt.
    pub system: u64,
    /// Messages.
    pub messages: u64,
    /// Results of calls.
    pub results: u64,
    /// What stands for folds.
    pub summaries: u64,
    /// Injected text.
    pub injections: u64,
}

impl By {
    /// Their sum.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.tools
            .saturating_add(self.system)
            .saturating_add(self.messages)
            .saturating_add(self.results)
            .saturating_add(self.summaries)
            .saturating_add(self.injections)
    }

    pub(crate) const fn add(&mut self, category: Category, tokens: u64) {
        let sum = match category {
            Category::Tools => &mut self.tools,
            Category::System => &mut self.system,
            Category::Messages => &mut self.messages,
            Category::Results => &mut self.results,
            Category::Summaries => &mut self.summaries,
            Category::Injections => &mut self.injections,
        };
        *sum = sum.saturating_add(tokens);
    }
}

/// A prompt and what is to be known about it.
#[derive(Clone, Debug)]
pub struct Projection {
    /// What it is good for.
    pub outcome: Outcome,
    /// Root over the digests of its pieces.
    pub digest: Digest,
    /// Tokens of all pieces, as counted.
    pub tokens: u64,
    /// The same by category.
    pub by: By,
    /// Tokens that the provider will count, by estimate: factor, margin and overhead included.
    pub estimate: u64,
    /// The answer's limit, as the body names it.
    pub max_tokens: u64,
    /// Bytes of the body.
    pub bytes: u64,
    /// Pictures in it.
    pub images: u32,
    /// The pieces, in order.
    pub pieces: List<Piece>,
    /// What was mended, in order.
    pub repairs: List<Repair>,
    /// What is visible but not shown, in order.
    pub left_out: List<LeftOut>,
    /// Request parameters that the wire does not have.
    pub params_left_out: Vec<String>,
    /// The request parameters as sent: a JSON object, model and answer's limit included.
    pub params: Arc<str>,
    pub(crate) wire: Wire,
    /// Marks for the provider's cache in the body.
    pub(crate) marks: Marks,
    /// The model takes references and edits of its cache.
    pub(crate) edits: bool,
    /// The most bytes of a body; 0: no limit.
    pub(crate) most: u64,
    /// The body behind the messages.
    pub(crate) tail: Arc<str>,
}

impl Projection {
    /// The body, in one piece.
    #[must_use]
    pub fn body(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(usize::try_from(self.bytes).unwrap_or(0));
        self.slices()
            .for_each(|slice| body.extend_from_slice(slice));
        body
    }

    /// The body in order, as slices that share the pieces' bytes.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        crate::render::body::slices(self).into_iter()
    }
}
