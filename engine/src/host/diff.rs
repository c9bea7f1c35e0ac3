//! Two prompts of a session side by side: of other positions, profiles, dialects, policies.

use super::ask::{self, Asked};
use super::changed::alike;
use super::directory::Directory;
use super::engine::Engine;
use super::pipeline::{Ground, event};
use super::words::{by, pair, role};
use crate::core::{Core, Input, Keys, Measured};
use crate::{Error, ErrorKind, api, profiles};
use recount_events::{BlockId, Body, Event, Millis, Target};
use recount_policies::{Propose, assembly, cache};
use recount_projections::{Piece, Projection, State, Timeline};
use recount_wal::StreamId;
use std::collections::BTreeMap;

/// One side: a prompt, and what it was rendered from.
struct Sided {
    projection: Projection,
    timeline: Timeline,
    /// The session with what a policy would log; none where none was asked about.
    state: Option<State>,
}

impl Engine {
    /// Compares two prompts of a session: cuts, profiles, wires, policies.
    ///
    /// # Errors
    /// As [`Engine::project`].
    pub fn diff(&self, ask: &api::Diff) -> Result<api::Differed, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let stream = slot.stream;
        let mut side = |side: &api::Side| -> Result<Sided, Error> {
            if side.policy.is_some() {
                // What a policy would do is worked out on a copy, which needs all of the session.
                return under(dir, stream, &dir.whole(&mut held)?.core, side);
            }
            dir.ask(&mut held, |live| {
                let (asked, measured) = look(&mut live.core, &side.at, side)?;
                Ok(Sided {
                    projection: measured.projection,
                    timeline: asked.timeline,
                    state: None,
                })
            })
        };
        let (a, b) = (side(&ask.a)?, side(&ask.b)?);
        // Causes are looked for among all events.
        let own = &dir.whole(&mut held)?.core.state;
        let state = b.state.as_ref().or(a.state.as_ref()).unwrap_or(own);
        Ok(compare(state, &a, &b))
    }
}

fn look(core: &mut Core, at: &api::At, side: &api::Side) -> Result<(Asked, Measured), Error> {
    let asked = ask::resolve(
        core,
        at,
        side.profile.as_ref(),
        side.wire.as_deref(),
        side.policy.is_some(),
    )?;
    let measured = core.prompt(&asked.timeline, &asked.profile, asked.wire, asked.heal);
    Ok((asked, measured))
}

/// The prompt as the tiers of a policy would make it at a position, on a copy of the session.
fn under(dir: &Directory, stream: StreamId, core: &Core, side: &api::Side) -> Result<Sided, Error> {
    let mut copy = Core::thawed(
        core.state.clone(),
        Keys::default(),
        core.session_injects.clone(),
        core.counting.inherited.clone(),
    );
    let cut = ask::cut(&copy, &side.at)?;
    if copy.head() != Some(cut) {
        take(dir, &mut copy, Input::Rollback(Target::Seq(cut)))?;
    }
    if let Some(spec) = &side.policy {
        let policy = profiles::resolve_policy(spec)?;
        let now = copy.state.timeline().line.latest;
        take(dir, &mut copy, own(Body::Policy(policy), now))?;
    }
    // The time of the newest event, so that the answer is always the same.
    let now = copy.state.timeline().line.latest;
    let tiers = copy.ways().tiers.iter().map(|(_, propose)| *propose);
    for propose in tiers.chain([assembly::propose as Propose]) {
        let (asked, measured) = look(&mut copy, &api::At::Head, side)?;
        let ground = Ground::of(&copy, stream, &asked, &measured, now);
        let proposal = propose(&ground.situation(&copy, &asked, &measured));
        let events = proposal.events.iter().map(|one| event(one, now));
        match take(dir, &mut copy, Input::Own(events.collect())) {
            // As in a `prepare`: what does not fit is left out, and the next tier goes on.
            Err(error) if error.kind() == ErrorKind::Rejected => {
                tracing::error!(%error, "a tier proposed what does not fit");
            }
            taken => taken?,
        }
    }
    let (asked, measured) = look(&mut copy, &api::At::Head, side)?;
    Ok(Sided {
        projection: measured.projection,
        timeline: asked.timeline,
        state: Some(copy.state),
    })
}

fn own(body: Body, at: Millis) -> Input {
    Input::Own(vec![Event {
        at,
        body,
        because: None,
        extra: None,
    }])
}

fn take(dir: &Directory, copy: &mut Core, input: Input) -> Result<(), Error> {
    let now = copy.state.timeline().line.latest;
    let decision = copy.handle(now, input, &mut dir.salts())?;
    copy.accept(decision);
    Ok(())
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

fn compare(state: &State, one: &Sided, other: &Sided) -> api::Differed {
    let (a, b) = (&one.projection, &other.projection);
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
        first: first(state, one, other),
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

/// Where two bodies part.
fn first(state: &State, one: &Sided, other: &Sided) -> Option<api::FirstDifference> {
    let (a, b) = (&one.projection.pieces, &other.projection.pieces);
    let same = |(one, other): &(&Piece, &Piece)| alike(one, other);
    let common = a.iter().zip(b.iter()).take_while(same).count();
    let (old, new) = (a.get(common), b.get(common));
    new.or(old)?;
    let event = cache::behind(state, (old, &one.timeline), (new, &other.timeline));
    Some(api::FirstDifference {
        byte: cache::first_byte(old, new),
        piece: common as u64,
        event: event.map(|seq| seq.0),
    })
}
