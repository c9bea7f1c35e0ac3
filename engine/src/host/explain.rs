//! Explanations: what is shown and why, what is not and the way back.

use super::ask::{self, Asked};
use super::engine::Engine;
use super::words::{pair, role, tokens, why};
use crate::core::{Core, Measured};
use crate::{Error, ErrorKind, api};
use recount_events::{BlockId, Body, Seq};
use recount_projections::render::{RepairKind, Ttl, Why};
use recount_projections::{Cause, Piece, Projection};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

impl Engine {
    /// What is shown, why, at what cost; what is not, what hid it, and the way back.
    ///
    /// # Errors
    /// As [`Engine::project`].
    pub fn explain(&self, ask: &api::Explain) -> Result<api::Explained, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        // Every event is looked at.
        let core = &mut dir.whole(&mut held)?.core;
        let asked = ask::resolve(core, &ask.at, None, None, false)?;
        if let Some((seq, _)) = ask.block
            && core.event(Seq(seq)).is_none()
        {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no such event; seq={seq}"),
            )
            .with_field("block"));
        }
        let measured = core.prompt(&asked.timeline, &asked.profile, asked.wire, asked.heal);
        let Measured { projection, meter } = &measured;
        let wanted = |block: BlockId| ask.block.is_none_or(|only| only == pair(block));
        let missing = |absent: &api::Absent| match (ask.block, absent.block) {
            (None, _) => true,
            (Some(only), Some(block)) => only == block,
            (Some((seq, _)), None) => seq == absent.event,
        };
        let marks = marks(projection);
        let pieces = projection
            .pieces
            .iter()
            .map(|piece| piece.bytes.len() as u64);
        let pieces = pieces.fold(0, u64::saturating_add);
        Ok(api::Explained {
            cut: asked.cut.0,
            digest: projection.digest.to_string(),
            tokens: tokens(projection),
            overhead_tokens: asked.profile.overhead_tokens,
            metered: meter.total,
            measured: meter.measured,
            factor_milli: meter.factor_milli,
            bytes: projection.bytes,
            frame_bytes: projection.bytes.saturating_sub(pieces),
            shown: projection
                .pieces
                .iter()
                .enumerate()
                .filter(|(_, piece)| wanted(piece.source))
                .map(|(place, piece)| shown(piece, marks.get(&place)))
                .collect(),
            absent: absent(core, &asked)
                .chain(blocks(core, &asked, projection))
                .filter(missing)
                .collect(),
        })
    }
}

/// Behind which pieces cache breakpoints stand.
fn marks(projection: &Projection) -> BTreeMap<usize, Ttl> {
    projection.marks().controls.iter().copied().collect()
}

fn shown(piece: &Piece, mark: Option<&Ttl>) -> api::Shown {
    api::Shown {
        mark: mark.map(|ttl| {
            match ttl {
                Ttl::FiveMinutes => "5m",
                Ttl::Hour => "1h",
            }
            .to_owned()
        }),
        event: Some(piece.source.seq.0),
        block: Some(pair(piece.source)),
        role: role(piece.role).to_owned(),
        why: why(piece.why),
        tokens: piece.tokens,
        bytes: piece.bytes.len() as u64,
    }
}

/// Events with content that a timeline does not show.
fn absent<'a>(core: &'a Core, asked: &'a Asked) -> impl Iterator<Item = api::Absent> + 'a {
    (0..=asked.cut.0).map(Seq).filter_map(move |seq| {
        let logged = core.event(seq)?;
        let event = &logged.event;
        if !has_content(&event.body) {
            return None;
        }
        let cause = core.state.hidden_by(&asked.timeline, seq)?;
        if matches!(cause, Cause::Replaced(_)) {
            // Told block by block.
            return None;
        }
        Some(api::Absent {
            event: seq.0,
            block: None,
            kind: event.body.name().to_owned(),
            cause: words(core, cause),
            by: super::changed::cause(cause).map(|seq| seq.0),
            back: back(core, cause),
        })
    })
}

fn has_content(body: &Body) -> bool {
    matches!(
        body,
        Body::Message(_)
            | Body::ToolResult(_)
            | Body::Inject(_)
            | Body::System(_)
            | Body::Tools(_)
            | Body::CompactCommit(_)
            | Body::CollapseCommit(_)
    )
}

fn words(core: &Core, cause: Cause) -> String {
    let name = |seq: Seq| {
        core.event(seq)
            .map_or("event", |logged| logged.event.body.name())
    };
    match cause {
        Cause::Later => "it comes later".to_owned(),
        Cause::Skipped => "it could not be read, or did not fit".to_owned(),
        Cause::Rollback(seq) => format!("rolled back by {seq}"),
        Cause::Undo(seq) => format!("undone by {seq}"),
        Cause::Mask(seq) => format!("hidden by {} {seq}", name(seq)),
        Cause::Superseded(seq) => format!("superseded by {} {seq}", name(seq)),
        Cause::Replaced(seq) => format!("replaced by {seq}"),
    }
}

/// The request that brings it back.
fn back(core: &Core, cause: Cause) -> Option<Box<RawValue>> {
    match cause {
        Cause::Rollback(seq) => rollback_before(seq),
        Cause::Undo(seq) | Cause::Mask(seq) | Cause::Replaced(seq) => undo(seq),
        // The last word of a call cannot be taken back; the time before it can.
        Cause::Superseded(seq) => {
            let body = &core.event(seq)?.event.body;
            if matches!(body, Body::Message(_) | Body::ToolResult(_)) {
                rollback_before(seq)
            } else {
                undo(seq)
            }
        }
        Cause::Later | Cause::Skipped => None,
    }
}

fn undo(seq: Seq) -> Option<Box<RawValue>> {
    RawValue::from_string(format!(r#"{{"undo":{{"event":{seq}}}}}"#)).ok()
}

fn rollback_before(seq: Seq) -> Option<Box<RawValue>> {
    let to = seq.prev()?;
    RawValue::from_string(format!(r#"{{"rollback":{{"to":{{"seq":{to}}}}}}}"#)).ok()
}

/// Blocks of shown events that are not shown themselves, or not in their own words.
fn blocks<'a>(
    core: &'a Core,
    asked: &'a Asked,
    projection: &'a Projection,
) -> impl Iterator<Item = api::Absent> + 'a {
    let kind = move |seq: Seq| {
        core.event(seq)
            .map_or("event", |logged| logged.event.body.name())
            .to_owned()
    };
    let line = move |block: BlockId, cause: String, by: Option<Seq>| api::Absent {
        event: block.seq.0,
        block: Some(pair(block)),
        kind: kind(block.seq),
        cause,
        by: by.map(|seq| seq.0),
        back: by.and_then(undo),
    };
    let visible = |block: &BlockId| {
        let cause = core.state.hidden_by(&asked.timeline, block.seq);
        matches!(cause, None | Some(Cause::Replaced(_)))
    };
    let replaced = asked
        .timeline
        .replaced
        .iter()
        .filter(move |(block, _)| visible(block))
        .map(move |(block, logged)| {
            let cause = format!("replaced by {}", logged.seq);
            line(*block, cause, Some(logged.seq))
        });
    let left_out = projection.left_out.iter().map(move |left| {
        let cause = format!("left out: {}", left.reason.name());
        line(left.block, cause, None)
    });
    // What stands for the content of a block; that of an open call stands for nothing.
    let stood_for = projection
        .pieces
        .iter()
        .filter_map(move |piece| match piece.why {
            Why::Placeholder(RepairKind::OpenCall | RepairKind::StartsWithAssistant) => None,
            Why::Placeholder(kind) | Why::Repaired(kind @ RepairKind::Image) => {
                let cause = format!("a placeholder stands for it: {}", kind.name());
                Some(line(piece.source, cause, None))
            }
            _ => None,
        });
    let blank = projection.repairs.iter().filter_map(move |repair| {
        let block = repair.block.filter(|_| repair.kind == RepairKind::Blank)?;
        Some(line(block, "a text without words".to_owned(), None))
    });
    replaced.chain(left_out).chain(stood_for).chain(blank)
}
