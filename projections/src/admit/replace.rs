//! Replacements: texts, pictures and results of the timeline, visible or not.

use super::Door;
use crate::{Misfit, Problem};
use recount_events::{BlockId, BlockKind, Body, Content, Inject, Lifetime, Message, Replace};

impl Door<'_> {
    pub(super) fn replace(&self, replace: &Replace) -> Result<(), Misfit> {
        if replace.blocks.is_empty() {
            return Err(Misfit::invalid(Problem::Empty));
        }
        let stands_in = |kind: BlockKind| {
            !matches!(
                kind,
                BlockKind::Call
                    | BlockKind::Result
                    | BlockKind::ServerCall
                    | BlockKind::ServerResult
            )
        };
        if !replace
            .with
            .blocks
            .iter()
            .all(|block| stands_in(block.kind))
        {
            return Err(Misfit::invalid(Problem::BadReplacement));
        }
        if let Some(twice) = twice(&replace.blocks) {
            return Err(Misfit::invalid(Problem::Repeated(twice.seq)));
        }
        replace
            .blocks
            .iter()
            .try_for_each(|block| self.replaceable(*block))
    }

    fn replaceable(&self, block: BlockId) -> Result<(), Misfit> {
        self.written(block.seq)?;
        let missing = Err(Misfit::rejected(Problem::NoBlock(block)));
        let active = self.timeline.line.contains(block.seq)
            && !self.timeline.line.fallen.contains_key(&block.seq);
        let Some(logged) = self
            .event(block.seq)
            .filter(|_| active && !self.is_missing(block.seq))
        else {
            return missing;
        };
        let kind = match &logged.event.body {
            Body::ToolResult(_) => (block.index == 0).then_some(BlockKind::Result),
            Body::Inject(inject) => injected(inject, block),
            Body::Message(message) => said(message, block),
            Body::Kept(_) | Body::Newer(_) => None,
            _ => return Err(Misfit::rejected(Problem::NotReplaceable(block))),
        };
        match kind {
            None => missing,
            Some(BlockKind::Text | BlockKind::Image | BlockKind::Result) => Ok(()),
            Some(_) => Err(Misfit::rejected(Problem::NotReplaceable(block))),
        }
    }

    /// A block of a message or a result, or an injection, that is on the timeline and not undone.
    pub(super) fn has_block(&self, block: BlockId) -> Result<(), Misfit> {
        self.written(block.seq)?;
        let kind = self
            .event(block.seq)
            .filter(|_| self.timeline.content.contains_key(&block.seq));
        let there = match kind.as_ref().map(|logged| &logged.event.body) {
            Some(Body::Message(message)) => said(message, block).is_some(),
            Some(Body::ToolResult(_)) => block.index == 0,
            Some(Body::Inject(inject)) => injected(inject, block).is_some(),
            _ => false,
        };
        let forgiven = self.mode == super::Mode::Logged && self.is_missing(block.seq);
        if there || forgiven {
            Ok(())
        } else {
            Err(Misfit::rejected(Problem::NoBlock(block)))
        }
    }
}

fn kind_in(content: &Content, block: BlockId) -> Option<BlockKind> {
    let index = usize::try_from(block.index).ok()?;
    content.blocks.get(index).map(|block| block.kind)
}

fn said(message: &Message, block: BlockId) -> Option<BlockKind> {
    kind_in(&message.content, block)
}

/// An injection that stands at its place is one block for whoever replaces it, whatever it holds.
fn injected(inject: &Inject, block: BlockId) -> Option<BlockKind> {
    let whole = block.index == 0
        && matches!(
            inject.lifetime,
            Lifetime::Once | Lifetime::Session | Lifetime::Tail
        );
    kind_in(&inject.content, block).or(whole.then_some(BlockKind::Text))
}

/// A block that a list names twice.
fn twice(blocks: &[BlockId]) -> Option<BlockId> {
    let mut seen = crate::Map::default();
    for block in blocks {
        if seen.contains_key(block) {
            return Some(*block);
        }
        seen.insert_mut(*block, ());
    }
    None
}
