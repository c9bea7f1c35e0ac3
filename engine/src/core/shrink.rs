//! A host's fold must make the prompt smaller.
//!
//! - Judged by the bytes of the rendered pieces, wrapper included, with open calls shown: no tokenizer on the acknowledged path.

use super::Core;
use super::counts::Counter;
use recount_events::{Body, Event, Profile, Range, Text, Thinking, Wire};
use recount_projections::render::ByBytes;
use recount_projections::{Budget, Request, State, project};

/// The event is no fold, or the prompt after it is smaller than before.
pub(super) fn shrinks(before: &State, after: &State, event: &Event) -> bool {
    match &event.body {
        Body::CompactCommit(commit) if commit.range == Range::Marker => true,
        Body::CompactCommit(_) | Body::CollapseCommit(_) => tokens(after) < tokens(before),
        _ => true,
    }
}

impl Core {
    /// Counted tokens of the prompt of a state that may be one that is not logged yet, with open calls shown.
    pub(crate) fn tokens_of(&self, state: &State, profile: &Profile) -> u64 {
        // What is counted here may stand at positions that others take in the end: it is forgotten again.
        let counting = self.counting.apart();
        let request = Request {
            timeline: state.timeline(),
            profile,
            wire: profile.wire,
            heal: true,
            counts: &Counter {
                state,
                counting: &counting,
            },
            budget: Budget::default(),
        };
        project(&request).tokens
    }
}

fn tokens(state: &State) -> u64 {
    let plain = plain();
    let logged = state.timeline().header.profile.clone();
    let profile = logged
        .as_deref()
        .and_then(super::profile_of)
        .unwrap_or(&plain);
    let request = Request {
        timeline: state.timeline(),
        profile,
        wire: profile.wire,
        heal: true,
        counts: &ByBytes,
        budget: Budget::default(),
    };
    project(&request).tokens
}

/// Stands in where a session has no profile yet.
fn plain() -> Profile {
    Profile {
        provider: Text::plain("anthropic"),
        model: Text::plain("none"),
        wire: Wire::Anthropic,
        window: u64::MAX,
        max_output: 1,
        overhead_tokens: 0,
        body_bytes: 0,
        images_count: 0,
        images_bytes: 0,
        images_pixels: 0,
        prefill: true,
        thinking: Thinking::default(),
        system_role: false,
        cache_edits: false,
        params: None,
        headers: None,
    }
}
