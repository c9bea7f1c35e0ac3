//! Profiles and policies as requests name them: shipped names, or JSON objects with the fields of their events.

mod data;
mod pictures;

use crate::{Error, api};
use data::{Row, SHIPPED};
pub(crate) use pictures::{Pictures, formula};
use recount_events::{
    Body, Event, Keeps, Millis, Policy, Preset, Profile, Text, Thinking, Wire, raw,
};
use recount_policies::Constants;

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
        images_bytes: row.image_bytes,
        images_pixels: row.image_pixels,
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
        return settled(Policy {
            preset,
            auto: true,
            reactive: true,
            params: None,
        });
    }
    match event("policy", given)?.body {
        Body::Policy(policy) => settled(policy),
        _ => Err(Error::invalid("not a policy").with_field("policy")),
    }
}

/// A policy as its event holds it: with all numbers, so that a later version's defaults do not change what was decided.
///
/// # Errors
/// `invalid` for a number that no tier has, or of the wrong kind; the field is the first that is wrong.
pub fn settled(policy: Policy) -> Result<Policy, Error> {
    let params = policy.params.as_ref().and_then(Text::as_str);
    match Constants::resolve(policy.preset, params) {
        Ok(constants) => Ok(Policy {
            params: Some(Text::json(&constants.to_params())),
            ..policy
        }),
        Err(why) => Err(Error::invalid(format!("not a policy: {why}"))
            .with_field(wrong_in(policy.preset, params.unwrap_or_default()))
            .with_next("hello lists the numbers of each preset; give those that differ")),
    }
}

/// Which member of the params is wrong.
fn wrong_in(preset: Preset, params: &str) -> String {
    let wrong = |json: &str| Constants::resolve(preset, Some(json)).is_err();
    for section in raw::members(params).into_iter().flatten() {
        let name = section.key();
        for member in raw::members(section.value).into_iter().flatten() {
            let alone = format!(
                "{{{}:{{{}:{}}}}}",
                section.token, member.token, member.value
            );
            if wrong(&alone) {
                return format!("params.{name}.{}", member.key());
            }
        }
        if wrong(&format!("{{{}:{}}}", section.token, section.value)) {
            return format!("params.{name}");
        }
    }
    "params".to_owned()
}

/// The numbers of each preset, as the params of its event hold them.
#[must_use]
pub fn preset_params() -> Vec<(&'static str, String)> {
    let named = PRESETS
        .iter()
        .filter_map(|name| Some((*name, preset(name)?)));
    named
        .map(|(name, preset)| (name, Constants::of(preset).to_params()))
        .collect()
}

/// The name of a preset.
#[must_use]
pub const fn preset_name(preset: Preset) -> &'static str {
    match preset {
        Preset::Recount => "recount",
        Preset::ClaudeCode => "claude-code",
        Preset::FiveLayer => "five-layer",
        Preset::Cline => "cline",
        Preset::None => "none",
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
