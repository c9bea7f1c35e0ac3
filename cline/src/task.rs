//! A main task of Cline: its history, its UI messages, its range and edits, and what of them stands on disk.
//!
//! - Every step does what Cline does, in memory and on disk, losses included.
//! - Times are in ms since the epoch and are always the caller's.

use crate::block::{Block, with_added};
use crate::edits::Edits;
use crate::message::{Message, Role};
use crate::range::{Keep, Range, length, tail};
use crate::reads::{Replaced, replace_reads};
use crate::request::{Malformed, UiMessage, is_full, previous};
use crate::turn::{Overlaid, Turn};
use crate::window::Window;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// What a task keeps in files.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Files {
    /// `api_conversation_history.json`.
    pub history: Vec<Message>,
    /// `context_history.json`; none: there is no such file.
    pub edits: Option<String>,
    /// The range in the list of tasks.
    pub range: Option<Range>,
}

/// A UI message with what was stamped on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamped {
    /// The message.
    pub message: UiMessage,
    /// The last index of the history when it was said; -1: the history was empty.
    pub history: i64,
    /// The range when it was said.
    pub range: Option<Range>,
}

/// A task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Task {
    /// Everything that was said.
    pub history: Vec<Message>,
    /// What the person saw.
    pub said: Vec<Stamped>,
    /// What is left out.
    pub range: Option<Range>,
    /// What is shown with another text.
    pub edits: Edits,
    /// A summary was asked for and has not come yet.
    pub summarizing: bool,
    /// What stands on disk.
    pub files: Files,
}

/// How a turn begins.
#[derive(Clone, Debug)]
pub struct Begin<'a> {
    /// When.
    pub at: f64,
    /// The model's window.
    pub window: Window,
    /// The model makes its own summaries.
    pub condenses: bool,
    /// What the person or the tools say.
    pub content: &'a [Block],
    /// Appended when nothing is compacted.
    pub environment: &'a Block,
    /// Appended when a summary is asked for.
    pub summary_request: &'a Block,
}

/// What a turn began with.
#[derive(Clone, Debug, PartialEq)]
pub struct Begun {
    /// Where the previous request was announced; -1: nowhere.
    pub previous: i64,
    /// A summary is asked for.
    pub compacts: bool,
    /// What is sent.
    pub turn: Turn,
}

impl Task {
    /// Appends to the history.
    pub fn append(&mut self, messages: impl IntoIterator<Item = Message>) {
        self.history.extend(messages);
        self.save_history();
    }

    /// Says something to the person.
    pub fn say(&mut self, message: UiMessage) -> &Stamped {
        let stamped = Stamped {
            message,
            history: length(&self.history).saturating_sub(1),
            range: self.range,
        };
        self.said.push(stamped);
        &self.said[self.said.len().saturating_sub(1)]
    }

    /// Begins a turn: makes room if it has to, appends what is said, renders the request.
    ///
    /// # Errors
    /// [`Malformed`]: the previous request cannot be read; what is said was appended.
    pub fn begin(&mut self, begin: &Begin<'_>) -> Result<Begun, Malformed> {
        let request = self.said.iter().rposition(|said| said.message.is_request());
        let previous = request.map_or(-1, |at| i64::try_from(at).unwrap_or(i64::MAX));
        let compacts = begin.condenses && self.condense(begin.window, previous);
        let last = if compacts {
            begin.summary_request
        } else {
            begin.environment
        };
        let blocks = begin.content.iter().chain([last]).cloned().collect();
        let at = crate::number::write(begin.at);
        self.say(UiMessage::from_json(&format!(
            r#"{{"ts":{at},"type":"say","say":"api_req_started","text":"{{}}"}}"#
        )));
        let user = Message::from_json(&with_added(r#"{"role":"user","content":[]}"#, "ts", &at));
        self.append([user.with_blocks(blocks)]);
        let requests = self.requests();
        let overlaid = Overlaid {
            history: &self.history,
            range: self.range,
        };
        let turn = overlaid.turn(
            &mut self.edits,
            &requests,
            previous,
            begin.window,
            begin.condenses,
        )?;
        if turn.edited {
            self.save_edits();
        }
        if turn.moved {
            self.cut(turn.range);
        }
        turn.rendered.empty(&mut self.history);
        Ok(Begun {
            previous,
            compacts,
            turn,
        })
    }

    /// What a model that makes its own summaries does before a turn; true when it is to make one.
    fn condense(&mut self, window: Window, request: i64) -> bool {
        let length = length(&self.history);
        if core::mem::take(&mut self.summarizing) {
            let longer = self.range.map(|range| Range {
                end: range.end.saturating_add(2),
                ..range
            });
            if let Some(longer) = longer.filter(|longer| longer.end <= length.saturating_sub(1)) {
                self.cut(Some(longer));
            }
            return false;
        }
        let requests = self.requests();
        let fresh = self
            .range
            .is_some_and(|range| length.saturating_sub(range.end).saturating_sub(1) <= 2);
        if fresh || !is_full(&requests, request, window, None) {
            return false;
        }
        let Ok(Some((at, _))) = previous(&requests, request) else {
            return false;
        };
        let overlaid = Overlaid {
            history: &self.history,
            range: self.range,
        };
        let attempt = overlaid.replace(&mut self.edits, at);
        if attempt.replaced.any() {
            self.save_edits();
        }
        attempt.needs_truncation()
    }

    /// Ends a turn: what the request used (the text of its announcement, JSON), and the answer.
    pub fn end(&mut self, used: &str, answer: Message) {
        let request = self.said.iter_mut().rfind(|said| said.message.is_request());
        if let Some(request) = request {
            request.message = request.message.with_text(used);
        }
        self.append([answer]);
    }

    /// Replaces reads, without saving.
    pub fn replace_reads(&mut self, at: f64) -> Replaced {
        replace_reads(&mut self.edits, &self.history, tail(self.range), at)
    }

    /// Drops the edits after a time.
    pub fn truncate_edits(&mut self, at: f64) {
        self.edits.truncate(at);
        self.save_edits();
    }

    /// The provider said that the context overflowed.
    pub fn overflowed(&mut self, now: f64) {
        self.leave_out(Keep::Quarter, now);
    }

    /// The person accepted a condensation.
    pub fn condensed(&mut self, now: f64) {
        let answered = self
            .history
            .last()
            .is_some_and(|message| message.role() == Role::Assistant);
        self.leave_out(if answered { Keep::LastTwo } else { Keep::None }, now);
    }

    /// The model wrote its summary.
    pub fn summarized(&mut self, now: f64) {
        self.leave_out(Keep::None, now);
        self.summarizing = true;
    }

    fn leave_out(&mut self, keep: Keep, now: f64) {
        self.cut(Some(Range::next(&self.history, self.range, keep)));
        if self.edits.note_both(&self.history, now) {
            self.save_edits();
        }
    }

    /// Restores the task to where a UI message was said, `offset` messages earlier; false when there is no such message. The task is
    /// loaded from disk again afterwards, with no edit left: Cline truncates an edit history that it has not loaded.
    pub fn restore(&mut self, at: f64, offset: usize, now: f64) -> bool {
        #[expect(clippy::float_cmp, reason = "a time is looked up as it was written")]
        let said = self.said.iter().position(|said| said.message.at == at);
        let Some(target) = said.and_then(|said| said.checked_sub(offset)) else {
            return false;
        };
        let Some(Stamped { history, range, .. }) = self.said.get(target).cloned() else {
            return false;
        };
        self.cut(range);
        let kept = usize::try_from(history.saturating_add(2)).unwrap_or_default();
        self.history.truncate(kept);
        self.save_history();
        self.files.edits = Some(Edits::new().to_json());
        self.said.truncate(target.saturating_add(1));
        let now = crate::number::write(now);
        self.say(UiMessage::from_json(&format!(
            r#"{{"ts":{now},"type":"say","say":"deleted_api_reqs","text":"{{}}"}}"#
        )));
        self.reload();
        true
    }

    /// Loads the task from disk.
    pub fn reload(&mut self) {
        self.history = self.files.history.clone();
        self.range = self.files.range;
        self.edits = self
            .files
            .edits
            .as_deref()
            .and_then(Edits::from_json)
            .unwrap_or_default();
        self.summarizing = false;
    }

    /// What would be sent; messages that lose their words to the pairing lose them in the history too.
    pub fn render(&mut self) -> Vec<Message> {
        let overlaid = Overlaid {
            history: &self.history,
            range: self.range,
        };
        let rendered = overlaid.render(&self.edits);
        rendered.empty(&mut self.history);
        rendered.messages
    }

    fn requests(&self) -> Vec<UiMessage> {
        self.said.iter().map(|said| said.message.clone()).collect()
    }

    fn cut(&mut self, range: Option<Range>) {
        self.range = range;
        self.files.range = range;
    }

    fn save_history(&mut self) {
        if !self.history.is_empty() {
            self.files.history = self.history.clone();
        }
    }

    fn save_edits(&mut self) {
        self.files.edits = Some(self.edits.to_json());
    }
}
