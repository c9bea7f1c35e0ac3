//! The prompt as an answer: outcome, request, pieces, what changed.

use super::append::durable;
use super::ask::{Asked, resolve, wire_name};
use super::changed;
use super::directory::Directory;
use super::engine::Engine;
use super::prompt::Prompt;
use crate::core::{Core, Measured};
use crate::{Error, ErrorKind, api};
use recount_events::{BlockId, Digest, Profile, Seq, Text};
use recount_projections::render::{Excess, PieceRole, Why};
use recount_projections::{Outcome, Piece, Projection};
use recount_wal::StreamId;
use serde_json::value::{RawValue, to_raw_value};
use std::io::Write;
use std::path::Path;

/// How an answer is written.
#[derive(Clone, Debug)]
pub(super) struct Form<'a> {
    pub(super) pieces: bool,
    pub(super) since: Option<&'a str>,
    pub(super) body: &'a api::As,
}

/// A prompt at a glance.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glance {
    pub(super) digest: Digest,
    pub(super) tokens: api::Tokens,
}

impl Engine {
    /// The prompt at a cut. Changes nothing.
    ///
    /// # Errors
    /// `invalid` without a profile, `not_found` for a cut that is not there.
    #[tracing::instrument(level = "debug", skip_all)]
    pub fn project(&self, ask: &api::Project) -> Result<api::Projected, Error> {
        self.projected(ask, &ask.form).map(Prompt::into_answer)
    }

    pub(super) fn projected(&self, ask: &api::Project, body: &api::As) -> Result<Prompt, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let core = &mut dir.live(&mut held)?.core;
        let asked = resolve(
            core,
            &ask.at,
            ask.profile.as_ref(),
            ask.wire.as_deref(),
            ask.heal,
        )?;
        let measured = core.prompt(&asked.timeline, &asked.profile, asked.wire, asked.heal);
        let form = Form {
            pieces: ask.pieces,
            since: ask.since.as_deref(),
            body,
        };
        let answer = answer(dir, slot.stream, core, &asked, &measured, &form)?;
        Ok(Prompt::new(answer, measured.projection))
    }
}

/// The digest and tokens of the prompt at a position; none without a profile.
pub(super) fn glance(core: &mut Core, seq: Seq) -> Result<Option<Glance>, Error> {
    let at = if core.head() == Some(seq) {
        api::At::Head
    } else {
        api::At::Seq(seq.0)
    };
    let Ok(asked) = resolve(core, &at, None, None, false) else {
        return Ok(None);
    };
    let measured = core.prompt(&asked.timeline, &asked.profile, asked.wire, asked.heal);
    let tokens = tokens(&measured.projection);
    Ok(Some(Glance {
        digest: measured.projection.digest,
        tokens,
    }))
}

/// The answer to a projection.
pub(super) fn answer(
    dir: &Directory,
    stream: StreamId,
    core: &mut Core,
    asked: &Asked,
    measured: &Measured,
    form: &Form<'_>,
) -> Result<api::Projected, Error> {
    let projection = &measured.projection;
    let ready = projection.outcome == Outcome::Ready;
    let wants = ready && *form.body != api::As::None;
    let body = wants.then(|| projection.body());
    let request = body
        .as_ref()
        .map(|body| request(dir, asked, projection, body, form.body))
        .transpose()?;
    let change = changed::since(core, asked, projection, form.since)?;
    let from = if form.since.is_some() {
        change.common
    } else {
        0
    };
    Ok(api::Projected {
        outcome: outcome(&projection.outcome),
        waiting: waiting(&projection.outcome),
        impossible: impossible(&projection.outcome, projection),
        request,
        digest: projection.digest.to_string(),
        body_digest: body
            .as_ref()
            .map(|body| blake3::hash(body).to_hex().to_string()),
        tokens: tokens(projection),
        estimate: projection.estimate,
        max_tokens: projection.max_tokens,
        bytes: projection.bytes,
        cut: asked.cut.0,
        durable: durable(dir, stream)?,
        repairs: repairs(projection),
        params_left_out: projection.params_left_out.clone(),
        first_changed: change.changed,
        pieces: form
            .pieces
            .then(|| projection.pieces.iter().skip(from).map(piece).collect()),
        wire: wire_name(asked.wire).to_owned(),
        model: asked.profile.model.as_str().unwrap_or_default().to_owned(),
    })
}

fn request(
    dir: &Directory,
    asked: &Asked,
    projection: &Projection,
    body: &[u8],
    form: &api::As,
) -> Result<api::Request, Error> {
    let text = String::from_utf8_lossy(body);
    let body = match form {
        api::As::Object => raw(text.into_owned())?,
        api::As::File => token(&file(dir, asked, projection, body)?)?,
        api::As::Text | api::As::None => token(&text)?,
    };
    Ok(api::Request {
        body,
        headers: headers(&asked.profile),
    })
}

fn raw(json: String) -> Result<Box<RawValue>, Error> {
    RawValue::from_string(json)
        .map_err(|cause| Error::invalid(format!("the body is not json: {cause}")))
}

fn token(text: &str) -> Result<Box<RawValue>, Error> {
    to_raw_value(text)
        .map_err(|cause| Error::invalid(format!("the body cannot be written: {cause}")))
}

fn headers(profile: &Profile) -> Box<RawValue> {
    let given = profile
        .headers
        .as_ref()
        .and_then(Text::as_str)
        .and_then(|raw| RawValue::from_string(raw.to_owned()).ok());
    given.unwrap_or_else(|| RawValue::from_string("{}".to_owned()).unwrap_or_default())
}

/// Writes the body to a file that only its owner reads, under a name that says what it is.
fn file(
    dir: &Directory,
    asked: &Asked,
    projection: &Projection,
    body: &[u8],
) -> Result<String, Error> {
    let folder = dir.path.join("out");
    std::fs::create_dir_all(&folder)?;
    let digest = projection.digest.to_string();
    let short = digest.get(..16).unwrap_or_default();
    let whole = blake3::hash(body).to_hex();
    let name = format!(
        "{short}-{}-{}.json",
        whole.get(..8).unwrap_or_default(),
        wire_name(asked.wire)
    );
    let path = folder.join(name);
    write_private(&path, body)?;
    Ok(path.to_string_lossy().into_owned())
}

/// Writes a file that only its owner reads; it is there whole or not at all.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&unfinished)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    std::fs::rename(&unfinished, path)?;
    Ok(())
}

pub(super) fn outcome(outcome: &Outcome) -> api::Outcome {
    match outcome {
        Outcome::Ready => api::Outcome::Ready,
        Outcome::WaitingResults { .. } | Outcome::WaitingPerson => api::Outcome::Waiting,
        Outcome::Impossible { .. } => api::Outcome::Impossible,
    }
}

fn waiting(outcome: &Outcome) -> Option<api::Waiting> {
    let (whom, calls) = match outcome {
        Outcome::WaitingPerson => ("person", Vec::new()),
        Outcome::WaitingResults { calls } => (
            "results",
            calls.iter().map(|call| (call.seq.0, call.index)).collect(),
        ),
        _ => return None,
    };
    Some(api::Waiting {
        whom: whom.to_owned(),
        calls,
        compaction: None,
    })
}

fn impossible(outcome: &Outcome, projection: &Projection) -> Option<api::Impossible> {
    let Outcome::Impossible {
        excess,
        need,
        limit,
        largest,
    } = outcome
    else {
        return None;
    };
    let unit = match excess {
        Excess::Tokens => "tokens",
        Excess::Bytes => "bytes",
    };
    let large = |(block, tokens): &(BlockId, u64)| {
        let found = projection
            .pieces
            .iter()
            .find(|piece| piece.source == *block);
        api::Large {
            event: Some(block.seq.0),
            tokens: *tokens,
            bytes: found.map_or(0, |piece| piece.bytes.len() as u64),
        }
    };
    Some(api::Impossible {
        floor: *need,
        limit: *limit,
        unit: unit.to_owned(),
        largest: largest.iter().map(large).collect(),
        next: "replace, snip or compact the largest events, or project for a profile with a larger window".to_owned(),
    })
}

/// Tokens by category.
pub(super) fn tokens(projection: &Projection) -> api::Tokens {
    api::Tokens {
        total: projection.tokens,
        by: by(projection),
    }
}

pub(super) fn by(projection: &Projection) -> api::TokensBy {
    let by = &projection.by;
    api::TokensBy {
        tools: by.tools,
        system: by.system,
        messages: by.messages,
        results: by.results,
        summaries: by.summaries,
        injections: by.injections,
    }
}

fn repairs(projection: &Projection) -> Vec<api::Repair> {
    let mended = projection.repairs.iter().map(|repair| api::Repair {
        kind: repair.kind.name().to_owned(),
        event: Some(repair.event.0),
        block: repair.block.map(pair),
    });
    let left_out = projection.left_out.iter().map(|left| api::Repair {
        kind: format!("left out: {}", left.reason.name()),
        event: Some(left.block.seq.0),
        block: Some(pair(left.block)),
    });
    mended.chain(left_out).collect()
}

pub(super) fn pair(block: BlockId) -> (u64, u32) {
    (block.seq.0, block.index)
}

fn piece(piece: &Piece) -> api::Piece {
    api::Piece {
        role: role(piece.role).to_owned(),
        event: Some(piece.source.seq.0),
        block: Some(pair(piece.source)),
        why: why(piece.why),
        tokens: piece.tokens,
        bytes: piece.bytes.len() as u64,
        digest: piece.digest.to_string(),
    }
}

pub(super) fn role(role: PieceRole) -> &'static str {
    match role {
        PieceRole::Tool => "tool",
        PieceRole::Header | PieceRole::System => "system",
        PieceRole::User => "user",
        PieceRole::Assistant => "assistant",
        PieceRole::Result => "result",
    }
}

pub(super) fn why(why: Why) -> String {
    match why {
        Why::AsWritten => "as written".to_owned(),
        Why::Replaced(event) => format!("replaced by {event}"),
        Why::Summary(event) => format!("summary of {event}"),
        Why::Placeholder(kind) => format!("placeholder: {}", kind.name()),
        Why::Repaired(kind) => format!("repaired: {}", kind.name()),
    }
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
