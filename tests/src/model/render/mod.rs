//! The prompt of a fold: pieces in order, the request around them, and what it is good for. From the document on rendering.

mod anthropic;
mod chat;
mod compaction;
mod media;
mod request;
mod shown;
mod words;

use super::fold::{Call, Fold};
use super::{Place, Wire};
use serde_json::Value;

/// What a prompt is good for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It can be sent.
    Ready,
    /// These calls need their results.
    WaitingResults(Vec<Place>),
    /// The person has to say something.
    WaitingPerson,
    /// No profile is known.
    NoProfile,
}

/// A prompt as the model sees it.
#[derive(Clone, Debug)]
pub struct Prompt {
    /// What it is good for. Budgets are not looked at.
    pub outcome: Outcome,
    /// The request's body.
    pub body: Value,
    /// The root over its pieces, as hexadecimal digits. Right only where no piece was mended within a string and numbers are whole.
    pub digest: String,
    /// Sources of the pieces, in order: event and block; of made pieces the event or nothing.
    pub sources: Vec<Option<Place>>,
}

/// The role of a piece, in the order of their numbers in digests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Tool,
    Header,
    User,
    Assistant,
    System,
    Result,
}

/// The smallest part of a prompt with a source.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub role: Role,
    pub value: Value,
    pub source: Option<Place>,
    /// The entry that it comes from, by its place among what is shown.
    pub entry: Option<usize>,
}

/// An entry of what is shown.
#[derive(Clone, Debug)]
pub(super) enum Shown {
    /// A response.
    Unit { parts: Vec<usize>, calls: Vec<Call> },
    /// A user's or system message.
    Said(usize),
    /// An injection.
    Inject(usize),
    /// A fold's summary.
    Summary(usize),
}

/// What is known while pieces are made.
pub(super) struct Making<'f, 'm> {
    pub fold: &'f Fold<'m>,
    pub wire: Wire,
    pub profile: Value,
    /// Thinking is asked for and not turned off.
    pub thinking: bool,
    pub pieces: Vec<Piece>,
    /// Pictures shown so far, and whether one of them is large.
    pub pictures: (u64, bool),
    /// Server calls shown so far.
    pub servers: Vec<String>,
    /// A thinking block was left out for its prefix.
    pub broken: bool,
    /// The last compaction of the profile's provider: its entry and its block.
    pub compaction: Option<(usize, Place)>,
}

/// The prompt of a fold.
pub(super) fn prompt(fold: &Fold<'_>, wire: Wire, heal: bool) -> Prompt {
    let Some(profile) = fold.newest("profile") else {
        return Prompt {
            outcome: Outcome::NoProfile,
            body: Value::Null,
            digest: String::new(),
            sources: Vec::new(),
        };
    };
    let profile = profile.event.clone();
    let shown = shown::shown(fold);
    let asked = wire == Wire::Anthropic
        && matches!(
            profile["params"]["thinking"]["type"].as_str(),
            Some("enabled" | "adaptive")
        );
    let narrow = request::narrow(&profile);
    let mut off = asked && narrow;
    let mut making = made(fold, wire, &profile, &shown, asked && !off);
    if asked
        && !off
        && profile["params"]["thinking"]["type"] == "enabled"
        && loop_without_thinking(&shown, &making)
    {
        off = true;
        making = made(fold, wire, &profile, &shown, false);
    }
    Prompt {
        outcome: outcome(fold, &making, &shown, heal),
        body: request::body(&making, off),
        digest: words::hex(words::root(&making.pieces)),
        sources: making.pieces.iter().map(|piece| piece.source).collect(),
    }
}

fn made<'f, 'm>(
    fold: &'f Fold<'m>,
    wire: Wire,
    profile: &Value,
    shown: &[Shown],
    thinking: bool,
) -> Making<'f, 'm> {
    let mut making = Making {
        fold,
        wire,
        profile: profile.clone(),
        thinking,
        pieces: Vec::new(),
        pictures: (0, false),
        servers: Vec::new(),
        broken: false,
        compaction: None,
    };
    making.compaction = compaction::last(&making, shown);
    making.header();
    let header = making.pieces.len();
    let last_other = turn(&making, shown);
    let tails = shown::tails(fold);
    let all = shown.iter().chain(&tails);
    for (index, entry) in all.enumerate() {
        if making.compaction.is_some_and(|(last, _)| index < last) {
            continue;
        }
        let before = making.pieces.len();
        making.entry(
            entry,
            last_other.is_none_or(|other| index > other),
            tails.is_empty() && index + 1 == shown.len(),
        );
        if before == header
            && making.pieces.get(header).is_some_and(|piece| {
                !matches!(piece.role, Role::User | Role::Result) && !compaction::is(piece)
            })
        {
            making.pieces.truncate(header);
            making.pieces.push(words::earlier());
            making.again(
                entry,
                last_other.is_none_or(|other| index > other),
                tails.is_empty() && index + 1 == shown.len(),
            );
            if making.pieces.len() == header + 1 {
                making.pieces.truncate(header);
            }
        }
        for piece in making.pieces.iter_mut().skip(before) {
            piece.entry = Some(index);
        }
    }
    making
}

/// Where the last turn begins: the newest message or summary that shows anything.
fn turn(making: &Making<'_, '_>, shown: &[Shown]) -> Option<usize> {
    shown.iter().rposition(|entry| {
        let mut alone = Making {
            fold: making.fold,
            wire: making.wire,
            profile: making.profile.clone(),
            thinking: false,
            pieces: Vec::new(),
            pictures: (0, false),
            servers: Vec::new(),
            broken: false,
            compaction: None,
        };
        let speaks = matches!(entry, Shown::Said(_) | Shown::Summary(_));
        if speaks {
            alone.entry(entry, false, false);
        }
        !alone.pieces.is_empty()
    })
}

/// The responses of the last turn have one with calls that does not begin with thinking.
fn loop_without_thinking(shown: &[Shown], making: &Making<'_, '_>) -> bool {
    let from = turn(making, shown).map_or(0, |at| at + 1);
    shown.iter().enumerate().skip(from).any(|(index, entry)| {
        let calls = matches!(entry, Shown::Unit { calls, .. } if !calls.is_empty());
        let own = |piece: &Piece| piece.entry == Some(index) && piece.role == Role::Assistant;
        let Some(last) = making.pieces.iter().rposition(own) else {
            return false;
        };
        let message = making
            .pieces
            .iter()
            .take(last + 1)
            .rev()
            .take_while(|piece| piece.role == Role::Assistant)
            .filter(|piece| !compaction::is(piece));
        let opening = message
            .last()
            .and_then(|piece| piece.value["type"].as_str())
            .unwrap_or("");
        calls && !opening.ends_with("thinking")
    })
}

fn outcome(fold: &Fold<'_>, making: &Making<'_, '_>, shown: &[Shown], heal: bool) -> Outcome {
    let newest = shown
        .iter()
        .rposition(|entry| matches!(entry, Shown::Unit { .. }));
    if let Some(Shown::Unit { calls, .. }) = newest.and_then(|at| shown.get(at)) {
        let bare: Vec<Place> = calls
            .iter()
            .filter(|call| call.results.is_empty())
            .map(|call| call.place)
            .collect();
        let behind = shown.iter().skip(newest.map_or(0, |at| at + 1));
        let authored = behind.into_iter().any(|entry| match entry {
            Shown::Said(seq) => fold.get(*seq).is_some_and(|entry| entry.got.authored),
            _ => false,
        });
        if !bare.is_empty() && !authored && !heal {
            return Outcome::WaitingResults(bare);
        }
    }
    let conversation = making
        .pieces
        .iter()
        .rfind(|piece| !matches!(piece.role, Role::Tool | Role::Header));
    match conversation {
        None => Outcome::WaitingPerson,
        Some(piece) if piece.role != Role::Assistant || compaction::is(piece) => Outcome::Ready,
        Some(piece) if making.wire == Wire::Anthropic && paused(fold, shown, piece) => {
            Outcome::Ready
        }
        Some(piece) => {
            let words = piece.value["text"].as_str().unwrap_or("");
            let thinking = piece.value["type"]
                .as_str()
                .is_some_and(|kind| kind.ends_with("thinking"));
            let prefill = making.profile["prefill"] == true;
            let fits = prefill && !thinking && !words.ends_with(char::is_whitespace);
            if fits {
                Outcome::Ready
            } else {
                Outcome::WaitingPerson
            }
        }
    }
}

/// The last piece is of a response that the provider paused.
fn paused(fold: &Fold<'_>, shown: &[Shown], piece: &Piece) -> bool {
    let Some(Shown::Unit { parts, .. }) = shown.last() else {
        return false;
    };
    let stopped = parts
        .last()
        .and_then(|seq| fold.get(*seq))
        .is_some_and(|entry| entry.event["stop"] == "pause_turn");
    let kind = piece.value["type"].as_str().unwrap_or("");
    let server = kind == "server_tool_use" || kind.ends_with("_tool_result");
    stopped && server && piece.source.is_some_and(|(seq, _)| parts.contains(&seq))
}

impl Making<'_, '_> {
    /// Tools and system prompt.
    fn header(&mut self) {
        let tools = request::tools(self);
        self.pieces.extend(tools);
        if let Some(system) = self.fold.newest("system") {
            for (index, block) in super::blocks::blocks(&system.event).iter().enumerate() {
                let words = block.words().filter(|words| {
                    block.what == super::blocks::What::Text && !words::blank(words)
                });
                if let Some(words) = words {
                    let value = self.text_of(block, &words);
                    self.push(Role::Header, value, Some((system.seq, index)));
                }
            }
        }
    }

    fn push(&mut self, role: Role, value: Value, source: Option<Place>) {
        self.pieces.push(Piece {
            role,
            value,
            source,
            entry: None,
        });
    }

    /// The entry once more, behind a piece that had to come first.
    fn again(&mut self, entry: &Shown, current: bool, last: bool) {
        self.pictures = (0, false);
        self.servers.clear();
        self.broken = false;
        self.entry(entry, current, last);
    }

    /// An entry. `current`: a response behind everything that is none; `last`: nothing stands behind it.
    fn entry(&mut self, entry: &Shown, current: bool, last: bool) {
        match (entry, self.wire) {
            (Shown::Unit { parts, calls }, Wire::Anthropic) => {
                self.unit_anthropic(parts, calls, current, last)
            }
            (Shown::Unit { parts, calls }, Wire::Chat) => self.unit_chat(parts, calls),
            (Shown::Said(seq), _) => self.said(*seq),
            (Shown::Inject(seq), _) => self.blocks_of(*seq, Role::User),
            (Shown::Summary(seq), _) => self.summary(*seq),
        }
    }

    fn said(&mut self, seq: usize) {
        let Some(entry) = self.fold.get(seq) else {
            return;
        };
        let native = self.wire == Wire::Chat && self.profile["system_role"] == true;
        match entry.event["role"] == "system" {
            true if native => self.blocks_of(seq, Role::System),
            true => self.wrapped(seq),
            false => self.blocks_of(seq, Role::User),
        }
    }

    /// All blocks of an event but its results, replaced where they are.
    fn blocks_of(&mut self, seq: usize, role: Role) {
        let Some(entry) = self.fold.get(seq) else {
            return;
        };
        for (index, block) in super::blocks::blocks(&entry.event).iter().enumerate() {
            if block.what != super::blocks::What::Result {
                self.block((seq, index), block, role, &entry.event);
            }
        }
    }

    /// A block, or what is shown instead of it.
    fn block(&mut self, place: Place, block: &super::blocks::Block, role: Role, event: &Value) {
        let Some(other) = self.fold.replaced(place) else {
            return self.plain(place, block, role, event);
        };
        for (index, block) in super::blocks::blocks(&other.event).iter().enumerate() {
            self.plain((other.seq, index), block, role, event);
        }
    }

    fn plain(&mut self, place: Place, block: &super::blocks::Block, role: Role, event: &Value) {
        match self.wire {
            Wire::Anthropic => self.plain_anthropic(place, block, role, event),
            Wire::Chat => self.plain_chat(place, block, role, event),
        }
    }

    /// A message of role system as the user's words.
    fn wrapped(&mut self, seq: usize) {
        let before = self.pieces.len();
        self.blocks_of(seq, Role::User);
        for piece in self.pieces.iter_mut().skip(before) {
            if piece.value["type"] == "text" {
                let words = piece.value["text"].as_str().unwrap_or("").to_owned();
                piece.value = words::text(&format!("<system>\n{words}\n</system>"));
            }
        }
    }

    fn summary(&mut self, seq: usize) {
        let Some(entry) = self.fold.get(seq) else {
            return;
        };
        let words = super::tame::clean_text(entry.got.summary.as_deref().unwrap_or(""));
        let id = super::tame::clean_text(entry.event["id"].as_str().unwrap_or(""));
        let text = match entry.event["type"] == "collapse_commit" {
            true => format!(
                "<collapsed id=\"{}\">\n{words}\n</collapsed>",
                words::entities(&id)
            ),
            false => format!("<summary>\n{words}\n</summary>"),
        };
        self.push(Role::User, words::text(&text), Some((seq, 0)));
    }
}
