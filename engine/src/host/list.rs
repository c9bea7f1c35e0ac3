//! The sessions of a directory; what the engine says of itself.

use super::ask::WIRES;
use super::directory::{Directory, NAME_BYTES, Named};
use super::engine::Engine;
use super::load::name_in;
use super::read::{Read, read};
use crate::lock::lock;
use crate::{Error, api, profiles, protocol};
use recount_events::{Body, Event};
use recount_projections::render::RENDERING;
use recount_wal::{StreamId, Wal};
use serde_json::value::RawValue;

/// How many events are looked at for a title.
const TITLE_WITHIN: u64 = 40;
/// The longest title, in characters.
const TITLE_CHARS: usize = 80;

impl Engine {
    /// The sessions, newest first.
    ///
    /// # Errors
    /// `io`.
    pub fn list(&self, ask: &api::List) -> Result<api::Listed, Error> {
        let dir = &*self.inner;
        let log = dir.log()?;
        let prefix = ask.prefix.as_deref().unwrap_or_default();
        let mut sessions = Vec::new();
        for info in log.streams() {
            let Some(named) = named(dir, &log, info.stream)? else {
                continue;
            };
            if named.name.starts_with(prefix) {
                sessions.push(api::SessionLine {
                    session: named.name,
                    head: info.heads.accepted,
                    at: info.heads.time,
                    title: named.title,
                });
            }
        }
        sessions.sort_by(|one, other| {
            other
                .at
                .cmp(&one.at)
                .then_with(|| one.session.cmp(&other.session))
        });
        sessions.truncate(usize::try_from(ask.limit.unwrap_or(1_000)).unwrap_or(usize::MAX));
        Ok(api::Listed { sessions })
    }

    /// What this engine is and can do.
    ///
    /// # Errors
    /// None.
    pub fn hello(&self) -> Result<api::Hello, Error> {
        let owned = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<String>>()
        };
        Ok(api::Hello {
            name: "recount".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: owned(&["v1"]),
            rendering: vec![RENDERING],
            methods: owned(protocol::METHODS),
            wires: WIRES.iter().map(|(name, _)| (*name).to_owned()).collect(),
            profiles: owned(&profiles::names()),
            presets: owned(profiles::PRESETS),
            preset_params: profiles::preset_params()
                .into_iter()
                .filter_map(|(name, params)| {
                    Some((name.to_owned(), RawValue::from_string(params).ok()?))
                })
                .collect(),
            formats: recount_transcripts::FormatName::ALL
                .iter()
                .map(|format| format.as_str().to_owned())
                .collect(),
            limits: api::Limits {
                line_bytes: protocol::MAX_LINE as u64,
                queue: 1_024,
                name_bytes: NAME_BYTES as u64,
                content_bytes: recount_wal::MAX_CONTENT as u64,
                body_bytes: recount_wal::MAX_BODY as u64,
            },
        })
    }
}

/// The name and title of a stream; none for one whose name cannot be read.
pub(super) fn named(dir: &Directory, log: &Wal, stream: StreamId) -> Result<Option<Named>, Error> {
    if let Some(known) = lock(&dir.names).get(&stream) {
        return Ok(Some(known.clone()));
    }
    let (found, settled) = look(dir, log, stream)?;
    if let (Some(named), true) = (&found, settled) {
        lock(&dir.names).insert(stream, named.clone());
    }
    Ok(found)
}

/// How many forks of forks are followed for a title.
const TITLE_DEPTH: usize = 64;

/// Also whether a later look would find the same. A fork that says nothing of its own is called by what it continues.
fn look(dir: &Directory, log: &Wal, stream: StreamId) -> Result<(Option<Named>, bool), Error> {
    let (mut found, settled) = own(dir, log, stream)?;
    let mut at = stream;
    for _ in 0..TITLE_DEPTH {
        let Some(named) = found.as_mut().filter(|named| named.title.is_none()) else {
            break;
        };
        let Some((parent, _)) = super::stream::origin(dir, log, at)? else {
            break;
        };
        named.title = own(dir, log, parent)?.0.and_then(|named| named.title);
        at = parent;
    }
    Ok((found, settled))
}

fn own(dir: &Directory, log: &Wal, stream: StreamId) -> Result<(Option<Named>, bool), Error> {
    let mut name = None;
    let mut title = None;
    let mut seen = 0_u64;
    for entry in read(log, stream, 0, u64::MAX) {
        seen = seen.saturating_add(1);
        if let Read::Event(event, _) = entry? {
            name = name.or_else(|| name_in(&event).filter(|name| dir.stream(name) == stream));
            title = title.or_else(|| title_in(&event));
        }
        // An archive that was imported under another name says so behind its events.
        if name.is_some() && (title.is_some() || seen > TITLE_WITHIN) {
            break;
        }
    }
    let settled = title.is_some() || seen > TITLE_WITHIN;
    Ok((name.map(|name| Named { name, title }), settled))
}

/// A few words of what the person said first.
fn title_in(event: &Event) -> Option<String> {
    let Body::Message(message) = &event.body else {
        return None;
    };
    if message.authored != Some(true) {
        return None;
    }
    let words = message
        .content
        .blocks
        .iter()
        .find_map(|block| block.words())?;
    let title: String = words
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(TITLE_CHARS)
        .collect();
    (!title.is_empty()).then_some(title)
}
