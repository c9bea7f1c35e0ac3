//! An event's bytes: a body without words, and the words behind it. The format is `FORMAT.md`.
//!
//! - A body is at, because, extra, then the struct of its kind, in bincode's standard configuration, at most [`LIMIT`] bytes,
//!   nothing behind it.
//! - What is written can be read: a body that reading would refuse is refused when it is written.
//! - A kind or schema that this version does not know is kept and written again byte for byte.
//! - A text that is at hand is what its event commits to, and is JSON where its form says so.

use crate::kinds::{ESSENTIAL, KINDS, with_kinds};
use crate::texts::{ERASED, LOST, commitment};
use crate::{Body, Event, Form, Held, Millis, Newer, Seq, Text};
use alloc::sync::Arc;
use alloc::vec::Vec;
use bincode::config::{Configuration, Limit, LittleEndian, Varint};
use bincode::error::DecodeError as Refused;

/// Largest body in bytes; reading allocates no more than this for it (and as much again while it grows).
pub const LIMIT: usize = 16 * 1024 * 1024;

/// Bodies up to this size need no trial: no element of a list takes more than 16 times its bytes in memory.
const SURE: usize = LIMIT / 16;

type Config = Configuration<LittleEndian, Varint, Limit<LIMIT>>;
const CONFIG: Config = bincode::config::standard().with_limit::<LIMIT>();

/// An event as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The kind's number.
    pub kind: u16,
    /// The schema of the body.
    pub schema: u16,
    /// When, by the caller's clock; also in the body.
    pub time: Millis,
    /// The body.
    pub body: Vec<u8>,
    /// Salt and bytes of each text, in order. A text that is not at hand: a zero salt and no bytes.
    pub contents: Vec<([u8; 16], Arc<[u8]>)>,
}

/// A content as it is found again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// Salt and bytes.
    Here {
        /// The salt.
        salt: [u8; 16],
        /// The bytes.
        bytes: Arc<[u8]>,
    },
    /// Not found or damaged.
    Lost,
    /// Overwritten on purpose.
    Erased,
}

/// Why an event cannot be stored. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// Seal it first.
    #[error("a text of the event is not sealed")]
    Unsealed,
    /// A text is not what its form says: correct the caller, it vouched for JSON or UTF-8.
    #[error("a text of the event is not of its form: form={}", form.word())]
    Malformed {
        /// The form.
        form: Form,
    },
    /// Make it smaller: fewer blocks, positions or counts in one event.
    #[error("the event has too many parts: body={bytes} limit={LIMIT}")]
    TooLarge {
        /// Bytes of the body.
        bytes: usize,
    },
}

/// Why bytes are no event. Treat the record as damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The body is not of its kind and schema.
    #[error("the body is malformed: kind={kind} schema={schema}")]
    Malformed {
        /// The kind's number.
        kind: u16,
        /// The schema.
        schema: u16,
    },
    /// The body claims more than a body may.
    #[error("the body is too large: limit={LIMIT}")]
    TooLarge,
    /// Bytes behind the body.
    #[error("bytes behind the body: count={count}")]
    Trailing {
        /// How many.
        count: usize,
    },
    /// More contents than the body names.
    #[error("more contents than texts: texts={texts} contents={contents}")]
    Contents {
        /// Texts in the body.
        texts: usize,
        /// Contents found.
        contents: usize,
    },
}

/// What every body of every kind and schema begins with.
type Common = (Millis, Option<Seq>, Option<Text>);

impl Event {
    /// Its bytes.
    ///
    /// # Errors
    /// [`EncodeError::Unsealed`]: call [`Event::seal`] first. [`EncodeError::TooLarge`]: it cannot be stored.
    pub fn encode(&self) -> Result<Encoded, EncodeError> {
        let texts = self.texts();
        if texts.iter().any(|text| text.seal.is_none()) {
            return Err(EncodeError::Unsealed);
        }
        if let Some(text) = texts.iter().find(|text| !is_of_its_form(text)) {
            return Err(EncodeError::Malformed { form: text.form });
        }
        let encoded = Encoded {
            kind: self.body.kind(),
            schema: self.body.schema(),
            time: self.at,
            body: encode_body(self)?,
            contents: texts.iter().map(|text| content(text)).collect(),
        };
        check_size(&encoded)?;
        Ok(encoded)
    }

    /// The event of these bytes. `contents` are those of its texts in order; missing ones at the end are lost, one whose bytes are
    /// not what the body commits to is lost.
    ///
    /// # Errors
    /// The record is damaged, see [`DecodeError`].
    pub fn decode(
        kind: u16,
        schema: u16,
        body: &[u8],
        contents: Vec<Found>,
    ) -> Result<Self, DecodeError> {
        if schema != 1 || KINDS.binary_search_by_key(&kind, |known| known.0).is_err() {
            return Ok(newer(kind, schema, body, contents));
        }
        let mut event = decode_body(kind, body)?;
        let mut texts = event.texts_mut();
        if contents.len() > texts.len() {
            return Err(DecodeError::Contents {
                texts: texts.len(),
                contents: contents.len(),
            });
        }
        let found = contents.into_iter().chain(core::iter::repeat(Found::Lost));
        texts
            .iter_mut()
            .zip(found)
            .for_each(|(text, found)| attach(text, found));
        Ok(event)
    }
}

fn content(text: &Text) -> ([u8; 16], Arc<[u8]>) {
    match (&text.seal, &text.held) {
        (Some(seal), Held::Here(bytes)) => (seal.salt, Arc::clone(bytes)),
        _ => ([0; 16], Arc::from([])),
    }
}

macro_rules! bodies {
    ($($number:literal $kind:ident $name:literal $class:ident $undoable:literal $host:literal,)*) => {
        fn encode_body(event: &Event) -> Result<Vec<u8>, EncodeError> {
            let Event { at, body, because, extra } = event;
            let written = match body {
                $(Body::$kind(body) => bincode::encode_to_vec((at, because, extra, body), CONFIG),)*
                Body::Newer(newer) => Ok(newer.body.clone()),
            };
            // Sealed texts and owned lists always encode.
            written.map_err(|_| EncodeError::Unsealed)
        }

        fn decode_body(kind: u16, bytes: &[u8]) -> Result<Event, DecodeError> {
            match kind {
                $($number => decode_struct(kind, bytes, Body::$kind),)*
                _ => Err(DecodeError::Malformed { kind, schema: 1 }),
            }
        }
    };
}
with_kinds!(bodies);

fn decode_struct<T: bincode::Decode<()>>(
    kind: u16,
    bytes: &[u8],
    body: fn(T) -> Body,
) -> Result<Event, DecodeError> {
    type Whole<T> = (Millis, Option<Seq>, Option<Text>, T);
    let read = bincode::decode_from_slice::<Whole<T>, Config>(bytes, CONFIG);
    let ((at, because, extra, inner), length) = read.map_err(|refused| match refused {
        Refused::LimitExceeded => DecodeError::TooLarge,
        _ => DecodeError::Malformed { kind, schema: 1 },
    })?;
    match bytes.len().saturating_sub(length) {
        0 => Ok(Event {
            at,
            body: body(inner),
            because,
            extra,
        }),
        count => Err(DecodeError::Trailing { count }),
    }
}

/// Reading counts what lists take in memory, so a large body may pass when written and fail when read.
fn check_size(encoded: &Encoded) -> Result<(), EncodeError> {
    let bytes = encoded.body.len();
    let fits = match bytes {
        0..=SURE => true,
        _ if bytes > LIMIT => false,
        _ => Event::decode(encoded.kind, encoded.schema, &encoded.body, Vec::new()).is_ok(),
    };
    if fits {
        Ok(())
    } else {
        Err(EncodeError::TooLarge { bytes })
    }
}

/// Gives a text read from a body its bytes.
fn attach(text: &mut Text, found: Found) {
    let Some(seal) = &mut text.seal else { return };
    text.held = match found {
        Found::Erased => Held::Erased,
        _ if seal.commitment == ERASED => Held::Erased,
        Found::Lost => Held::Lost,
        Found::Here { .. } if seal.commitment == LOST => Held::Lost,
        Found::Here { salt, bytes } => {
            let whole =
                bytes.len() as u64 == text.len && commitment(&salt, &bytes) == seal.commitment;
            if whole && is_of(text.form, &bytes) {
                seal.salt = salt;
                Held::Here(bytes)
            } else {
                Held::Lost
            }
        }
    };
}

/// A writer that is wrong about a form must not make a prompt that is no JSON.
fn is_of(form: Form, bytes: &[u8]) -> bool {
    match form {
        Form::Bytes => true,
        Form::Plain => core::str::from_utf8(bytes).is_ok(),
        Form::Json => core::str::from_utf8(bytes).is_ok_and(crate::raw::is_json),
    }
}

fn is_of_its_form(text: &Text) -> bool {
    text.bytes().is_none_or(|bytes| is_of(text.form, bytes))
}

/// Keeps what this version cannot read. A known kind in a newer schema is essential when rollbacks concern it: what it does to the
/// prompt is not known.
fn newer(kind: u16, schema: u16, body: &[u8], contents: Vec<Found>) -> Event {
    let common = bincode::decode_from_slice::<Common, Config>(body, CONFIG);
    let (at, because) = common.map_or((Millis(0), None), |((at, because, _), _)| (at, because));
    let essential = kind & ESSENTIAL != 0 || crate::kinds::shapes_prompt(kind);
    let texts = contents.into_iter().map(foreign).collect();
    let newer = Newer {
        kind,
        schema,
        essential,
        body: body.to_vec(),
        texts,
    };
    Event {
        at,
        body: Body::Newer(newer),
        because,
        extra: None,
    }
}

/// The place of a content that was not at hand when it was written reads as lost.
fn foreign(found: Found) -> Text {
    let (salt, held) = match found {
        Found::Here {
            salt: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            bytes,
        } if bytes.is_empty() => ([0; 16], Held::Lost),
        Found::Here { salt, bytes } => (salt, Held::Here(bytes)),
        Found::Lost => ([0; 16], Held::Lost),
        Found::Erased => ([0; 16], Held::Erased),
    };
    let mut text = Text {
        form: Form::Bytes,
        len: 0,
        seal: None,
        held,
    };
    text.len = text.bytes().map_or(0, |bytes| bytes.len() as u64);
    text.seal(salt);
    text
}
