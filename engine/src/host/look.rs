//! A prompt as it is asked for: rendered and measured, nothing logged.

use super::ask::{Asked, resolve};
use super::directory::{Directory, Held};
use super::live::Live;
use crate::core::Measured;
use crate::{Error, api};
use recount_events::raw::members;
use recount_events::{Profile, Text};

/// Renders and measures what is asked for.
pub(super) fn look(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Prepare,
) -> Result<(Asked, Measured), Error> {
    dir.ask(held, |live| {
        let core = &mut live.core;
        let mut asked = resolve(
            core,
            &ask.at,
            ask.profile.as_ref(),
            ask.wire.as_deref(),
            ask.heal,
        )?;
        if let Some(params) = ask.params.as_deref() {
            asked.profile = with_params(&asked.profile, params.get())?;
        }
        let measured = core.prompt(&asked.timeline, &asked.profile, asked.wire, asked.heal);
        Ok((asked, measured))
    })
}

/// A look at what was just written. What it fails of is no failure of the writing, which stands: it is told in the trace and left out.
pub(super) fn look_behind<T>(
    dir: &Directory,
    held: &mut Held<'_>,
    mut question: impl FnMut(&mut Live) -> Option<T>,
) -> Option<T> {
    dir.ask(held, |live| Ok(question(live)))
        .inspect_err(|error| tracing::warn!(%error, "what was written cannot be looked at"))
        .ok()
        .flatten()
}

/// The profile with a request's own parameters, which take the place of those of the same name.
fn with_params(profile: &Profile, params: &str) -> Result<Profile, Error> {
    let Some(given) = members(params) else {
        return Err(Error::invalid("params is no object").with_field("params"));
    };
    let given: Vec<_> = given.collect();
    let own = profile
        .params
        .as_ref()
        .and_then(Text::as_str)
        .and_then(members);
    let kept = own
        .into_iter()
        .flatten()
        .filter(|one| !given.iter().any(|other| other.key() == one.key()));
    let written: Vec<String> = kept
        .chain(given.iter().copied())
        .map(|member| format!("{}:{}", member.token, member.value))
        .collect();
    Ok(Profile {
        params: Some(Text::json(&format!("{{{}}}", written.join(",")))),
        ..profile.clone()
    })
}
