//! The range of messages that are left out, and how it grows.
//!
//! The arithmetic is that of Cline 3.70.0 to 4.0.12 (`getNextTruncationRange`), its oddities included: the start is always 2, an end
//! that is no assistant message moves back by one, and a history of one message gives the range `[2, -1]`.

use crate::message::{Message, Role};
use alloc::format;
use alloc::string::String;
use recount_events::raw;

/// Messages that are left out: indices of the history, both inclusive. `[2, 1]` is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first; 2 wherever Cline made the range.
    pub start: i64,
    /// The last.
    pub end: i64,
}

/// What is kept of what is still shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Nothing but the first pair.
    None,
    /// The last two messages.
    LastTwo,
    /// Half.
    Half,
    /// A quarter.
    Quarter,
}

/// Where the first message stands that is neither of the first pair nor left out.
pub(crate) fn tail(range: Option<Range>) -> i64 {
    range.map_or(2, |range| range.end.saturating_add(1))
}

impl Range {
    /// The next range of a history.
    #[must_use]
    pub fn next(messages: &[Message], current: Option<Range>, keep: Keep) -> Range {
        let start = tail(current);
        let rest = length(messages).saturating_sub(start);
        let removed = match keep {
            Keep::None => rest.max(0),
            Keep::LastTwo => rest.saturating_sub(2).max(0),
            Keep::Half => rest.div_euclid(4).saturating_mul(2),
            Keep::Quarter => rest.saturating_mul(3).div_euclid(8).saturating_mul(2),
        };
        let end = start.saturating_add(removed).saturating_sub(1);
        let at_end = usize::try_from(end).ok().and_then(|end| messages.get(end));
        let misses = at_end.is_some_and(|message| message.role() != Role::Assistant);
        Range {
            start: 2,
            end: end.saturating_sub(i64::from(misses)),
        }
    }

    /// Reads `[start, end]`; `None` for anything else.
    #[must_use]
    pub fn from_json(json: &str) -> Option<Range> {
        let mut ends = raw::elements(json)?.map(crate::number::whole);
        let range = Range {
            start: ends.next()??,
            end: ends.next()??,
        };
        ends.next().is_none().then_some(range)
    }

    /// Writes `[start,end]`.
    #[must_use]
    pub fn to_json(self) -> String {
        format!("[{},{}]", self.start, self.end)
    }
}

/// The length of a history.
pub(crate) fn length(messages: &[Message]) -> i64 {
    i64::try_from(messages.len()).unwrap_or(i64::MAX)
}
