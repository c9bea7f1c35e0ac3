//! Token counts of blocks: the log's where it has them, else counted now and remembered until the next `prepare` logs them.

use super::tokenizer;
use crate::lock::lock;
use crate::profiles::{Pictures, formula};
use recount_events::raw::members;
use recount_events::{Block, BlockId, BlockKind, Body, Content, Event, Format, ImageFacts};
use recount_projections::{Counts, Map, State};
use std::collections::BTreeMap;
use std::sync::Mutex;

/// Counts that the log does not hold yet.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    fresh: Mutex<BTreeMap<BlockId, u64>>,
    /// Counts that the sessions which a fork continues have in their logs.
    pub(crate) inherited: Vec<Map<BlockId, u64>>,
}

impl Counting {
    /// The same counts, to be added to without effect.
    pub(crate) fn apart(&self) -> Self {
        let fresh = lock(&self.fresh);
        Self {
            fresh: Mutex::new(fresh.clone()),
            inherited: self.inherited.clone(),
        }
    }

    /// What is to be logged now, in order; capped so that one event holds it.
    pub(crate) fn fresh(&self) -> Vec<(BlockId, u64)> {
        let fresh = lock(&self.fresh);
        fresh
            .iter()
            .map(|(block, tokens)| (*block, *tokens))
            .take(MOST)
            .collect()
    }

    /// It was logged.
    pub(crate) fn logged(&self, counts: &[(BlockId, u64)]) {
        let mut fresh = lock(&self.fresh);
        for (block, _) in counts {
            fresh.remove(block);
        }
    }
}

/// The most counts in one event: about 1 MB of body.
const MOST: usize = 50_000;

/// Counts as the render asks for them.
#[derive(Debug)]
pub(crate) struct Counter<'a> {
    pub(crate) state: &'a State,
    pub(crate) counting: &'a Counting,
}

impl Counts for Counter<'_> {
    fn count(&self, block: BlockId, bytes: &[u8]) -> u64 {
        let own = &self.state.ledger().counts;
        if let Some(known) = self
            .counting
            .inherited
            .iter()
            .chain([own])
            .rev()
            .find_map(|counts| counts.get(&block))
        {
            return *known;
        }
        let mut fresh = lock(&self.counting.fresh);
        *fresh.entry(block).or_insert_with(|| self.now(block, bytes))
    }
}

impl Counter<'_> {
    fn now(&self, block: BlockId, bytes: &[u8]) -> u64 {
        if let Some(thought) = thought(bytes) {
            return thought;
        }
        let pictures = self.pictures(block);
        if pictures.is_empty() && bytes.len() < DATA {
            return words(bytes);
        }
        let formula = self.formula();
        let seen = pictures
            .iter()
            .map(|facts| formula.tokens(facts.width, facts.height))
            .fold(0, u64::saturating_add);
        let (text, data) = without_data(&String::from_utf8_lossy(bytes));
        let own = pictures
            .iter()
            .map(|facts| facts.bytes)
            .fold(0, u64::saturating_add);
        // A document in base64 costs about as many tokens as its text would: a twelfth of its characters.
        let documents = (data as u64).saturating_sub(own) / 12;
        seen.saturating_add(documents)
            .saturating_add(tokenizer::tokens(&text))
    }

    /// What pictures cost for the model in force when they are counted. A later model's answers correct it as they do for words.
    fn formula(&self) -> Pictures {
        let logged = self.state.timeline().header.profile.as_deref();
        let profile = logged.and_then(super::profile_of);
        let model = profile.and_then(|profile| profile.model.as_str());
        formula(model.unwrap_or_default())
    }

    /// Pictures in what is counted under a block. A result is one piece, and is counted under its first block with all that it holds.
    fn pictures(&self, id: BlockId) -> Vec<ImageFacts> {
        let Some(logged) = self.state.event(id.seq) else {
            return Vec::new();
        };
        if !self.is_result(&logged.event) {
            let found = block_of(&logged.event, id);
            return found.map_or_else(Vec::new, |(format, block)| drawn(format, block));
        }
        let content = content_of(&logged.event);
        let each = content.map(|content| {
            let blocks = content.blocks.iter();
            blocks.flat_map(|block| drawn(content.format, block))
        });
        each.into_iter().flatten().collect()
    }

    /// The event's content is shown as one piece: a result of its own, or what stands in the place of a result.
    fn is_result(&self, event: &Event) -> bool {
        match &event.body {
            Body::ToolResult(_) => true,
            Body::Replace(replace) => {
                let mut targets = replace.blocks.iter();
                targets.any(|id| {
                    let target = self.state.event(id.seq);
                    target.is_some_and(|target| {
                        matches!(target.event.body, Body::ToolResult(_))
                            || block_of(&target.event, *id)
                                .is_some_and(|(_, block)| block.kind == BlockKind::Result)
                    })
                })
            }
            _ => false,
        }
    }
}

/// The pictures of a block that is shown as a picture or as a result.
fn drawn(format: Format, block: &Block) -> Vec<ImageFacts> {
    match block.kind {
        BlockKind::Image | BlockKind::Result => block.images(format),
        _ => Vec::new(),
    }
}

/// A block of an event's content.
pub(crate) fn block_of(event: &Event, id: BlockId) -> Option<(Format, &Block)> {
    let content = content_of(event)?;
    content
        .blocks
        .get(id.index as usize)
        .map(|block| (content.format, block))
}

fn content_of(event: &Event) -> Option<&Content> {
    match &event.body {
        Body::Message(message) => Some(&message.content),
        Body::ToolResult(result) => Some(&result.content),
        Body::Inject(inject) => Some(&inject.content),
        Body::Replace(replace) => Some(&replace.with),
        Body::System(system) => Some(&system.content),
        _ => None,
    }
}

/// Tokens of a piece that is thinking: its words. What is encrypted costs what it stands for, and beside the words nothing. (In 839
/// recorded responses of Claude models with signed thinking, characters of words weigh 0.22 tokens each, those of signatures none.)
fn thought(bytes: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(bytes).ok()?;
    let member = |name: &str| {
        let mut all = members(text)?;
        let found = all.find(|member| member.key() == name)?;
        recount_events::raw::words(found.value)
    };
    let (said, sealed) = match member("type")?.as_ref() {
        "thinking" => (member("thinking"), member("signature")),
        "redacted_thinking" => (None, member("data")),
        _ => return None,
    };
    match said.filter(|said| !said.is_empty()) {
        Some(said) => Some(tokenizer::tokens(&said).saturating_add(FRAME)),
        // Four characters of base64 are three bytes, and four of those about a token.
        None => sealed.map(|sealed| (sealed.len() as u64).saturating_mul(3) / 16),
    }
}

/// Tokens around the words of a block of thinking.
const FRAME: u64 = 8;

fn words(bytes: &[u8]) -> u64 {
    tokenizer::tokens(&String::from_utf8_lossy(bytes))
}

/// A run of base64 from this length on is data, not text.
const DATA: usize = 1_000;

/// The text without runs of data, and how many characters of data there were.
fn without_data(text: &str) -> (String, usize) {
    let mut kept = String::with_capacity(text.len().min(1 << 20));
    let mut data = 0_usize;
    for run in text.split_inclusive(|word: char| !is_data(word)) {
        if run.len() > DATA {
            data = data.saturating_add(run.len());
            kept.extend(run.chars().next_back());
        } else {
            kept.push_str(run);
        }
    }
    (kept, data)
}

fn is_data(word: char) -> bool {
    word.is_ascii_alphanumeric() || matches!(word, '+' | '/' | '=')
}

#[cfg(test)]
mod tests {
    use super::without_data;

    #[test]
    fn data_is_not_counted_as_text() {
        let text = format!("{{\"data\":\"{}\"}}", "A".repeat(5_000));
        let (kept, data) = without_data(&text);
        assert!(data >= 5_000);
        assert!(kept.len() < 30, "{kept}");
    }
}
