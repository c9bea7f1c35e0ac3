//! Text: bytes that somebody outside the engine wrote.
//!
//! - In a body a text is only its form, its length and its commitment; the bytes lie behind the body and can be erased.
//! - The commitment is blake3 keyed with the salt: it says nothing about the bytes once the salt is gone.

use crate::Digest;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use bincode::{Decode, Encode};

/// What the bytes of a [`Text`] are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Form {
    /// Plain UTF-8 text, not escaped.
    Plain,
    /// The bytes of one JSON value, exactly as they came (UTF-8; may hold escapes of lone surrogates).
    Json,
    /// Any bytes.
    Bytes,
}

/// The salt of a text and what it commits to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seal {
    /// 16 random bytes, stored beside the text, erased with it.
    pub salt: [u8; 16],
    /// blake3, keyed with the salt (see `FORMAT.md`), over the bytes.
    pub commitment: Digest,
}

/// Whether the bytes are at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Held {
    /// The bytes.
    Here(Arc<[u8]>),
    /// Not found or damaged.
    Lost,
    /// Overwritten on purpose; a receipt in the log says when.
    Erased,
}

/// Bytes that a person, a model, a tool or a host wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// What the bytes are.
    pub form: Form,
    /// Their number.
    pub len: u64,
    /// Salt and commitment; `None` until the text is sealed for the log.
    pub seal: Option<Seal>,
    /// The bytes, if at hand.
    pub held: Held,
}

impl Text {
    /// Plain text that is not sealed yet.
    pub fn plain(text: &str) -> Self {
        Self::new(Form::Plain, text.as_bytes())
    }

    /// The bytes of one JSON value, not sealed yet. The caller vouches that they are JSON.
    pub fn json(raw: &str) -> Self {
        Self::new(Form::Json, raw.as_bytes())
    }

    /// Bytes of a given form that are not sealed yet.
    pub fn new(form: Form, bytes: &[u8]) -> Self {
        Self {
            form,
            len: bytes.len() as u64,
            seal: None,
            held: Held::Here(Arc::from(bytes)),
        }
    }

    /// The bytes, if at hand.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.held {
            Held::Here(bytes) => Some(bytes),
            Held::Lost | Held::Erased => None,
        }
    }

    /// The words that it says, if at hand: those of a plain text or of a JSON string, where halves of surrogate pairs read as U+FFFD.
    /// Other JSON says itself; of bytes, what is not UTF-8 reads as U+FFFD. Names are compared by their words.
    pub fn words(&self) -> Option<Cow<'_, str>> {
        let bytes = self.bytes()?;
        match (self.form, core::str::from_utf8(bytes)) {
            (Form::Json, Ok(raw)) => Some(crate::raw::words(raw).unwrap_or(Cow::Borrowed(raw))),
            _ => Some(String::from_utf8_lossy(bytes)),
        }
    }

    /// The bytes as UTF-8, if at hand and well-formed.
    pub fn as_str(&self) -> Option<&str> {
        core::str::from_utf8(self.bytes()?).ok()
    }
}

impl Encode for Text {
    fn encode<E: bincode::enc::Encoder>(
        &self,
        encoder: &mut E,
    ) -> Result<(), bincode::error::EncodeError> {
        self.form.encode(encoder)?;
        self.len.encode(encoder)?;
        match self.seal {
            Some(seal) => seal.commitment.encode(encoder),
            None => Err(bincode::error::EncodeError::Other(
                "a text must be sealed before it is encoded",
            )),
        }
    }
}

/// Reads a reference: the bytes are not at hand and the salt is zero until the contents are attached.
impl<Context> Decode<Context> for Text {
    fn decode<D: bincode::de::Decoder<Context = Context>>(
        decoder: &mut D,
    ) -> Result<Self, bincode::error::DecodeError> {
        let form = Form::decode(decoder)?;
        let len = u64::decode(decoder)?;
        let commitment = Digest::decode(decoder)?;
        Ok(Self {
            form,
            len,
            seal: Some(Seal {
                salt: [0; 16],
                commitment,
            }),
            held: Held::Lost,
        })
    }
}
bincode::impl_borrow_decode!(Text);
