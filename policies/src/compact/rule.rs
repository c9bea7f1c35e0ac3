//! The summary that is made without a model: what the log says, in fixed order, within so many tokens.
//!
//! - Deterministic: equal logs give equal words.
//! - In order of worth: a short earlier summary word for word, the person's words (newest first, as far as they fit), the earlier summary
//!   where it is long, what is to be done, the last words of the model, the files, the calls.
//! - What is cut ends with an ellipsis, and no heading says that it is whole.

use super::atoms::{is_authored, words_of};
use super::{shorten, tools};
use crate::Situation;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_events::raw::member_words;
use recount_events::{BlockKind, Body, Seq};
use recount_projections::{Said, Shown, Summary, SummaryKind, Unit};

/// The heading of what earlier summaries say.
const SO_FAR: &str = "Summary so far:";
/// The heading of what the person said.
const PERSON: &str = "The person's messages:";
/// Counted tokens of an earlier summary that is short: it says little more than a few lines, and costs little to keep.
const SHORT: u64 = 64;
/// Of a hundred tokens, those that a longer earlier summary may have.
const EARLIER: u64 = 35;

/// Its first line.
const TITLE: &str =
    "Earlier events of this session, in brief (made from the log, without a model).";
/// Characters of a call's target that are shown.
const TARGET: usize = 80;
/// Calls that are listed, the newest.
const CALLS: usize = 40;
/// Files that are listed, the newest.
const FILES: usize = 40;

/// What stood in a range.
#[derive(Default)]
struct Found {
    summaries: Vec<String>,
    person: Vec<String>,
    last_words: Option<String>,
    files: BTreeMap<String, (Seq, bool)>,
    calls: Vec<String>,
    more_calls: u64,
}

/// The summary of what a range shows, in at most so many counted tokens (at least a line of it).
pub(crate) fn text(at: &Situation<'_>, first: Seq, last: Seq, tokens: u64) -> String {
    let found = gather(at, first, last);
    let mut page = Page {
        at,
        left: tokens,
        parts: Vec::new(),
    };
    page.add(0, TITLE, tokens);
    let earlier = page.has(&found.summaries);
    let share = tokens.saturating_mul(EARLIER) / 100;
    let short = earlier <= share.max(SHORT);
    if short {
        page.list(1, SO_FAR, &found.summaries, earlier);
    }
    page.person(&found.person, tokens.saturating_mul(45) / 100);
    if !short {
        page.list(1, SO_FAR, &found.summaries, share);
    }
    page.list(5, "To do:", &todo(at), tokens / 5);
    let last_words: Vec<String> = found.last_words.into_iter().collect();
    page.list(6, "Last words of the assistant:", &last_words, tokens / 4);
    page.list(3, "Files (newest last):", &files(&found.files), tokens / 4);
    let mut calls = found.calls;
    if found.more_calls > 0 {
        calls.insert(0, format!("({} calls before these)", found.more_calls));
    }
    page.list(4, "Calls (newest last):", &calls, tokens / 2);
    page.written()
}

/// Counted tokens that the text has at the least for a short earlier summary to stay in it, word for word; 0: there is none.
pub(crate) fn least(at: &Situation<'_>, first: Seq, last: Seq) -> u64 {
    let found = gather(at, first, last);
    let page = Page {
        at,
        left: 0,
        parts: Vec::new(),
    };
    match page.has(&found.summaries) {
        0 => 0,
        earlier if earlier > SHORT => 0,
        earlier => earlier
            .saturating_add(at.words.tokens(TITLE))
            .saturating_add(2),
    }
}

/// Parts with their places, and the tokens that are left.
struct Page<'a> {
    at: &'a Situation<'a>,
    left: u64,
    parts: Vec<(u8, String)>,
}

impl Page<'_> {
    /// Adds a part, cut so that it takes at most so many tokens.
    fn add(&mut self, place: u8, text: &str, most: u64) {
        // A line between two parts.
        let most = most.min(self.left.saturating_sub(1));
        if let Some(text) = shorten::begin(self.at.words, text, most) {
            let tokens = self.at.words.tokens(&text).saturating_add(1);
            self.left = self.left.saturating_sub(tokens);
            self.parts.push((place, text));
        }
    }

    fn list(&mut self, place: u8, title: &str, lines: &[String], most: u64) {
        if !lines.is_empty() {
            self.add(place, &listed(title, lines), most);
        }
    }

    /// Counted tokens of earlier summaries with their heading.
    fn has(&self, summaries: &[String]) -> u64 {
        if summaries.is_empty() {
            return 0;
        }
        self.at.words.tokens(&listed(SO_FAR, summaries))
    }

    /// What the person said: the newest first, each whole as long as it fits, in the order in which it was said.
    fn person(&mut self, said: &[String], most: u64) {
        let most = most.min(self.left);
        let mut left = most.saturating_sub(self.at.words.tokens(PERSON).saturating_add(8));
        let mut lines: Vec<String> = Vec::new();
        for words in said.iter().rev() {
            let line = format!("- {words}");
            let Some(line) = shorten::begin(self.at.words, &line, left) else {
                break;
            };
            left = left.saturating_sub(self.at.words.tokens(&line).saturating_add(1));
            lines.push(line);
        }
        let missing = said.len().saturating_sub(lines.len());
        if missing > 0 {
            lines.push(format!("({missing} before these)"));
        }
        lines.reverse();
        self.list(2, PERSON, &lines, most);
    }

    fn written(mut self) -> String {
        self.parts.sort_by_key(|(place, _)| *place);
        let texts: Vec<String> = self.parts.into_iter().map(|(_, text)| text).collect();
        if texts.is_empty() {
            "[earlier events]".to_string()
        } else {
            texts.join("\n")
        }
    }
}

/// Lines under a title.
fn listed(title: &str, lines: &[String]) -> String {
    let mut text = title.to_string();
    for line in lines {
        text.push('\n');
        text.push_str(line);
    }
    text
}

fn gather(at: &Situation<'_>, first: Seq, last: Seq) -> Found {
    let mut found = Found::default();
    for (_, shown) in at.timeline().shown.range(first..=last) {
        match shown {
            Shown::Summary(summary) => found.summary(summary),
            Shown::Said(said) => found.said(said),
            Shown::Unit(unit) => found.unit(unit),
            Shown::Inject(_) => {}
        }
    }
    let more = found.calls.len().saturating_sub(CALLS);
    found.calls.drain(..more);
    found.more_calls = more as u64;
    found
}

impl Found {
    fn summary(&mut self, summary: &Summary) {
        let Some(words) = summary.text.words() else {
            return;
        };
        let words = words.trim();
        // Title and heading of a summary of the same making say nothing new.
        let words = words.strip_prefix(TITLE).map_or(words, str::trim_start);
        let words = words.strip_prefix(SO_FAR).unwrap_or(words).trim();
        match summary.kind {
            _ if words.is_empty() => {}
            SummaryKind::Compact => self.summaries.push(words.to_string()),
            SummaryKind::Collapse => self.summaries.push(format!("- {words}")),
        }
    }

    fn said(&mut self, said: &Said) {
        let Some(message) = said.logged.message() else {
            return;
        };
        let words = words_of(&message.content);
        let words = words.trim();
        if is_authored(message) && !words.is_empty() {
            self.person.push(words.to_string());
        }
    }

    fn unit(&mut self, unit: &Unit) {
        for part in unit.parts.iter().filter_map(|part| part.message()) {
            let blocks = part.content.blocks.iter();
            // A provider's own summary of what stood before it.
            let own = blocks.filter(|block| block.kind == BlockKind::Compaction);
            let own = own.filter_map(|block| member_words(block.json()?, "content"));
            self.summaries
                .extend(own.map(|words| words.trim().to_string()));
            let words = words_of(&part.content);
            if !words.trim().is_empty() {
                self.last_words = Some(words.trim().to_string());
            }
        }
        for one in tools::uses(unit) {
            let answer = one.call.answer.as_ref();
            let target = one.target.as_deref().map(short).unwrap_or_default();
            let target = if target.is_empty() {
                target
            } else {
                format!(" {target}")
            };
            let line = format!("- {}{target}: {}", one.tool, tools::ended(answer));
            self.calls.push(line);
            if let Some(path) = &one.path {
                let changed = one.changes() || self.files.get(path).is_some_and(|file| file.1);
                self.files
                    .insert(path.clone(), (one.call.block.seq, changed));
            }
        }
    }
}

/// One line, not too long.
pub(crate) fn short(target: &str) -> String {
    let line = target.trim().lines().next().unwrap_or("");
    let cut: String = line.chars().take(TARGET).collect();
    if cut.len() < target.trim().len() {
        cut + "…"
    } else {
        cut
    }
}

fn files(files: &BTreeMap<String, (Seq, bool)>) -> Vec<String> {
    let mut all: Vec<(&Seq, &String, bool)> = files
        .iter()
        .map(|(path, (seq, changed))| (seq, path, *changed))
        .collect();
    all.sort();
    let more = all.len().saturating_sub(FILES);
    all.drain(..more);
    let line = |(_, path, changed): (_, &String, bool)| {
        let what = if changed { "changed" } else { "read" };
        format!("- {path} ({what})")
    };
    all.into_iter().map(line).collect()
}

/// The items of the list of things to do, each in a line.
fn todo(at: &Situation<'_>) -> Vec<String> {
    let logged = at.timeline().todo.as_ref();
    let Some(Body::Todo(todo)) = logged.map(|logged| &logged.event.body) else {
        return Vec::new();
    };
    let items = todo.items.iter().filter_map(|item| {
        let raw = item.as_str()?;
        let field = |name| recount_events::raw::member_words(raw, name);
        let what = field("content")
            .or_else(|| field("text"))
            .or_else(|| field("title"))
            .or_else(|| recount_events::raw::words(raw))?;
        let status = field("status").unwrap_or_default();
        Some(if status.is_empty() {
            format!("- {}", short(&what))
        } else {
            format!("- [{status}] {}", short(&what))
        })
    });
    items.collect()
}
