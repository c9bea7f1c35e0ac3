//! The system under test, as the laws drive it: host's JSON in, states and prompts out. No disk, no engine.

use crate::generate::Given;
use crate::validator::Wire;
use recount_events::{Body, Event, Millis, Profile, Seq};
use recount_projections::render::ByBytes;
use recount_projections::{
    Applied, Budget, MisfitKind, Projection, Request, State, Timeline, project,
};
use std::fmt;

/// A state that grows by hosts' events.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// The fold.
    pub state: State,
    /// The events as logged, resolved fields filled.
    pub log: Vec<Event>,
}

/// A refused event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What its writer should do; nothing when it could not even be read.
    pub kind: Option<MisfitKind>,
    /// The name of the rule.
    pub rule: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rule)
    }
}

impl System {
    /// A state before the first event.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes an event in.
    ///
    /// # Errors
    /// It was refused; nothing changed.
    pub fn append(&mut self, given: &Given) -> Result<Applied, Refusal> {
        let event = Event::from_json(&given.raw, Millis(0)).map_err(|refusal| Refusal {
            kind: None,
            rule: format!("unread {refusal:?}"),
        })?;
        let admitted = self.state.admit(event).map_err(|misfit| Refusal {
            kind: Some(misfit.kind),
            rule: name(&format!("{:?}", misfit.problem)),
        })?;
        self.log.push(admitted.event().clone());
        Ok(self.state.apply(admitted))
    }

    /// The prompt at the head; nothing without a profile.
    #[must_use]
    pub fn project(&self, wire: Wire, heal: bool) -> Option<Projection> {
        projected(self.state.timeline(), wire, heal)
    }

    /// The prompt as of a position; nothing without a profile.
    #[must_use]
    pub fn project_at(&self, at: Seq, wire: Wire, heal: bool) -> Option<Projection> {
        projected(&self.state.timeline_at(at).ok()?, wire, heal)
    }
}

/// The prompt of a timeline by its own profile.
#[must_use]
pub fn projected(timeline: &Timeline, wire: Wire, heal: bool) -> Option<Projection> {
    let profile = profile(timeline)?;
    Some(project(&request(timeline, profile, wire, heal)))
}

/// The profile in force.
#[must_use]
pub fn profile(timeline: &Timeline) -> Option<&Profile> {
    match &timeline.header.profile.as_ref()?.event.body {
        Body::Profile(profile) => Some(profile),
        _ => None,
    }
}

/// A request without calibration.
#[must_use]
pub fn request<'a>(
    timeline: &'a Timeline,
    profile: &'a Profile,
    wire: Wire,
    heal: bool,
) -> Request<'a> {
    let wire = match wire {
        Wire::Anthropic => recount_events::Wire::Anthropic,
        Wire::Chat => recount_events::Wire::OpenaiChat,
    };
    Request {
        timeline,
        profile,
        wire,
        heal,
        counts: &ByBytes,
        budget: Budget::default(),
    }
}

/// The variant's name in a debug form.
fn name(debug: &str) -> String {
    debug.chars().take_while(|c| c.is_alphanumeric()).collect()
}
