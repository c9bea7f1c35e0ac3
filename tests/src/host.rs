//! A host for tests: a data directory with a clock and salts of its own, and a judge for the prompts that come out of it.
//!
//! - It uses the engine as any host does; what comes out is judged by [`crate::validator`].

use crate::validator::{Facts, Violation, Wire, validate};
use recount::{Chance, Clock, Engine, Error, Options, Session, api, profiles};
use recount_events::Profile;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The dialects that are rendered.
pub const WIRES: [(&str, Wire); 2] = [("anthropic", Wire::Anthropic), ("openai_chat", Wire::Chat)];

/// An engine over a folder, whose clock ticks a second at each look.
///
/// # Errors
/// As [`Engine::open`].
pub fn engine(folder: &Path) -> Result<Engine, Error> {
    let ticks = AtomicU64::new(1_700_000_000_000);
    let options = Options {
        clock: Clock::Own(Arc::new(move || ticks.fetch_add(1_000, Ordering::Relaxed))),
        chance: Chance::Seeded(1),
        ..Options::default()
    };
    Engine::open(folder, options)
}

/// What the validator has to know of a profile.
#[must_use]
pub fn facts(profile: &Profile) -> Facts {
    Facts {
        prefill: profile.prefill,
        system_role: profile.system_role,
        cache_edits: profile.cache_edits,
        body_bytes: profile.body_bytes,
        images_count: profile.images_count,
        images_bytes: profile.images_bytes,
        images_pixels: profile.images_pixels,
        ..Facts::default()
    }
}

/// The facts of a shipped profile.
#[must_use]
pub fn shipped(name: &str) -> Facts {
    profiles::shipped(name)
        .as_ref()
        .map(facts)
        .unwrap_or_default()
}

/// The facts of a profile event as the log shows it.
#[must_use]
pub fn logged(event: &Value) -> Facts {
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let small = |value: &Value| u32::try_from(number(value)).unwrap_or(u32::MAX);
    Facts {
        prefill: event["prefill"].as_bool().unwrap_or(false),
        system_role: event["system_role"].as_bool().unwrap_or(false),
        cache_edits: event["cache_edits"].as_bool().unwrap_or(false),
        body_bytes: number(&event["body_bytes"]),
        images_count: small(&event["images"]["count"]),
        images_bytes: number(&event["images"]["bytes"]),
        images_pixels: small(&event["images"]["pixels"]),
        ..Facts::default()
    }
}

/// The request's body as the provider gets it; none when there is no request.
#[must_use]
pub fn body(projected: &api::Projected) -> Option<String> {
    let request = projected.request.as_ref()?;
    serde_json::from_str(request.body.get()).ok()
}

/// A prompt as it came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A request that the provider takes.
    Ready,
    /// Waiting, and for whom: `person`, or `results` of named calls.
    Waiting(String),
    /// Everything else.
    Wrong(String),
}

/// Judges a prompt: ready and valid, or waiting for a stated reason.
#[must_use]
pub fn judge(projected: &api::Projected, facts: &Facts) -> Verdict {
    match projected.outcome {
        api::Outcome::Ready => ready(projected, facts),
        api::Outcome::Waiting => waiting(projected),
        _ => Verdict::Wrong(format!(
            "{:?}: {:?}",
            projected.outcome, projected.impossible
        )),
    }
}

fn ready(projected: &api::Projected, facts: &Facts) -> Verdict {
    let wire = WIRES.iter().find(|(name, _)| *name == projected.wire);
    let (Some((_, wire)), Some(body)) = (wire, body(projected)) else {
        return Verdict::Wrong("ready without a request".to_owned());
    };
    if body.len() as u64 != projected.bytes {
        return Verdict::Wrong(format!(
            "the body has other bytes than were said; bytes={} said={}",
            body.len(),
            projected.bytes
        ));
    }
    match validate(*wire, body.as_bytes(), facts).as_slice() {
        [] => Verdict::Ready,
        [Violation { rule, path, text }, ..] => Verdict::Wrong(format!("{rule} at {path}: {text}")),
    }
}

fn waiting(projected: &api::Projected) -> Verdict {
    match &projected.waiting {
        Some(waiting) if waiting.whom == "person" => Verdict::Waiting(waiting.whom.clone()),
        Some(waiting) if waiting.whom == "results" && !waiting.calls.is_empty() => {
            Verdict::Waiting(waiting.whom.clone())
        }
        other => Verdict::Wrong(format!("waiting without a reason: {other:?}")),
    }
}

/// A session's prompt on one dialect, for a shipped profile of that dialect, open calls healed.
///
/// # Errors
/// As [`Session::project`].
pub fn prompt(session: &Session, wire: &str) -> Result<api::Projected, Error> {
    let profile = if wire == "anthropic" {
        "claude-sonnet-5"
    } else {
        "gpt-4.1"
    };
    session.project(api::Project {
        wire: Some(wire.to_owned()),
        profile: Some(profile.into()),
        heal: true,
        ..Default::default()
    })
}
