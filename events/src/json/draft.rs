//! A draft: a block as far as it has streamed. Never logged; the last one of a key wins; the final message supersedes it.

use super::fields::{Fields, Mode};
use super::refusal::{Problem, Refusal};
use crate::raw::is_json;
use crate::{Block, Format, Millis, Text};

/// A snapshot of a block that is still being streamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// When, by the caller's clock.
    pub at: Millis,
    /// The provider's message id.
    pub response: Option<Text>,
    /// The block's place in the message.
    pub index: u32,
    /// The dialect.
    pub format: Format,
    /// The block so far.
    pub block: Block,
}

impl Draft {
    /// A host's `draft`.
    ///
    /// # Errors
    /// What is wrong and in which field.
    pub fn from_json(raw: &str, default_at: Millis) -> Result<Self, Refusal> {
        if !is_json(raw) {
            return Err(Refusal::new("", Problem::NotJson));
        }
        let mut fields = Fields::of(raw, Mode::Host)?;
        let format = fields.value("format")?.unwrap_or_default();
        let block = fields
            .take("block")
            .ok_or_else(|| Refusal::new("block", Problem::Missing))?;
        Ok(Self {
            at: fields.value("at")?.unwrap_or(default_at),
            response: fields.text("response")?,
            index: fields.value("index")?.unwrap_or(0),
            format,
            block: Block::from_raw(format, block),
        })
    }
}
