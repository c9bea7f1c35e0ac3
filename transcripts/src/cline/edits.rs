//! The edit history: `context_history.json`, entry by entry.
//!
//! - `[message, [kind, [[block, [[time, "text", [text], metadata], …]], …]]]`; an entry of another shape is kept as it is.

use super::said::moment;
use super::ui::whole;
use crate::json;
use crate::lines::Piece;

/// One text that took a block's place.
#[derive(Clone, Debug)]
pub(crate) struct Edit<'a> {
    /// The entry that it stands in.
    pub(crate) piece: Piece<'a>,
    pub(crate) message: i64,
    pub(crate) block: i64,
    /// When, in ms.
    pub(crate) ts: u64,
    /// The token of the text; none: it shows nothing else.
    pub(crate) text: Option<&'a str>,
    /// Raw: message, kind, block, and the update without its text.
    pub(crate) raw: [&'a str; 3],
    pub(crate) update: &'a str,
    /// Its places: entry, block, update.
    pub(crate) order: [usize; 3],
}

impl Edit<'_> {
    /// The update without its text.
    pub(crate) fn bare(&self) -> String {
        let parts = json::items(self.update).unwrap_or_default();
        let parts: Vec<&str> = parts
            .iter()
            .enumerate()
            .map(|(at, raw)| if at == 2 { "null" } else { raw })
            .collect();
        format!("[{}]", parts.join(","))
    }
}

/// The updates of an entry; `None` when it is of another shape.
pub(crate) fn entry<'a>(piece: Piece<'a>, index: usize) -> Option<Vec<Edit<'a>>> {
    let [message, rest] = exactly(piece.record()?)?;
    let [kind, blocks] = exactly(rest)?;
    let (number, _) = (whole(message)?, whole(kind)?);
    let mut edits = Vec::new();
    let blocks = json::items(blocks)?;
    if blocks.is_empty() {
        return None;
    }
    for (at, raw) in blocks.into_iter().enumerate() {
        let [block, updates] = exactly(raw)?;
        let updates = json::items(updates)?;
        if updates.is_empty() {
            return None;
        }
        for (turn, update) in updates.into_iter().enumerate() {
            let parts = json::items(update)?;
            let (ts, word, texts) = (*parts.first()?, *parts.get(1)?, *parts.get(2)?);
            let texts = json::items(texts)?;
            let text = texts
                .first()
                .copied()
                .filter(|token| token.starts_with('"'));
            let shows = json::unescape(word).as_deref() == Some("text") && texts.len() == 1;
            edits.push(Edit {
                piece,
                message: number,
                block: whole(block)?,
                ts: moment(ts)?,
                text: text.filter(|_| shows),
                raw: [message, kind, block],
                update,
                order: [index, at, turn],
            });
        }
    }
    Some(edits)
}

fn exactly<const N: usize>(raw: &str) -> Option<[&str; N]> {
    json::items(raw)?.try_into().ok()
}
