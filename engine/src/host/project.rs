//! The prompt as an answer: outcome, request, pieces, what changed.

use super::ask::{Asked, resolve, wire_name};
use super::changed;
use super::directory::{Directory, durable};
use super::engine::Engine;
use super::prompt::Prompt;
use super::words::{impossible, outcome, piece, repairs, tokens, waiting};
use crate::core::{Core, Measured};
use crate::{Error, api};
use recount_events::{Digest, Profile, Seq, Text};
use recount_projections::{Outcome, Projection};
use recount_wal::StreamId;
use serde_json::value::{RawValue, to_raw_value};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

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
        let form = Form {
            pieces: ask.pieces,
            since: ask.since.as_deref(),
            body,
        };
        dir.ask(&mut held, |live| {
            let core = &mut live.core;
            let asked = resolve(
                core,
                &ask.at,
                ask.profile.as_ref(),
                ask.wire.as_deref(),
                ask.heal,
            )?;
            let measured = core.prompt(&asked.timeline, &asked.profile, asked.wire, asked.heal);
            let answer = answer(dir, slot.stream, core, &asked, &measured, &form)?;
            Ok(Prompt::new(answer, measured.projection))
        })
    }
}

/// The digest and tokens of the prompt at a position; none without a profile.
pub(super) fn glance(core: &mut Core, seq: Seq) -> Option<Glance> {
    let at = if core.head() == Some(seq) {
        api::At::Head
    } else {
        api::At::Seq(seq.0)
    };
    let asked = resolve(core, &at, None, None, false).ok()?;
    let measured = core.prompt(&asked.timeline, &asked.profile, asked.wire, asked.heal);
    let tokens = tokens(&measured.projection);
    Some(Glance {
        digest: measured.projection.digest,
        tokens,
    })
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
        .map(|body| request(dir, stream, asked, projection, body, form.body))
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
        blocked: None,
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
    stream: StreamId,
    asked: &Asked,
    projection: &Projection,
    body: &[u8],
    form: &api::As,
) -> Result<api::Request, Error> {
    let text = String::from_utf8_lossy(body);
    let body = match form {
        api::As::Object => raw(text.into_owned())?,
        api::As::File => token(&file(dir, stream, asked, projection, body)?)?,
        api::As::Text | api::As::None => token(&text)?,
    };
    Ok(api::Request {
        body,
        headers: headers(&asked.profile),
    })
}

/// The request of a prompt, as the caller wants its body.
pub(super) fn request_of(
    dir: &Directory,
    stream: StreamId,
    asked: &Asked,
    projection: &Projection,
    form: &api::As,
) -> Result<api::Request, Error> {
    if *form == api::As::None {
        return Ok(api::Request {
            body: raw("null".to_owned())?,
            headers: headers(&asked.profile),
        });
    }
    request(dir, stream, asked, projection, &projection.body(), form)
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
    stream: StreamId,
    asked: &Asked,
    projection: &Projection,
    body: &[u8],
) -> Result<String, Error> {
    // A folder for each session: who forgets a session takes it away.
    let folder = dir.path.join("out").join(stream.to_string());
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

/// Writes a file that only its owner reads; it is there whole or not at all, whoever else writes it at the same time.
pub(super) fn write_private(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    static WRITERS: AtomicU64 = AtomicU64::new(0);
    let own = WRITERS.fetch_add(1, Ordering::Relaxed);
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(".{}-{own}.part", std::process::id()));
    let unfinished = Path::new(&unfinished);
    let written = write_new(unfinished, bytes).and_then(|()| std::fs::rename(unfinished, path));
    if written.is_err() {
        // What is left of it is of no use, and the error of writing says more than one of removing.
        let _ = std::fs::remove_file(unfinished);
    }
    Ok(written?)
}

fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_data()
}
