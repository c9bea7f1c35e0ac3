//! The sans-io core: one session's state, and what it decides. No clock, no disk, no chance.
//!
//! - [`Core::handle`] turns an [`Input`] into a [`Decision`]: events that fit, not yet logged. The shell logs them, then
//!   [`Core::accept`] takes them in. A refused input leaves everything as it was.
//! - What leaves as a prompt to send passes through [`Pending`] and [`Durable`]: only a receipt of the log opens it.

mod account;
mod commit;
mod counts;
mod decide;
mod drafts;
mod foreign;
mod keys;
mod meter;
mod policy;
mod profile_used;
mod prompt;
mod refusal;
mod shrink;
mod tokenizer;
mod told;
mod views;

pub(crate) use account::{Compaction, maker, trigger};
pub(crate) use commit::{Durable, Pending};
pub(crate) use counts::{Counting, block_of};
pub(crate) use decide::{Decision, Input};
pub(crate) use drafts::Drafts;
pub(crate) use foreign::{Misplaced, admit as admit_foreign};
pub(crate) use keys::{Key, Keys, Repeat};
pub(crate) use meter::{Meter, scaled};
pub(crate) use policy::InForce;
pub(crate) use profile_used::{own_profile, profile_used};
pub(crate) use prompt::Measured;
pub(crate) use refusal::refused;
pub(crate) use tokenizer::{TOKENIZER, tokens};
pub(crate) use told::{issued_in, issued_of};
pub(crate) use views::Views;

use recount_events::{Body, Event, Seq};
use recount_projections::{Logged, State, Timeline};
use std::sync::Arc;

/// One session, in memory.
#[derive(Debug, Default)]
pub(crate) struct Core {
    /// The fold of its log.
    pub(crate) state: State,
    /// Prompts rendered lately.
    pub(crate) views: Views,
    /// Blocks being streamed.
    pub(crate) drafts: Drafts,
    /// Idempotency keys.
    pub(crate) keys: Keys,
    /// Token counts that the log does not hold yet.
    pub(crate) counting: Counting,
    /// Positions of injections of lifetime session, on whatever branch.
    pub(crate) session_injects: Vec<Seq>,
    /// The prompt that was issued last: the next one is compared with it.
    pub(crate) last_issued: Option<(
        recount_events::Digest,
        recount_projections::List<recount_projections::Piece>,
    )>,
    /// Counted tokens that stood before a response when it was asked for; of the one that was looked at last.
    pub(crate) before_response: std::sync::Mutex<Option<(Seq, u64)>>,
    /// What the tier of zombies knows of what is shown.
    pub(crate) zombies: std::sync::Mutex<recount_policies::snip::Index>,
    /// The window that the provider was seen to have, as it was worked out last.
    pub(crate) window: std::sync::Mutex<Option<told::Window>>,
    /// The policy's numbers, as they were read last.
    pub(crate) numbers: std::sync::Mutex<policy::Known>,
}

impl Core {
    /// A core over a state that was read from a log, with what else was read.
    pub(crate) fn thawed(
        state: State,
        keys: Keys,
        session_injects: Vec<Seq>,
        inherited: Vec<recount_projections::Map<recount_events::BlockId, u64>>,
    ) -> Self {
        let mut core = Self {
            state,
            keys,
            session_injects,
            ..Self::default()
        };
        core.counting.inherited = inherited;
        core
    }

    /// A core over a state that was read from a log.
    pub(crate) fn over(state: State, keys: Keys) -> Self {
        let mut core = Self {
            state,
            keys,
            ..Self::default()
        };
        let head = core.head().map_or(0, |head| head.0.saturating_add(1));
        core.session_injects = (0..head)
            .map(Seq)
            .filter(|seq| {
                core.event(*seq)
                    .is_some_and(|logged| is_session_inject(&logged.event))
            })
            .collect();
        core
    }

    /// The newest position.
    pub(crate) fn head(&self) -> Option<Seq> {
        self.state.head()
    }

    /// The position that the next event takes.
    pub(crate) fn next(&self) -> Seq {
        self.head().map_or(Seq(0), Seq::next)
    }

    /// The timeline at a position; at the head it is at hand.
    pub(crate) fn timeline_at(&self, seq: Seq) -> Result<Timeline, crate::Error> {
        if self.head() == Some(seq) {
            return Ok(self.state.timeline().clone());
        }
        self.state
            .timeline_at(seq)
            .map_err(|misfit| refused(&misfit, None))
    }

    /// Takes in what was decided and logged.
    pub(crate) fn accept(&mut self, decision: Decision) {
        let zombies = self.zombies.get_mut();
        let zombies = zombies.unwrap_or_else(std::sync::PoisonError::into_inner);
        for (event, applied) in &decision.applied {
            zombies.follow(event, applied, decision.state.timeline());
            self.views.follow(event, applied);
            self.drafts.follow(event);
            if is_session_inject(event) {
                self.session_injects.push(applied.seq);
            }
        }
        self.state = decision.state;
    }

    /// Any event ever.
    pub(crate) fn event(&self, seq: Seq) -> Option<Arc<Logged>> {
        self.state.event(seq)
    }

    /// How the session was opened; in a fork, how the session at its root was.
    pub(crate) fn opened(&self) -> Option<recount_events::Opened> {
        let own = self.state.ledger().opened.clone();
        let logged = own.or_else(|| self.event(Seq(0)))?;
        match &logged.event.body {
            Body::Opened(opened) => Some(opened.clone()),
            _ => None,
        }
    }

    /// The profile in force.
    pub(crate) fn profile(&self) -> Option<Arc<Logged>> {
        self.state.timeline().header.profile.clone()
    }
}

/// An injection that is shown again when a fold hides it.
pub(crate) fn is_session_inject(event: &Event) -> bool {
    matches!(&event.body, Body::Inject(inject) if inject.lifetime == recount_events::Lifetime::Session)
}

/// The body of a profile event.
pub(crate) fn profile_of(logged: &Logged) -> Option<&recount_events::Profile> {
    match &logged.event.body {
        Body::Profile(profile) => Some(profile),
        _ => None,
    }
}

impl Core {
    /// Renders from nothing, without a budget.
    pub(crate) fn render(
        &self,
        timeline: &Timeline,
        profile: &recount_events::Profile,
        wire: recount_events::Wire,
        heal: bool,
    ) -> recount_projections::Projection {
        let counts = self.counter();
        let budget = recount_projections::Budget::default();
        recount_projections::project(&recount_projections::Request {
            timeline,
            profile,
            wire,
            heal,
            counts: &counts,
            budget,
        })
    }

    /// Token counts as the render asks for them.
    pub(crate) fn counter(&self) -> counts::Counter<'_> {
        counts::Counter {
            state: &self.state,
            counting: &self.counting,
        }
    }
}
