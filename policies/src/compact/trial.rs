//! What a proposal would do: its events taken in by a copy of the state, the prompt rendered and counted.
//!
//! - Copies are O(1); what was counted is not counted again.

use crate::{Fill, Proposed, Situation};
use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use recount_events::{BlockId, Event, Seq};
use recount_projections::{Budget, Counts, Misfit, Projection, Request, State, project};

/// A session after a trial.
pub(crate) struct Look {
    state: State,
    projection: Projection,
    fill: Fill,
}

impl Look {
    /// What a policy sees of it.
    pub(crate) fn at<'l>(&'l self, before: &Situation<'l>) -> Situation<'l> {
        Situation {
            state: &self.state,
            pieces: &self.projection.pieces,
            fill: self.fill,
            ..*before
        }
    }
}

/// A copy of the session to try events on.
pub(crate) struct Trial<'a> {
    at: &'a Situation<'a>,
    known: Arc<BTreeMap<BlockId, u64>>,
    state: State,
    /// Counted tokens before.
    pub(crate) before: u64,
}

struct Known<'t>(&'t BTreeMap<BlockId, u64>, &'t Situation<'t>);

impl Counts for Known<'_> {
    fn count(&self, block: BlockId, bytes: &[u8]) -> u64 {
        let counted = self.1.state.ledger().counts.get(&block);
        if let Some(known) = self.0.get(&block).or(counted) {
            return *known;
        }
        match core::str::from_utf8(bytes) {
            Ok(words) => self.1.words.tokens(words),
            Err(_) => self.made(bytes),
        }
    }
}

impl<'a> Trial<'a> {
    /// The session as it is.
    pub(crate) fn new(at: &'a Situation<'a>) -> Self {
        let pieces = at.pieces.iter();
        let known = pieces.filter_map(|piece| Some((piece.counted?, piece.tokens)));
        let mut trial = Self {
            at,
            known: Arc::new(known.collect()),
            state: at.state.clone(),
            before: 0,
        };
        trial.before = trial.tokens();
        trial
    }

    /// Takes an event in; answers its position.
    pub(crate) fn take(&mut self, proposed: &Proposed) -> Result<Seq, Misfit> {
        let event = Event {
            at: self.at.now,
            body: proposed.body.clone(),
            because: proposed.because,
            extra: None,
        };
        let admitted = self.state.admit(event)?;
        Ok(self.state.apply(admitted).seq)
    }

    /// The position of the next event.
    pub(crate) fn next(&self) -> Seq {
        self.state.head().map_or(Seq(0), Seq::next)
    }

    /// Counted tokens of the prompt now.
    pub(crate) fn tokens(&self) -> u64 {
        self.project().tokens
    }

    /// The session as a policy would see it then.
    pub(crate) fn look(&self) -> Look {
        let projection = self.project();
        let before = self.at.fill;
        let saved = self
            .at
            .scaled(self.before.saturating_sub(projection.tokens));
        let fill = Fill {
            total: before.total.saturating_sub(saved),
            counted: projection.tokens,
            bytes: projection.bytes,
            images: projection.images,
            ..before
        };
        Look {
            state: self.state.clone(),
            projection,
            fill,
        }
    }

    fn project(&self) -> Projection {
        let request = Request {
            timeline: self.state.timeline(),
            profile: self.at.profile,
            wire: self.at.profile.wire,
            heal: true,
            counts: &Known(&self.known, self.at),
            budget: Budget::default(),
        };
        project(&request)
    }

    /// Another copy, as it is now.
    pub(crate) fn again(&self) -> Self {
        Self {
            at: self.at,
            known: Arc::clone(&self.known),
            state: self.state.clone(),
            before: self.before,
        }
    }

    /// Provider's tokens that are saved so far, by estimate.
    pub(crate) fn saved(&self) -> u64 {
        self.at.scaled(self.before.saturating_sub(self.tokens()))
    }
}
