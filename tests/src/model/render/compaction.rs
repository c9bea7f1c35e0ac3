//! A provider's own compaction.

use super::{Making, Piece, Shown};
use crate::model::Place;
use crate::model::Wire;
use crate::model::blocks::{Block, What, blocks};
use crate::model::tame::wild;

/// The piece is one.
pub(super) fn is(piece: &Piece) -> bool {
    piece.value["type"] == "compaction"
}

/// The block is one, whether it counts or not.
pub(super) fn is_block(block: &Block) -> bool {
    !block.chat && block.what == What::Other && block.value["type"] == "compaction"
}

/// The last one that counts: the entry's place among what is shown, and the block's.
pub(super) fn last(making: &Making<'_, '_>, shown: &[Shown]) -> Option<(usize, Place)> {
    let units = shown.iter().enumerate().rev();
    let mut found = units.filter_map(|(index, entry)| match entry {
        Shown::Unit { parts, .. } if making.wire == Wire::Anthropic => {
            Some((index, of(making, parts)?))
        }
        _ => None,
    });
    found.next()
}

fn of(making: &Making<'_, '_>, parts: &[usize]) -> Option<Place> {
    let events = parts.iter().filter_map(|seq| making.fold.get(*seq));
    let all = events.flat_map(|entry| {
        let own =
            entry.event["issuer"].is_null() || entry.event["issuer"] == making.profile["provider"];
        let list = blocks(&entry.event).into_iter().enumerate();
        list.map(move |(index, block)| ((entry.seq, index), own, block))
            .collect::<Vec<_>>()
    });
    let calls = |block: &Block| {
        matches!(
            block.what,
            What::Call | What::ServerCall | What::ServerResult
        )
    };
    all.take_while(|(_, _, block)| !calls(block))
        .filter(|(_, own, block)| *own && is_block(block) && sound(block))
        .map(|(place, _, _)| place)
        .last()
}

fn sound(block: &Block) -> bool {
    let says = |key: &str| {
        block.value[key]
            .as_str()
            .is_some_and(|words| !super::words::blank(words))
    };
    (says("content") || says("encrypted_content")) && !wild(&block.value)
}
