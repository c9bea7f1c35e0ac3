//! What policies read in a session: tools, arguments and results, whatever dialect they are written in.

use crate::Situation;
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use recount_events::raw::{elements, members, words};
use recount_events::{
    Block, BlockId, BlockKind, Body, CallFacts, Content, Form, Format, Seq, Shape,
};
use recount_projections::{Answer, Call, Shown, State, Timeline, Unit};

/// A block of a response.
#[must_use]
pub fn block_of(unit: &Unit, id: BlockId) -> Option<(&Block, Format)> {
    let part = unit.parts.iter().find(|part| part.seq == id.seq)?;
    let content = &part.message()?.content;
    let block = content.blocks.get(usize::try_from(id.index).ok()?)?;
    Some((block, content.format))
}

/// Name, id and arguments of a call, where its bytes are at hand.
#[must_use]
pub fn facts<'a>(unit: &'a Unit, call: &Call) -> Option<CallFacts<'a>> {
    let (block, format) = block_of(unit, call.block)?;
    block.call(format)
}

/// The tool that a call names; else the one that its result names; else nothing.
#[must_use]
pub fn tool(unit: &Unit, call: &Call) -> String {
    let named = facts(unit, call)
        .map(|facts| facts.name)
        .filter(|name| !name.is_empty());
    let told = || match call.answer.as_ref().map(|answer| &answer.logged.event.body) {
        Some(Body::ToolResult(result)) => Some(result.tool.as_ref()?.words()?.into_owned()),
        _ => None,
    };
    named.or_else(told).unwrap_or_default()
}

/// The members of a call's arguments in the order of their names, values as they stand: equal for equal arguments, whatever the order
/// in which they were given. Arguments that are no object are one member without a name.
#[must_use]
pub fn arguments(input: &str) -> BTreeMap<String, String> {
    let inner = words(input).unwrap_or(Cow::Borrowed(input));
    match members(&inner) {
        Some(all) => all
            .map(|member| {
                (
                    member.key().into_owned(),
                    member.value.trim_ascii().to_string(),
                )
            })
            .collect(),
        None => BTreeMap::from([(String::new(), inner.trim_ascii().to_string())]),
    }
}

/// Members of arguments that name a file.
const PATHS: [&str; 6] = [
    "file_path",
    "path",
    "filePath",
    "notebook_path",
    "filename",
    "file",
];

/// The file that arguments are about.
#[must_use]
pub fn path(arguments: &BTreeMap<String, String>) -> Option<String> {
    PATHS
        .iter()
        .find_map(|key| words(arguments.get(*key)?).map(Cow::into_owned))
}

/// What a result brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought<'a> {
    /// Its words; of several blocks one after another, a line each.
    pub words: Cow<'a, str>,
    /// UTF-16 units of the words, without the line breaks between blocks.
    pub units: u64,
    /// What it is as a file: the words of a string, the bytes of bytes, the JSON of anything else.
    pub file: Cow<'a, [u8]>,
    /// The file is JSON.
    pub json: bool,
    /// Pictures and documents are in it, which words cannot stand for.
    pub seen: bool,
}

/// What a result brought; `None`: nothing, or its bytes are not at hand. Replacements are not looked at.
#[must_use]
pub fn brought(answer: &Answer) -> Option<Brought<'_>> {
    match &answer.logged.event.body {
        Body::ToolResult(result) => of_content(&result.content),
        Body::Message(message) => {
            let index = usize::try_from(answer.block.index).ok()?;
            let block = message.content.blocks.get(index)?;
            let raw = block.result(message.content.format)?.content?;
            of_raw(message.content.format, raw.trim_ascii())
        }
        _ => None,
    }
}

fn of_content(content: &Content) -> Option<Brought<'_>> {
    match content.shape {
        Shape::Absent => None,
        Shape::String | Shape::Bytes => {
            let block = content.blocks.first()?;
            let words = block.words()?;
            let file = match block.raw.form {
                Form::Bytes => Cow::Borrowed(block.raw.bytes()?),
                Form::Plain | Form::Json => bytes(&words),
            };
            Some(string(words, file))
        }
        Shape::Blocks => {
            let raws: Option<Vec<&str>> = content.blocks.iter().map(Block::json).collect();
            let raw = ["[", &raws?.join(","), "]"].concat();
            blocks(&content.blocks, Cow::Owned(raw))
        }
    }
}

fn of_raw(format: Format, raw: &str) -> Option<Brought<'_>> {
    if raw == "null" {
        return None;
    }
    if let Some(words) = words(raw) {
        let file = bytes(&words);
        return Some(string(words, file));
    }
    let list: Vec<Block> = match elements(raw) {
        Some(parts) => parts.map(|part| Block::from_raw(format, part)).collect(),
        None => Vec::from([Block {
            kind: BlockKind::Other,
            ..Block::from_raw(format, raw)
        }]),
    };
    blocks(&list, Cow::Borrowed(raw))
}

fn bytes<'a>(words: &Cow<'a, str>) -> Cow<'a, [u8]> {
    match words {
        Cow::Borrowed(words) => Cow::Borrowed(words.as_bytes()),
        Cow::Owned(words) => Cow::Owned(words.as_bytes().to_vec()),
    }
}

fn string<'a>(words: Cow<'a, str>, file: Cow<'a, [u8]>) -> Brought<'a> {
    Brought {
        units: crate::cut::units(&words),
        words,
        file,
        json: false,
        seen: false,
    }
}

/// A list of blocks: texts say their words, what has none stands as its JSON.
fn blocks<'a>(list: &[Block], raw: Cow<'a, str>) -> Option<Brought<'a>> {
    let mut all = String::new();
    let (mut units, mut seen) = (0_u64, false);
    for block in list {
        if matches!(block.kind, BlockKind::Image | BlockKind::Document) {
            seen = true;
            continue;
        }
        let words = block
            .words()
            .or_else(|| block.json().map(Cow::Borrowed))
            .unwrap_or_default();
        units = units.saturating_add(crate::cut::units(&words));
        if !all.is_empty() {
            all.push('\n');
        }
        all.push_str(&words);
    }
    let file = match raw {
        Cow::Borrowed(raw) => Cow::Borrowed(raw.as_bytes()),
        Cow::Owned(raw) => Cow::Owned(raw.into_bytes()),
    };
    (!list.is_empty()).then_some(Brought {
        words: Cow::Owned(all),
        units,
        file,
        json: true,
        seen,
    })
}

/// Responses that are shown, newest first.
pub fn units(timeline: &Timeline) -> impl Iterator<Item = (Seq, &Arc<Unit>)> {
    timeline
        .shown
        .iter()
        .rev()
        .filter_map(|(key, shown)| match shown {
            Shown::Unit(unit) => Some((*key, unit)),
            _ => None,
        })
}

/// The result that closed a call, where it is final.
#[must_use]
pub fn closing(call: &Call) -> Option<&Answer> {
    call.answer.as_ref().filter(|answer| answer.status.closes())
}

/// Counted tokens of the pieces of these blocks. Looks from the end and stops at the last one that was asked for.
#[must_use]
pub fn tokens(at: &Situation<'_>, blocks: &BTreeSet<BlockId>) -> u64 {
    let mut left = blocks.len();
    let mut sum = 0_u64;
    let mut index = at.pieces.len();
    while left > 0 && index > 0 {
        index = index.saturating_sub(1);
        let Some(piece) = at.pieces.get(index) else {
            break;
        };
        if blocks.contains(&piece.source) {
            sum = sum.saturating_add(piece.tokens);
            left = left.saturating_sub(1);
        }
    }
    sum
}

/// Counted tokens that leave with so many bytes of each block: the piece's share of its bytes.
#[must_use]
pub fn freed(at: &Situation<'_>, saved: &BTreeMap<BlockId, u64>) -> u64 {
    let mut left = saved.len();
    let mut sum = 0_u64;
    for index in (0..at.pieces.len()).rev() {
        let Some(piece) = at.pieces.get(index).filter(|_| left > 0) else {
            break;
        };
        if let Some(saved) = saved.get(&piece.source) {
            let bytes = (piece.bytes.len() as u64).max(1);
            let share = piece.tokens.saturating_mul((*saved).min(bytes)) / bytes;
            sum = sum.saturating_add(share);
            left = left.saturating_sub(1);
        }
    }
    sum
}

/// What a person (or the host) took back of what a policy had done: it is not done again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// Blocks whose replacement was undone.
    pub blocks: BTreeSet<BlockId>,
    /// Messages whose removal was undone.
    pub messages: BTreeSet<Seq>,
}

/// What was taken back on the timeline.
#[must_use]
pub fn taken_back(state: &State) -> TakenBack {
    let mut found = TakenBack::default();
    for seq in state.timeline().line.fallen.keys() {
        let Some(logged) = state.event(*seq) else {
            continue;
        };
        match &logged.event.body {
            Body::Replace(replace) => found.blocks.extend(replace.blocks.iter().copied()),
            Body::Snip(snip) => found.messages.extend(snip.messages.iter().copied()),
            _ => {}
        }
    }
    found
}
