//! Decisions one after another, each tried on a copy of the session before it is proposed.

use super::view::raw_result;
use super::{CAUSE, View, range};
use crate::compact::atoms::atoms;
use crate::compact::trial::Trial;
use crate::{Proposal, Proposed, Situation};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use recount_cline::{Block as Exact, Keep, Range as Messages, Text as Words};
use recount_events::{
    Block, BlockId, Body, Content, Covered, DeleteRange, Format, Range, Replace, Seq, Shape, Text,
    raw,
};

/// Decisions so far.
pub(super) struct Steps<'a> {
    at: &'a Situation<'a>,
    trial: Trial<'a>,
    events: Vec<Proposed>,
    did: Vec<String>,
}

impl<'a> Steps<'a> {
    pub(super) fn new(at: &'a Situation<'a>) -> Self {
        Self {
            at,
            trial: Trial::new(at),
            events: Vec::new(),
            did: Vec::new(),
        }
    }

    /// Takes an event in; answers its position, or nothing where the session does not admit it.
    fn take(&mut self, body: Body, because: Option<Seq>) -> Option<Seq> {
        let proposed = Proposed { body, because };
        let seq = self.trial.take(&proposed).ok()?;
        self.events.push(proposed);
        Some(seq)
    }

    /// Shows a text in the place of blocks.
    pub(super) fn replace(
        &mut self,
        edits: &[(BlockId, Words)],
        cause: &str,
        because: Option<Seq>,
    ) -> usize {
        let before = self.events.len();
        for (block, words) in edits {
            if let Some(with) = with(self.at, *block, words) {
                self.take(replacement(*block, with, cause), because);
            }
        }
        self.events.len().saturating_sub(before)
    }

    /// Leaves out what the next range of messages adds; answers the first event that does.
    pub(super) fn leave_out(&mut self, view: &View, keep: Keep) -> Option<Seq> {
        let range = Messages::next(&view.messages, None, keep);
        let atoms = atoms(self.at);
        let mut cause = None;
        let mut hidden = 0_u64;
        for row in range::rows(self.at, &atoms, view, range) {
            let Some((first, last)) = row.ends(&atoms) else {
                continue;
            };
            let delete = DeleteRange {
                range: Range::Closed { first, last },
                cause: Some(Text::plain(&format!("{CAUSE}{}", words(keep)))),
                covered: Covered::default(),
            };
            let taken = self.take(Body::DeleteRange(delete), cause);
            if taken.is_some() {
                let atoms = row.of(&atoms).iter();
                hidden = atoms.fold(hidden, |sum, atom| sum.saturating_add(atom.messages));
            }
            cause = cause.or(taken);
        }
        if cause.is_some() {
            self.say(format!("{hidden} messages left out: {}", words(keep)));
        }
        cause
    }

    pub(super) fn say(&mut self, did: String) {
        self.did.push(did);
    }

    pub(super) fn finish(self) -> Proposal {
        if self.events.is_empty() {
            return Proposal::default();
        }
        Proposal {
            did: self.did.join("; "),
            freed: self.trial.saved(),
            events: self.events,
            spills: Vec::new(),
        }
    }
}

/// What is kept, in words.
const fn words(keep: Keep) -> &'static str {
    match keep {
        Keep::None => "nothing but the first pair is kept",
        Keep::LastTwo => "the last two are kept",
        Keep::Half => "half is kept",
        Keep::Quarter => "a quarter is kept",
    }
}

/// An event that shows something in the place of a block.
pub(super) fn replacement(block: BlockId, with: Content, cause: &str) -> Body {
    Body::Replace(Replace {
        blocks: alloc::vec![block],
        with,
        cause: Some(Text::plain(&format!("{CAUSE}{cause}"))),
    })
}

/// What stands for a block that says something else: the block with another text, whatever else it holds. None: it has no place for one.
pub(super) fn with(at: &Situation<'_>, block: BlockId, words: &Words) -> Option<Content> {
    let logged = at.state.event(block.seq)?;
    match &logged.event.body {
        Body::ToolResult(result) => of_result(&result.content, words),
        Body::Message(_) => match raw_result(&logged, block) {
            Some(content) => of_raw(content, words),
            None => of_block(&logged.message()?.content, block, words),
        },
        _ => None,
    }
}

fn of_block(content: &Content, block: BlockId, words: &Words) -> Option<Content> {
    let own = content.blocks.get(usize::try_from(block.index).ok()?)?;
    own.words()?;
    let json = own
        .json()
        .filter(|json| content.format == Format::Anthropic && json.starts_with('{'));
    Some(match json {
        Some(json) => listed([Exact::from_json(json).with_text(words).as_json()]),
        None => Content::string(&words.to_token()),
    })
}

fn of_result(content: &Content, words: &Words) -> Option<Content> {
    let (first, rest) = content.blocks.split_first()?;
    first.words()?;
    if content.shape != Shape::Blocks || content.format != Format::Anthropic {
        return rest.is_empty().then(|| Content::string(&words.to_token()));
    }
    let changed = Exact::from_json(first.json()?).with_text(words);
    let rest: Option<Vec<&str>> = rest.iter().map(Block::json).collect();
    Some(listed([changed.as_json()].into_iter().chain(rest?)))
}

fn of_raw(content: &str, words: &Words) -> Option<Content> {
    let Some(mut elements) = raw::elements(content) else {
        return Some(Content::string(&words.to_token()));
    };
    let changed = Exact::from_json(elements.next()?);
    let changed = changed.is_text().then(|| changed.with_text(words))?;
    Some(listed([changed.as_json()].into_iter().chain(elements)))
}

fn listed<'b>(blocks: impl IntoIterator<Item = &'b str>) -> Content {
    Content {
        format: Format::Anthropic,
        shape: Shape::Blocks,
        blocks: blocks
            .into_iter()
            .map(|json| Block::from_raw(Format::Anthropic, json))
            .collect(),
    }
}
