//! Profiles and policies as requests name them: shipped names, or JSON objects with the fields of their events.

mod data;

use crate::{Error, api};
use data::{Row, SHIPPED};
use recount_events::{
    Body, Event, Keeps, Millis, Policy, Preset, Profile, Text, Thinking, Wire, raw,
};

/// Policies by name.
pub const PRESETS: &[&str] = &["recount", "claude-code", "five-layer", "cline", "none"];

/// Names of the shipped profiles.
#[must_use]
pub fn names() -> Vec<&'static str> {
    SHIPPED.iter().map(|row| row.name).collect()
}

/// The shipped profile of that name; a model's dated name finds the profile of its family.
#[must_use]
pub fn shipped(name: &str) -> Option<Profile> {
    let exact = SHIPPED.iter().find(|row| row.name == name);
    let family = || {
        SHIPPED
            .iter()
            .filter(|row| is_dated(name, row.name))
            .max_by_key(|row| row.name.len())
    };
    exact.or_else(family).map(|row| profile(row, name))
}

/// `family-YYYYMMDD` or `family-YYYY-MM-DD`.
fn is_dated(name: &str, family: &str) -> bool {
    let date = name
        .strip_prefix(family)
        .and_then(|rest| rest.strip_prefix('-'));
    date.is_some_and(|date| {
        date.len() >= 8
            && date
                .bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'-')
    })
}

fn profile(row: &Row, model: &str) -> Profile {
    let anthropic = row.provider == "anthropic";
    Profile {
        provider: Text::plain(row.provider),
        model: Text::plain(model),
        wire: if anthropic {
            Wire::Anthropic
        } else {
            Wire::OpenaiChat
        },
        window: row.window,
        max_output: row.max_output,
        overhead_tokens: row.overhead,
        body_bytes: row.body_bytes,
        images_count: row.images,
        images_bytes: data::IMAGE_BYTES,
        images_pixels: data::IMAGE_PIXELS,
        prefill: row.prefill,
        thinking: Thinking {
            binds: row.binds,
            keeps: if row.keeps_all {
                Keeps::All
            } else {
                Keeps::Last
            },
        },
        system_role: row.system_role,
        cache_edits: false,
        params: None,
        headers: None,
    }
}

/// The profile that a request names.
///
/// # Errors
/// `invalid` for a name that is not shipped and for JSON that is no profile.
pub fn resolve(spec: &api::Spec) -> Result<Profile, Error> {
    let given = spec.0.get();
    if let Some(name) = raw::words(given) {
        return shipped(&name).ok_or_else(|| {
            Error::invalid(format!(
                "there is no shipped profile of that name; profile={name:?}"
            ))
            .with_field("profile")
            .with_next(format!(
                "name one of {}, or give an object with provider, model, window, max_output",
                names().join(", ")
            ))
        });
    }
    match event("profile", given)?.body {
        Body::Profile(profile) => Ok(profile),
        _ => Err(Error::invalid("not a profile").with_field("profile")),
    }
}

/// The policy that a request names.
///
/// # Errors
/// `invalid` for a name that is no preset and for JSON that is no policy.
pub fn resolve_policy(spec: &api::Spec) -> Result<Policy, Error> {
    let given = spec.0.get();
    if let Some(name) = raw::words(given) {
        let preset = preset(&name).ok_or_else(|| {
            Error::invalid(format!("there is no policy of that name; policy={name:?}"))
                .with_field("policy")
                .with_next(format!("name one of {}", PRESETS.join(", ")))
        })?;
        return Ok(Policy {
            preset,
            auto: true,
            reactive: true,
            params: None,
        });
    }
    match event("policy", given)?.body {
        Body::Policy(policy) => Ok(policy),
        _ => Err(Error::invalid("not a policy").with_field("policy")),
    }
}

fn preset(name: &str) -> Option<Preset> {
    Some(match name {
        "recount" => Preset::Recount,
        "claude-code" => Preset::ClaudeCode,
        "five-layer" => Preset::FiveLayer,
        "cline" => Preset::Cline,
        "none" => Preset::None,
        _ => return None,
    })
}

/// An object read as the event of a type.
fn event(kind: &'static str, object: &str) -> Result<Event, Error> {
    let wrong = |why: String| Error::invalid(format!("not a {kind}: {why}")).with_field(kind);
    let inside =
        raw::members(object).ok_or_else(|| wrong("an object or a name is needed".to_owned()))?;
    let members: Vec<String> = inside
        .filter(|member| member.key() != "type")
        .map(|member| format!(",{}:{}", member.token, member.value))
        .collect();
    let json = format!("{{\"type\":\"{kind}\"{}}}", members.concat());
    Event::from_json(&json, Millis(0)).map_err(|refusal| wrong(refusal.to_string()))
}
