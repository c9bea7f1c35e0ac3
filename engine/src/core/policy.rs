//! The policy in force, and what it puts around a prompt: parameters, marks for the provider's cache.

use super::Core;
use crate::lock::lock;
use recount_events::{Body, Policy, Preset, Profile, Seq, Text};
use recount_policies::constants::CachedForm;
use recount_policies::{Constants, Ways, assembly, micro};
use recount_projections::render::{Marks, pinned};
use recount_projections::{List, Piece, Timeline};
use std::sync::Arc;

/// A policy and its numbers.
#[derive(Clone, Debug)]
pub(crate) struct InForce {
    /// The event, without its numbers as text.
    pub(crate) policy: Policy,
    /// Its numbers.
    pub(crate) constants: Arc<Constants>,
}

/// The numbers that were read last, and from which event.
pub(crate) type Known = Option<(Seq, Arc<Constants>)>;

impl Core {
    /// The policy in force on a timeline; without one, none that proposes anything by itself.
    pub(crate) fn policy(&self, timeline: &Timeline) -> InForce {
        let logged = timeline.header.policy.as_deref();
        let own = logged.and_then(|logged| match &logged.event.body {
            Body::Policy(policy) => Some((logged.seq, policy)),
            _ => None,
        });
        let Some((seq, policy)) = own else {
            return none();
        };
        let mut known = lock(&self.numbers);
        let constants = match &*known {
            Some((at, constants)) if *at == seq => Arc::clone(constants),
            _ => Arc::new(constants_of(policy)),
        };
        *known = Some((seq, Arc::clone(&constants)));
        InForce {
            policy: policy.clone(),
            constants,
        }
    }

    /// Numbers of the policy in force at the head that make no sense, with what they are taken for; and its position.
    pub(crate) fn senseless(&self) -> Option<(Seq, Vec<String>)> {
        let logged = self.state.timeline().header.policy.as_deref()?;
        let Body::Policy(policy) = &logged.event.body else {
            return None;
        };
        let params = policy.params.as_ref().and_then(Text::as_str);
        let (_, told) = Constants::recorded(policy.preset, params).ok()?;
        (!told.is_empty()).then_some((logged.seq, told))
    }

    /// What the policy in force at the head does.
    pub(crate) fn ways(&self) -> Ways {
        Ways::of(self.policy(self.state.timeline()).policy.preset)
    }

    /// The profile with the parameters that the policy adds to its requests.
    pub(crate) fn profile_under(&self, timeline: &Timeline, profile: Profile) -> Profile {
        let constants = self.policy(timeline).constants;
        if constants.micro.cached != CachedForm::ContextManagement {
            return profile;
        }
        let Some(edits) = micro::request_params(&constants, &profile, timeline) else {
            return profile;
        };
        let params = profile.params.as_ref().and_then(Text::as_str);
        let headers = profile.headers.as_ref().and_then(Text::as_str);
        Profile {
            params: Some(Text::json(&with_member(
                params,
                "context_management",
                &edits,
            ))),
            headers: Some(Text::json(&with_beta(headers, micro::BETA))),
            ..profile
        }
    }

    /// The marks for the provider's cache in a prompt's body.
    pub(crate) fn marks(
        &self,
        timeline: &Timeline,
        profile: &Profile,
        pieces: &List<Piece>,
    ) -> Marks {
        let constants = self.policy(timeline).constants;
        let controls = assembly::breakpoints(pieces, timeline, &constants, profile);
        if !profile.cache_edits || constants.micro.cached != CachedForm::CacheEdits {
            return Marks {
                controls,
                ..Marks::default()
            };
        }
        Marks {
            controls,
            references: micro::references(pieces, timeline, &constants, profile),
            edits: pinned(pieces, timeline),
        }
    }
}

fn none() -> InForce {
    InForce {
        policy: Policy {
            preset: Preset::None,
            auto: false,
            reactive: true,
            params: None,
        },
        constants: Arc::new(Constants::of(Preset::None)),
    }
}

/// The numbers of a policy; those of its preset where its own cannot be read, the nearest ones that make sense where its own make none.
fn constants_of(policy: &Policy) -> Constants {
    let params = policy.params.as_ref().and_then(Text::as_str);
    match Constants::recorded(policy.preset, params) {
        Ok((constants, _)) => constants,
        Err(_) => Constants::of(policy.preset),
    }
}

/// An object with one more member.
fn with_member(object: Option<&str>, key: &str, value: &str) -> String {
    let inside = inside(object);
    let comma = if inside.is_empty() { "" } else { "," };
    format!("{{{inside}{comma}\"{key}\":{value}}}")
}

fn inside(object: Option<&str>) -> &str {
    let inside = object.map(str::trim).and_then(|object| {
        let open = object.strip_prefix('{')?;
        open.strip_suffix('}')
    });
    inside.map_or("", str::trim)
}

/// The headers with one more beta named; a list of betas stays one header.
fn with_beta(headers: Option<&str>, beta: &str) -> String {
    const NAME: &str = "anthropic-beta";
    let given = headers.and_then(recount_events::raw::members);
    let mut written: Vec<String> = Vec::new();
    let mut there = false;
    for member in given.into_iter().flatten() {
        let own = recount_events::raw::words(member.value);
        match own {
            Some(own) if member.key().eq_ignore_ascii_case(NAME) => {
                there = true;
                let listed = own.split(',').any(|one| one.trim() == beta);
                let value = if listed {
                    own.into_owned()
                } else {
                    format!("{own},{beta}")
                };
                written.push(format!(
                    "{}:{}",
                    member.token,
                    recount_events::escape(&value)
                ));
            }
            _ => written.push(format!("{}:{}", member.token, member.value)),
        }
    }
    if !there {
        written.push(format!("\"{NAME}\":{}", recount_events::escape(beta)));
    }
    format!("{{{}}}", written.join(","))
}

#[cfg(test)]
mod tests {
    use super::{with_beta, with_member};

    #[test]
    fn members_are_added_behind_what_is_there() {
        assert_eq!(with_member(None, "a", "1"), r#"{"a":1}"#);
        assert_eq!(with_member(Some(" { } "), "a", "1"), r#"{"a":1}"#);
        assert_eq!(
            with_member(Some(r#"{"b":{}}"#), "a", "1"),
            r#"{"b":{},"a":1}"#
        );
    }

    #[test]
    fn a_beta_joins_those_that_are_named_already_and_stands_once() {
        assert_eq!(with_beta(None, "x"), r#"{"anthropic-beta":"x"}"#);
        let named = r#"{"h":"1","Anthropic-Beta":"y"}"#;
        let both = r#"{"h":"1","Anthropic-Beta":"y,x"}"#;
        assert_eq!(with_beta(Some(named), "x"), both);
        assert_eq!(with_beta(Some(both), "x"), both);
    }
}
