//! Explanations: what is shown and why, what is not and the way back; and two prompts side by side.

use super::ask::{self, Asked};
use super::changed;
use super::engine::Engine;
use super::words::{by, pair, role, tokens, why};
use crate::core::Core;
use crate::{Error, ErrorKind, api};
use recount_events::{BlockId, Body, Seq};
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
        let projection = &measured.projection;
        let wanted = |block: BlockId| ask.block.is_none_or(|only| only == pair(block));
        let seq_wanted = |seq: Seq| ask.block.is_none_or(|(only, _)| only == seq.0);
        Ok(api::Explained {
            cut: asked.cut.0,
            digest: projection.digest.to_string(),
            tokens: tokens(projection),
            shown: projection
                .pieces
                .iter()
                .filter(|piece| wanted(piece.source))
                .map(shown)
                .collect(),
            absent: absent(core, &asked)
                .filter(|absent| seq_wanted(Seq(absent.event)))
                .collect(),
        })
    }

    /// Compares two prompts of a session: cuts, profiles, wires.
    ///
    /// # Errors
    /// As [`Engine::project`].
    pub fn diff(&self, ask: &api::Diff) -> Result<api::Differed, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let mut side = |side: &api::Side| -> Result<Projection, Error> {
            dir.ask(&mut held, |live| {
                let core = &mut live.core;
                let asked = ask::resolve(
                    core,
                    &side.at,
                    side.profile.as_ref(),
                    side.wire.as_deref(),
                    false,
                )?;
                Ok(core
                    .prompt(&asked.timeline, &asked.profile, asked.wire, asked.heal)
                    .projection)
            })
        };
        let (a, b) = (side(&ask.a)?, side(&ask.b)?);
        Ok(compare(&a, &b))
    }
}

fn shown(piece: &Piece) -> api::Shown {
    api::Shown {
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
        Some(api::Absent {
            event: seq.0,
            kind: event.body.name().to_owned(),
            cause: words(core, cause),
            by: super::changed::cause(cause).map(|seq| seq.0),
            back: back(cause),
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
fn back(cause: Cause) -> Option<Box<RawValue>> {
    let json = match cause {
        Cause::Rollback(seq) => format!(r#"{{"rollback":{{"to":{{"seq":{}}}}}}}"#, seq.prev()?),
        Cause::Undo(seq) | Cause::Mask(seq) | Cause::Replaced(seq) => {
            format!(r#"{{"undo":{{"event":{seq}}}}}"#)
        }
        Cause::Later | Cause::Skipped | Cause::Superseded(_) => return None,
    };
    RawValue::from_string(json).ok()
}

/// Pieces by what they show: role and block; several pieces of one block in their order.
type Places<'a> = BTreeMap<(u8, BlockId, usize), (usize, &'a Piece)>;

fn places(projection: &Projection) -> Places<'_> {
    let mut places = Places::new();
    let mut times: BTreeMap<(u8, BlockId), usize> = BTreeMap::new();
    for (place, piece) in projection.pieces.iter().enumerate() {
        let role = piece.role as u8;
        let count = times.entry((role, piece.source)).or_default();
        places.insert((role, piece.source, *count), (place, piece));
        *count = count.saturating_add(1);
    }
    places
}

fn compare(a: &Projection, b: &Projection) -> api::Differed {
    let (in_a, in_b) = (places(a), places(b));
    let only = |these: &Places<'_>, those: &Places<'_>| {
        let mut list: Vec<_> = these
            .iter()
            .filter(|(key, _)| !those.contains_key(*key))
            .map(|(_, (place, piece))| difference(*place, piece))
            .collect();
        list.sort_by_key(|difference| difference.piece);
        list
    };
    let differs = |(key, (place, piece)): (&(u8, BlockId, usize), &(usize, &Piece))| {
        let (_, other) = in_a.get(key)?;
        (other.digest != piece.digest).then(|| difference(*place, piece))
    };
    let mut changed: Vec<_> = in_b.iter().filter_map(differs).collect();
    changed.sort_by_key(|difference| difference.piece);
    api::Differed {
        equal: a.digest == b.digest,
        a: a.digest.to_string(),
        b: b.digest.to_string(),
        added: only(&in_b, &in_a),
        removed: only(&in_a, &in_b),
        changed,
        first: first(a, b),
        tokens_a: by(a),
        tokens_b: by(b),
    }
}

fn difference(place: usize, piece: &Piece) -> api::Difference {
    api::Difference {
        piece: place as u64,
        event: Some(piece.source.seq.0),
        block: Some(pair(piece.source)),
        role: role(piece.role).to_owned(),
        tokens: piece.tokens,
    }
}

/// Where two bodies part: the byte of `b`'s pieces laid end to end, the piece, its event.
fn first(a: &Projection, b: &Projection) -> Option<api::FirstDifference> {
    let same = |(one, other): &(&Piece, &Piece)| changed::alike(one, other);
    let common = a
        .pieces
        .iter()
        .zip(b.pieces.iter())
        .take_while(same)
        .count();
    let before: u64 = b
        .pieces
        .iter()
        .take(common)
        .map(|piece| piece.bytes.len() as u64)
        .fold(0, u64::saturating_add);
    let (old, new) = (a.pieces.get(common), b.pieces.get(common));
    let source = new.or(old)?.source.seq;
    let inside = match (old, new) {
        (Some(old), Some(new)) => old
            .bytes
            .iter()
            .zip(new.bytes.iter())
            .take_while(|(one, other)| one == other)
            .count(),
        _ => 0,
    };
    Some(api::FirstDifference {
        byte: before.saturating_add(inside as u64),
        piece: common as u64,
        event: Some(source.0),
    })
}
