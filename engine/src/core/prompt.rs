//! A session's prompt: rendered from what changed, measured, judged.

use super::counts::Counter;
use super::{Core, Meter};
use recount_events::{Profile, Wire};
use recount_projections::{Budget, Projection, Prompt, Request, Timeline};

/// A prompt and how full it makes the window.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    /// The prompt.
    pub(crate) projection: Projection,
    /// How full.
    pub(crate) meter: Meter,
}

impl Core {
    /// The prompt of a timeline; at the head, and at places seen lately, most of it is at hand.
    pub(crate) fn prompt(
        &mut self,
        timeline: &Timeline,
        profile: &Profile,
        wire: Wire,
        heal: bool,
    ) -> Measured {
        let at_head = timeline.head == self.state.head();
        let counts = Counter {
            state: &self.state,
            counting: &self.counting,
        };
        let request = Request {
            timeline,
            profile,
            wire,
            heal,
            counts: &counts,
            budget: Budget::default(),
        };
        let prompt: Prompt = if at_head {
            self.views.at_head(&request)
        } else {
            self.views.at(&request)
        };
        let bare = prompt.project(&request);
        let meter = self.meter(timeline, profile, &bare);
        let counts = self.counter();
        let budget = Budget {
            whole: Some(meter.most),
            window: self.seen_window(profile),
            ..Budget::default()
        };
        let request = Request {
            timeline,
            profile,
            wire,
            heal,
            counts: &counts,
            budget,
        };
        let projection = prompt.project(&request);
        let marks = self.marks(timeline, profile, &projection.pieces);
        Measured {
            projection: projection.marked(&marks),
            meter,
        }
    }
}

impl Core {
    /// The digest of a prompt at the head; nothing is counted for it.
    pub(crate) fn uncounted(
        &mut self,
        timeline: &Timeline,
        profile: &Profile,
        wire: Wire,
        heal: bool,
    ) -> recount_events::Digest {
        let counts = recount_projections::render::ByBytes;
        let request = Request {
            timeline,
            profile,
            wire,
            heal,
            counts: &counts,
            budget: Budget::default(),
        };
        self.views.at_head(&request).project(&request).digest
    }
}

impl Core {
    /// The pieces of the session's own prompt at the head, if it was rendered already.
    pub(crate) fn pieces_at_hand(
        &self,
    ) -> Option<recount_projections::List<recount_projections::Piece>> {
        let timeline = self.state.timeline();
        let logged = timeline.header.profile.clone()?;
        let profile = super::profile_of(&logged)?;
        let counts = self.counter();
        let budget = Budget::default();
        let request = Request {
            timeline,
            profile,
            wire: profile.wire,
            heal: false,
            counts: &counts,
            budget,
        };
        self.views
            .at_hand(&request)
            .map(|prompt| prompt.project(&request).pieces)
    }

    /// The pieces of the session's own prompt at the head.
    pub(crate) fn pieces(
        &mut self,
    ) -> Option<recount_projections::List<recount_projections::Piece>> {
        let timeline = self.state.timeline().clone();
        let logged = timeline.header.profile.clone()?;
        let profile = super::profile_of(&logged)?;
        Some(
            self.prompt(&timeline, profile, profile.wire, false)
                .projection
                .pieces,
        )
    }
}
