//! What prompts are made of, in the words of the protocol.

use crate::api;
use recount_events::BlockId;
use recount_projections::render::{Excess, PieceRole, Why};
use recount_projections::{Outcome, Piece, Projection};

pub(super) fn outcome(outcome: &Outcome) -> api::Outcome {
    match outcome {
        Outcome::Ready => api::Outcome::Ready,
        Outcome::WaitingResults { .. } | Outcome::WaitingPerson => api::Outcome::Waiting,
        Outcome::Impossible { .. } => api::Outcome::Impossible,
    }
}

pub(super) fn waiting(outcome: &Outcome) -> Option<api::Waiting> {
    let (whom, calls) = match outcome {
        Outcome::WaitingPerson => ("person", Vec::new()),
        Outcome::WaitingResults { calls } => (
            "results",
            calls.iter().map(|call| (call.seq.0, call.index)).collect(),
        ),
        _ => return None,
    };
    Some(api::Waiting {
        whom: whom.to_owned(),
        calls,
        compaction: None,
    })
}

pub(super) fn impossible(outcome: &Outcome, projection: &Projection) -> Option<api::Impossible> {
    let Outcome::Impossible {
        excess,
        need,
        limit,
        largest,
    } = outcome
    else {
        return None;
    };
    let unit = match excess {
        Excess::Tokens => "tokens",
        Excess::Bytes => "bytes",
    };
    let large = |(block, tokens): &(BlockId, u64)| {
        let found = projection
            .pieces
            .iter()
            .find(|piece| piece.source == *block);
        api::Large {
            event: Some(block.seq.0),
            tokens: *tokens,
            bytes: found.map_or(0, |piece| piece.bytes.len() as u64),
        }
    };
    Some(api::Impossible {
        floor: *need,
        limit: *limit,
        unit: unit.to_owned(),
        largest: largest.iter().map(large).collect(),
        next: "replace, snip or compact the largest events, or project for a profile with a larger window".to_owned(),
    })
}

/// Tokens by category.
pub(super) fn tokens(projection: &Projection) -> api::Tokens {
    api::Tokens {
        total: projection.tokens,
        by: by(projection),
    }
}

pub(super) fn by(projection: &Projection) -> api::TokensBy {
    let by = &projection.by;
    api::TokensBy {
        tools: by.tools,
        system: by.system,
        messages: by.messages,
        results: by.results,
        summaries: by.summaries,
        injections: by.injections,
    }
}

pub(super) fn repairs(projection: &Projection) -> Vec<api::Repair> {
    let mended = projection.repairs.iter().map(|repair| api::Repair {
        kind: repair.kind.name().to_owned(),
        event: Some(repair.event.0),
        block: repair.block.map(pair),
    });
    let left_out = projection.left_out.iter().map(|left| api::Repair {
        kind: format!("left out: {}", left.reason.name()),
        event: Some(left.block.seq.0),
        block: Some(pair(left.block)),
    });
    mended.chain(left_out).collect()
}

pub(super) fn pair(block: BlockId) -> (u64, u32) {
    (block.seq.0, block.index)
}

pub(super) fn piece(piece: &Piece) -> api::Piece {
    api::Piece {
        role: role(piece.role).to_owned(),
        event: Some(piece.source.seq.0),
        block: Some(pair(piece.source)),
        why: why(piece.why),
        tokens: piece.tokens,
        bytes: piece.bytes.len() as u64,
        digest: piece.digest.to_string(),
    }
}

pub(super) fn role(role: PieceRole) -> &'static str {
    match role {
        PieceRole::Tool => "tool",
        PieceRole::Header | PieceRole::System => "system",
        PieceRole::User => "user",
        PieceRole::Assistant => "assistant",
        PieceRole::Result => "result",
    }
}

pub(super) fn why(why: Why) -> String {
    match why {
        Why::AsWritten => "as written".to_owned(),
        Why::Replaced(event) => format!("replaced by {event}"),
        Why::Summary(event) => format!("summary of {event}"),
        Why::Placeholder(kind) => format!("placeholder: {}", kind.name()),
        Why::Repaired(kind) => format!("repaired: {}", kind.name()),
    }
}
