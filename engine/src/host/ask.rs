//! From what a request names (a cut, a profile, a wire) to what the core renders.

use crate::core::{Core, profile_of, refused};
use crate::profiles;
use crate::{Error, ErrorKind, api};
use recount_events::{Digest, Millis, Profile, Seq, Target, Text, Wire};
use recount_projections::Timeline;

/// What is to be rendered.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// The position that is shown, included.
    pub(super) cut: Seq,
    /// Its timeline.
    pub(super) timeline: Timeline,
    /// For whom.
    pub(super) profile: Profile,
    /// The event that the profile comes from; none when the request named its own.
    pub(super) source: Option<Seq>,
    /// The dialect.
    pub(super) wire: Wire,
    /// Open calls are shown with a placeholder.
    pub(super) heal: bool,
}

/// The position that a cut means.
pub(super) fn cut(core: &Core, at: &api::At) -> Result<Seq, Error> {
    let head = core
        .head()
        .ok_or_else(|| Error::new(ErrorKind::NotFound, "the session has no events"))?;
    let target = match at {
        api::At::Head => return Ok(head),
        api::At::Seq(seq) => Target::Seq(Seq(*seq)),
        api::At::Time(time) => Target::Time(Millis(*time)),
        api::At::Checkpoint(label) => Target::Checkpoint(Text::plain(label)),
    };
    core.state
        .resolve(&target)
        .map(|resolved| resolved.to)
        .map_err(|misfit| refused(&misfit, None))
}

/// Resolves what a request names.
pub(super) fn resolve(
    core: &Core,
    at: &api::At,
    profile: Option<&api::Spec>,
    wire: Option<&str>,
    heal: bool,
) -> Result<Asked, Error> {
    let cut = cut(core, at)?;
    let timeline = core.timeline_at(cut)?;
    let (profile, source) = match profile {
        Some(spec) => (profiles::resolve(spec)?, None),
        None => own(&timeline)?,
    };
    let profile = core.profile_under(&timeline, profile);
    let wire = wire.map_or_else(|| rendered(profile.wire), named_wire)?;
    Ok(Asked {
        cut,
        timeline,
        profile,
        source,
        wire,
        heal,
    })
}

/// The timeline's own profile.
fn own(timeline: &Timeline) -> Result<(Profile, Option<Seq>), Error> {
    let logged = timeline.header.profile.as_deref();
    let found = logged.and_then(|logged| Some((profile_of(logged)?.clone(), Some(logged.seq))));
    found.ok_or_else(|| {
        Error::invalid("the session has no profile there, and the request names none")
            .with_field("profile")
            .with_next("append a profile event, or name a profile in the request")
    })
}

/// The dialects that are rendered, by name.
pub(super) const WIRES: &[(&str, Wire)] = &[
    ("anthropic", Wire::Anthropic),
    ("openai_chat", Wire::OpenaiChat),
];

/// The profile's own dialect, if it is rendered.
fn rendered(wire: Wire) -> Result<Wire, Error> {
    if WIRES.iter().any(|(_, known)| *known == wire) {
        return Ok(wire);
    }
    Err(
        Error::invalid("the profile's wire is not rendered by this version")
            .with_field("wire")
            .with_next("name the wire anthropic or openai_chat in the request"),
    )
}

fn named_wire(name: &str) -> Result<Wire, Error> {
    let found = WIRES.iter().find(|(known, _)| *known == name);
    found.map(|(_, wire)| *wire).ok_or_else(|| {
        Error::invalid("there is no such wire")
            .with_field("wire")
            .with_next("use anthropic or openai_chat")
    })
}

/// The name of the dialect that a wire is rendered in.
pub(super) fn wire_name(wire: Wire) -> &'static str {
    WIRES
        .iter()
        .find(|(_, known)| *known == wire)
        .map_or("openai_chat", |(name, _)| name)
}

/// A digest as it is written: 64 hexadecimal digits.
pub(super) fn digest(text: &str) -> Result<Digest, Error> {
    let bad = || {
        Error::new(
            ErrorKind::Invalid,
            "not a digest: 64 hexadecimal digits are needed",
        )
    };
    let bytes = text.as_bytes();
    if bytes.len() != 64 || !bytes.iter().all(u8::is_ascii_hexdigit) {
        return Err(bad());
    }
    let mut digest = [0; 32];
    for (byte, pair) in digest.iter_mut().zip(bytes.chunks_exact(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| bad())?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
    }
    Ok(Digest(digest))
}
