//! Events as JSON: what hosts hand in, what the log shows.
//!
//! - Raw JSON is kept byte for byte: blocks, tools, items, parameters. Only line breaks between tokens become spaces in a log line.
//! - A log line reads back to an equal event, but for seals; what is not at hand is `null` in its place and told of in `missing`.
//! - Fields that are not known go to `extra` in their order; a type that is not known is refused or kept whole, never guessed at.
//! - `null` says the same as leaving a field out, except `first: null`, which makes a marker.

mod content;
mod draft;
mod fields;
mod kinds;
mod line;
mod message;
mod missing;
mod opaque;
mod parts;
mod refusal;
mod session;
mod travel;
mod value;

use crate::raw::{is_json, member, member_words};
use crate::{Body, Digest, Event, Kept, Millis, Seq, Text};
use alloc::borrow::ToOwned;
use alloc::string::String;
use fields::{Fields, Mode};
use line::Line;
use value::Value;

pub use draft::Draft;
pub use refusal::{Problem, Refusal};

/// A line of the log, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Its position, where the line says.
    pub seq: Option<Seq>,
    /// The digest of its record, where the line says.
    pub digest: Option<Digest>,
    /// The event, its resolved fields filled.
    pub event: Event,
}

/// The `type` of a raw event.
#[must_use]
pub fn type_of(raw: &str) -> Option<String> {
    member_words(raw, "type").map(|name| name.into_owned())
}

impl Event {
    /// A host's event. Fields that admission resolves are left empty. All types parse, also those that only the engine writes: see
    /// [`Body::host_may_append`].
    ///
    /// # Errors
    /// What is wrong and in which field. [`Problem::UnknownType`] is what `unknown: "keep"` answers with [`Event::keep`];
    /// [`Problem::Transient`] is read with [`Draft::from_json`].
    pub fn from_json(raw: &str, default_at: Millis) -> Result<Self, Refusal> {
        read(raw, default_at, Mode::Host).map(|logged| logged.event)
    }

    /// A line of the log, resolved fields included, as [`Event::to_json`] writes it.
    ///
    /// # Errors
    /// What is wrong and in which field.
    pub fn from_log_json(raw: &str) -> Result<Logged, Refusal> {
        read(raw, Millis(0), Mode::Log)
    }

    /// An event of a type that is not known, kept word for word. Its time is its own `at` where it has one.
    #[must_use]
    pub fn keep(raw: &str, default_at: Millis) -> Self {
        let text = if is_json(raw) {
            Text::json(raw.trim_ascii())
        } else {
            Text::plain(raw)
        };
        let at = member(raw, "at")
            .and_then(Millis::read)
            .unwrap_or(default_at);
        let name = Text::plain(&member_words(raw, "type").unwrap_or_default());
        Self {
            at,
            body: Body::Kept(Kept { name, raw: text }),
            because: None,
            extra: None,
        }
    }

    /// Its line in the log, without a line break. `digest` is that of its record; it is named `digest`, or `record_digest` for the
    /// types that have a `digest` of their own (`issued`, `file_read`).
    #[must_use]
    pub fn to_json(&self, seq: Seq, digest: Option<&Digest>) -> String {
        let Some(extra) = &self.extra else {
            return self.line(seq, digest, |_| true).unwrap_or_default();
        };
        // Beside the event's own fields they may be misread, by their names: then they stand as one object.
        let spliced = self
            .line(seq, digest, |line| line.spliced(extra))
            .filter(|line| has_extra(line, extra));
        spliced
            .or_else(|| self.line(seq, digest, |line| line.whole(extra)))
            .unwrap_or_default()
    }

    fn line(
        &self,
        seq: Seq,
        digest: Option<&Digest>,
        extra: impl FnOnce(&mut Line) -> bool,
    ) -> Option<String> {
        let mut line = Line::new();
        line.value("seq", &seq);
        line.raw("type", &crate::escape(self.body.name()));
        line.value("at", &self.at);
        line.optional("because", self.because.as_ref());
        kinds::put(&self.body, &mut line);
        let fits = extra(&mut line);
        line.optional(digest_key(&self.body), digest);
        fits.then(|| line.finish())
    }
}

/// A line reads back with these unknown fields, all of them and no others.
fn has_extra(line: &str, extra: &Text) -> bool {
    let read = Event::from_log_json(line)
        .ok()
        .and_then(|logged| logged.event.extra);
    read.is_some_and(|read| read.bytes() == extra.bytes())
}

/// The record's digest steps aside where the event has a digest of its own.
const fn digest_key(body: &Body) -> &'static str {
    match body {
        Body::Issued(_) | Body::FileRead(_) => "record_digest",
        _ => "digest",
    }
}

fn read(raw: &str, default_at: Millis, mode: Mode) -> Result<Logged, Refusal> {
    if !is_json(raw) {
        return Err(Refusal::new("", Problem::NotJson));
    }
    let mut fields = Fields::of(raw, mode)?;
    let name = fields
        .take("type")
        .ok_or_else(|| Refusal::new("type", Problem::Missing))?;
    let name = crate::raw::words(name)
        .ok_or_else(|| Refusal::new("type", Problem::Expected("a string")))?;
    let at = fields.value("at")?.unwrap_or(default_at);
    let because = fields.value("because")?;
    let seq = fields.log_only("seq")?;
    let body = kinds::take(&name, &mut fields)?;
    let digest = fields.log_only(digest_key(&body))?;
    let extra = fields.extra()?;
    Ok(Logged {
        seq,
        digest,
        event: Event {
            at,
            body,
            because,
            extra,
        },
    })
}

/// A field of an event that is named in a refusal.
fn path(key: &str) -> String {
    key.to_owned()
}
