//! A message of a history, and what it says beside its content.

use super::document::{joined, with_member};
use crate::json::{self, Members};
use crate::lines::Piece;
use crate::time;
use recount_events::{Block, BlockKind, Format, raw};

/// A message.
#[derive(Clone, Debug)]
pub(crate) struct Said<'a> {
    pub(crate) piece: Piece<'a>,
    /// Its JSON; anything but an object says nothing.
    pub(crate) raw: &'a str,
    pub(crate) members: Members<'a>,
    /// Its own time in ms, where it has one.
    pub(crate) ts: Option<u64>,
    /// The raw blocks; none when the content is no list.
    pub(crate) blocks: Option<Vec<&'a str>>,
}

impl<'a> Said<'a> {
    pub(crate) fn read(piece: Piece<'a>) -> Self {
        let raw = piece.record().unwrap_or_default();
        let members = Members::parse(raw).unwrap_or_default();
        Self {
            piece,
            raw,
            ts: members.raw("ts").and_then(moment),
            blocks: members.raw("content").and_then(json::items),
            members,
        }
    }

    /// The message without its content.
    pub(crate) fn around(&self) -> String {
        with_member(self.raw, "content", "null")
    }

    /// The model that answered, and who provided it.
    pub(crate) fn model(&self) -> Option<(String, Option<String>)> {
        let info = self.members.members("modelInfo")?;
        let model = info.text("modelId").or_else(|| info.text("id"))?;
        let provider = info.text("providerId").or_else(|| info.text("provider"));
        Some((model, provider))
    }

    /// The words of its text blocks and results, or of its string.
    pub(crate) fn words(&self) -> Vec<String> {
        match &self.blocks {
            None => self.members.text("content").into_iter().collect(),
            Some(blocks) => blocks
                .iter()
                .filter_map(|block| Members::parse(block)?.text("text"))
                .collect(),
        }
    }
}

/// The last moment that the host's clock can say (ECMA-262, time values), in ms.
const LAST: u64 = 8_640_000_000_000_000;

/// A time in ms since the epoch, or an ISO time.
pub(crate) fn moment(raw: &str) -> Option<u64> {
    if raw.starts_with('"') {
        return time::parse(raw).map(|time| time.0);
    }
    json::number(raw).filter(|moment| *moment <= LAST)
}

/// The kind of a block.
pub(crate) fn kind(block: &str) -> BlockKind {
    Block::from_raw(Format::Anthropic, block).kind
}

/// A string member that is not empty.
pub(crate) fn id(block: &str, key: &str) -> Option<String> {
    raw::member_words(block, key)
        .map(std::borrow::Cow::into_owned)
        .filter(|id| !id.is_empty())
}

/// A block with another text, as its host edits it: a text's words, or those of the first text of a result. None: it has no place for one.
pub(crate) fn edited(block: &str, token: &str) -> Option<String> {
    match raw::member_words(block, "type").as_deref() {
        Some("text") if is_string(block, "text") => Some(with_member(block, "text", token)),
        Some("tool_result") => {
            let mut inner = json::items(raw::member(block, "content")?)?;
            let first = *inner.first()?;
            let is_text = raw::member_words(first, "type").as_deref() == Some("text");
            let changed =
                (is_text && is_string(first, "text")).then(|| with_member(first, "text", token))?;
            *inner.first_mut()? = &changed;
            Some(with_member(
                block,
                "content",
                &joined(inner.iter().copied()),
            ))
        }
        _ => None,
    }
}

fn is_string(object: &str, key: &str) -> bool {
    raw::member(object, key).is_some_and(|value| value.starts_with('"'))
}
