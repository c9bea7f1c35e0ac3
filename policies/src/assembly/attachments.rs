//! Attachments: the to-do list and what is remembered, shown with every request.
//!
//! - Each is a slot. It is injected when its words differ from what the prompt shows of the slot, and then never moves: behind the last
//!   cache breakpoint where the provider allows that, else at the place where it was first sent.
//! - Where it stays at its place, an older version stays too: taking it away would cost the cache behind it.
//! - The agent's own prompt is a block of the system prompt ([`super::instructions`]), so it is part of every request as well.

use super::words::{attribute, inject, of};
use crate::constants::Assembly;
use crate::{Proposal, Proposed, Situation, Words};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_events::raw::member_words;
use recount_events::{Body, Inject, Lifetime, Memory, Scope, SessionKind, Text};
use recount_projections::{Logged, Shown, Timeline};

/// Slot of the to-do list.
pub const TODO: &str = "attachment:todo";
/// Slot of what is remembered of the session.
pub const SESSION_MEMORY: &str = "attachment:session-memory";
/// Slot of what is remembered of the person.
pub const USER_MEMORY: &str = "attachment:user-memory";

/// Injections for attachments whose words changed; nothing where the policy attaches none, and nothing in helpers' sessions.
#[must_use]
pub fn propose(at: &Situation<'_>) -> Proposal {
    let limits = &at.constants.assembly;
    if !limits.attachments || at.kind == SessionKind::Side {
        return Proposal::default();
    }
    let timeline = at.timeline();
    let wanted = [
        (TODO, todo(timeline)),
        (SESSION_MEMORY, session_memory(timeline, limits, at.words)),
        (USER_MEMORY, user_memory(timeline, limits, at.words)),
    ];
    let mut events = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for (slot, text) in wanted {
        let changes = changes(at, &Text::plain(slot), &text);
        if !changes.is_empty() {
            names.push(slot.trim_start_matches("attachment:"));
        }
        events.extend(changes.into_iter().map(Body::Inject).map(Proposed::from));
    }
    if events.is_empty() {
        return Proposal::default();
    }
    Proposal {
        did: format!("attached what changed: {}", names.join(", ")),
        events,
        ..Proposal::default()
    }
}

/// A file that was sent with a message, as a text that can stand in it.
#[must_use]
pub fn wrap_file(path: &str, text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("<file path=\"{}\">\n{text}{end}</file>", attribute(path))
}

/// What has to be injected so that the slot says these words.
fn changes(at: &Situation<'_>, slot: &Text, text: &str) -> Vec<Inject> {
    let timeline = at.timeline();
    let binds = at.profile.thinking.binds;
    let tail = tail(timeline, slot);
    let mut changes = Vec::new();
    if binds {
        // What follows everything would stand before the next answer, and change under signed thinking.
        if tail.is_some() {
            changes.push(inject(slot, "", Lifetime::Tail));
        }
        let shown = placed(timeline, slot);
        let gone = text.is_empty() && shown.is_some();
        let text = if gone {
            emptied(slot)
        } else {
            text.to_string()
        };
        if !text.is_empty() && shown.as_deref() != Some(text.as_str()) {
            changes.push(inject(slot, &text, Lifetime::Once));
        }
    } else if tail.unwrap_or_default() != text {
        changes.push(inject(slot, text, Lifetime::Tail));
    }
    changes
}

/// Takes the place of words that stay where they were first sent.
fn emptied(slot: &Text) -> String {
    let name = slot.as_str().unwrap_or_default();
    let name = name.trim_start_matches("attachment:");
    format!("<{name}>\nempty\n</{name}>")
}

/// What a tail slot says.
fn tail(timeline: &Timeline, slot: &Text) -> Option<String> {
    timeline
        .tails
        .iter()
        .filter_map(|(_, logged)| as_inject(logged))
        .find(|inject| inject.slot.bytes().is_some() && inject.slot.bytes() == slot.bytes())
        .and_then(|inject| of(&inject.content).map(|words| words.to_string()))
}

/// What the newest visible injection of a slot says.
fn placed(timeline: &Timeline, slot: &Text) -> Option<String> {
    let places = timeline.in_slot(slot)?;
    let visible = |seq| match timeline.shown.get(seq) {
        Some(Shown::Inject(logged)) => Some(logged),
        _ => None,
    };
    let logged = places.iter().rev().find_map(visible)?;
    of(&as_inject(logged)?.content).map(|words| words.to_string())
}

fn as_inject(logged: &Logged) -> Option<&Inject> {
    match &logged.event.body {
        Body::Inject(inject) => Some(inject),
        _ => None,
    }
}

/// The to-do list in words; empty where there is none.
#[must_use]
pub fn todo(timeline: &Timeline) -> String {
    let items = match timeline.todo.as_ref().map(|logged| &logged.event.body) {
        Some(Body::Todo(todo)) if !todo.items.is_empty() => &todo.items,
        _ => return String::new(),
    };
    let lines: Vec<String> = items
        .iter()
        .filter_map(|item| Some(line(item.as_str()?)))
        .collect();
    format!("<todo>\n{}\n</todo>", lines.join("\n"))
}

/// An item: its words and how far it is, else its JSON.
fn line(item: &str) -> String {
    let words = ["content", "text", "title", "task"]
        .into_iter()
        .find_map(|key| member_words(item, key));
    let Some(words) = words else {
        return match recount_events::raw::words(item) {
            Some(words) => format!("- {words}"),
            None => format!("- {item}"),
        };
    };
    match member_words(item, "status") {
        Some(status) => format!("- [{status}] {words}"),
        None => format!("- {words}"),
    }
}

/// The newest memories of the session, oldest first; empty where there are none.
#[must_use]
pub fn session_memory(timeline: &Timeline, limits: &Assembly, words: &dyn Words) -> String {
    let newest = memories(timeline, Scope::Session).rev();
    let most = usize::try_from(limits.memories).unwrap_or(usize::MAX);
    let texts = newest.take(most).filter_map(text_of);
    let mut kept = within(texts, limits.memory_tokens, words);
    kept.reverse();
    listed("session-memory", &kept)
}

/// What is remembered of the person, the most important first; empty where there is nothing.
#[must_use]
pub fn user_memory(timeline: &Timeline, limits: &Assembly, words: &dyn Words) -> String {
    let mut all: Vec<&Memory> = memories(timeline, Scope::User)
        .filter(|memory| memory.importance >= limits.importance)
        .collect();
    // Stable: of equal importance the older one first.
    all.sort_by_key(|memory| core::cmp::Reverse(memory.importance));
    let texts = all.into_iter().filter_map(text_of);
    listed("user-memory", &within(texts, limits.memory_tokens, words))
}

fn memories(timeline: &Timeline, scope: Scope) -> impl DoubleEndedIterator<Item = &Memory> {
    timeline
        .memories
        .iter()
        .filter_map(move |(_, logged)| match &logged.event.body {
            Body::Memory(memory) if memory.scope == scope => Some(memory),
            _ => None,
        })
}

fn text_of(memory: &Memory) -> Option<String> {
    let words = memory.text.words()?;
    let words = words.trim();
    (!words.is_empty()).then(|| words.to_string())
}

/// The first texts that fit into so many tokens; of the first one at least its beginning.
fn within(texts: impl Iterator<Item = String>, tokens: u64, words: &dyn Words) -> Vec<String> {
    let texts: Vec<String> = texts.collect();
    // A token is at least a byte: what is short fits without being counted.
    let bytes = texts.iter().map(|text| text.len() as u64);
    if bytes.fold(0, u64::saturating_add) <= tokens {
        return texts;
    }
    let mut left = tokens;
    let mut kept: Vec<String> = Vec::new();
    for text in texts {
        let needs = words.tokens(&text);
        if needs <= left {
            left = left.saturating_sub(needs);
            kept.push(text);
            continue;
        }
        if kept.is_empty() {
            let begun = beginning(&text, left, words);
            if !begun.is_empty() {
                kept.push(begun);
            }
        }
        break;
    }
    kept
}

/// As much of the beginning of a text as fits into so many tokens.
fn beginning(text: &str, tokens: u64, words: &dyn Words) -> String {
    let (mut fits, mut too_long) = (0_usize, text.len());
    while too_long.saturating_sub(fits) > 1 {
        let half = fits.saturating_add(too_long.saturating_sub(fits) / 2);
        let cut = floor(text, half);
        if cut <= fits {
            break;
        }
        if words.tokens(text.get(..cut).unwrap_or_default()) <= tokens {
            fits = cut;
        } else {
            too_long = cut;
        }
    }
    text.get(..fits).unwrap_or_default().to_string()
}

/// The last place between characters up to here.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|place| text.is_char_boundary(*place))
        .unwrap_or(0)
}

fn listed(name: &str, texts: &[String]) -> String {
    if texts.is_empty() {
        return String::new();
    }
    let notes: Vec<String> = texts.iter().map(|text| format!("- {text}")).collect();
    format!("<{name}>\n{}\n</{name}>", notes.join("\n"))
}
