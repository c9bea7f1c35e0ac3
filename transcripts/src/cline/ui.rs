//! What the person saw: the records of `ui_messages.json`, which say when things happened and which range was left out then.

use super::said::moment;
use crate::json::{self, Members};
use crate::lines::Piece;
use recount_events::raw;

/// A record.
#[derive(Clone, Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) piece: Piece<'a>,
    pub(crate) members: Members<'a>,
    /// When, in ms.
    pub(crate) ts: Option<u64>,
    /// The last index of the history then; -1: it was empty.
    pub(crate) history: Option<i64>,
    /// What it is (`text`, `api_req_started` …).
    pub(crate) kind: String,
    /// The range that was left out then, as written.
    pub(crate) range: Option<&'a str>,
}

impl<'a> Shown<'a> {
    pub(crate) fn read(piece: Piece<'a>) -> Self {
        let members = Members::parse(piece.record().unwrap_or_default()).unwrap_or_default();
        let kind = members
            .text("say")
            .or_else(|| members.text("ask"))
            .or_else(|| members.text("type"))
            .unwrap_or_else(|| "record".to_owned());
        let range = members
            .raw("conversationHistoryDeletedRange")
            .filter(|raw| *raw != "null");
        Self {
            piece,
            ts: members.raw("ts").and_then(moment),
            history: members.raw("conversationHistoryIndex").and_then(whole),
            kind: plain(&kind),
            range,
            members,
        }
    }

    /// What a request used, as its host writes it: the object in the text, when it counts tokens.
    pub(crate) fn used(&self) -> Option<String> {
        let text = self.members.text("text")?;
        let counts = raw::is_json(&text) && raw::member(&text, "tokensIn").is_some();
        counts.then_some(text)
    }

    /// It announces a request.
    pub(crate) fn is_request(&self) -> bool {
        self.kind == "api_req_started"
    }

    /// It says that the workspace was saved: the reference to that.
    pub(crate) fn saved(&self) -> Option<Option<String>> {
        match self.kind.as_str() {
            "checkpoint_created" => Some(self.members.text("lastCheckpointHash")),
            "checkpoint_saved" => Some(self.members.text("text")),
            _ => None,
        }
    }
}

/// A range: first and last index, whatever they are.
pub(crate) fn range(raw: &str) -> Option<(i64, i64)> {
    let mut ends = json::items(raw)?.into_iter().map(whole);
    let range = (ends.next()??, ends.next()??);
    ends.next().is_none().then_some(range)
}

/// A whole number that a double holds exactly.
pub(crate) fn whole(raw: &str) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if let Ok(number) = raw.parse::<i64>() {
        return Some(number).filter(|number| number.unsigned_abs() <= 1 << 53);
    }
    let number: f64 = raw.parse().ok()?;
    ((-EXACT..=EXACT).contains(&number) && number.fract() == 0.0).then_some(number as i64)
}

/// A name as part of a kept record's name: letters that are no surprise there.
fn plain(kind: &str) -> String {
    kind.chars()
        .take(40)
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || letter == '_' {
                letter
            } else {
                '_'
            }
        })
        .collect()
}
