//! A prompt that grows with its timeline.
//!
//! - Persistent: cloning is O(1), clones share their pieces.
//! - `update` after any change equals a render from nothing.

use crate::render::{Projection, Request};
use recount_events::Seq;

/// The pieces of a prompt, ready to be continued.
#[derive(Clone, Debug, Default)]
pub struct Prompt {}

impl Prompt {
    /// Renders from nothing.
    #[must_use]
    pub fn render(request: &Request<'_>) -> Self {
        let _ = request;
        Self::default()
    }

    /// The prompt after a change of the timeline: keeps the pieces before the first touched key of `shown` (`None`: no entry changed),
    /// renders the rest. `header`: profile, system or tools may have changed.
    #[must_use]
    pub fn update(&self, request: &Request<'_>, touched: Option<Seq>, header: bool) -> Self {
        let _ = (touched, header);
        Self::render(request)
    }

    /// What it is good for, and its body.
    #[must_use]
    pub fn project(&self, request: &Request<'_>) -> Projection {
        let _ = self;
        super::project(request)
    }
}
