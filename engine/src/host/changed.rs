//! What an earlier prompt showed that is no longer there: the first such piece, and the event behind it.

use super::ask::Asked;
use crate::core::{Core, issued_in, issued_of, profile_of};
use crate::{Error, api};
use recount_events::{Digest, Issued, Profile, Seq, Text};
use recount_projections::render::Why;
use recount_projections::{Cause, List, Piece, Projection, Timeline};

/// What is common with an earlier prompt.
#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    /// How many pieces at the beginning.
    pub(super) common: usize,
    /// The first piece of the earlier prompt that changed; none when everything only grew.
    pub(super) changed: Option<api::Changed>,
}

/// Compares with the prompt that the caller names, else with the newest issued one.
pub(super) fn since(
    core: &mut Core,
    asked: &Asked,
    now: &Projection,
    named: Option<&str>,
) -> Result<Change, Error> {
    let earlier = match named {
        Some(text) => super::ask::digest(text).map_err(|error| error.with_field("since"))?,
        None => match newest(core) {
            Some(digest) => digest,
            None => return Ok(Change::default()),
        },
    };
    if let Some((digest, pieces)) = &core.last_issued
        && *digest == earlier
    {
        return Ok(compare(core, &asked.timeline, pieces, &now.pieces));
    }
    let is_earlier = |place: &usize| root(&now.pieces, *place) == Some(earlier);
    if let Some(place) = (0..now.pieces.len()).rev().find(is_earlier) {
        return Ok(Change {
            common: place.saturating_add(1),
            changed: None,
        });
    }
    let Some(issue) = issued_of(&core.state, earlier) else {
        return Ok(Change::default());
    };
    let Some(before) = issued_in(&issue).and_then(|issued| again(core, issued)) else {
        return Ok(Change::default());
    };
    let change = compare(core, &asked.timeline, &before.pieces, &now.pieces);
    core.last_issued = Some((earlier, before.pieces));
    Ok(change)
}

fn newest(core: &Core) -> Option<Digest> {
    let (_, digest) = core.state.ledger().issues.iter().next_back()?;
    Some(*digest)
}

/// Renders a prompt that was issued once more.
pub(super) fn again(core: &Core, issued: &Issued) -> Option<Projection> {
    let timeline = core.timeline_at(issued.cut).ok()?;
    let logged = core.state.event(issued.profile?)?;
    let profile = issued_profile(profile_of(&logged)?, issued);
    Some(core.render(&timeline, &profile, issued.wire, issued.healed))
}

/// The profile as it was sent: with the parameters of that request.
pub(super) fn issued_profile(profile: &Profile, issued: &Issued) -> Profile {
    let params: Option<Text> = issued.params.clone().or_else(|| profile.params.clone());
    Profile {
        params,
        ..profile.clone()
    }
}

/// The first piece of the earlier prompt that is not there any more, and the event behind that.
pub(super) fn compare(
    core: &Core,
    timeline: &Timeline,
    before: &List<Piece>,
    now: &List<Piece>,
) -> Change {
    let common = common(before, now);
    let place = (common..before.len()).find(|place| {
        !before
            .get(*place)
            .zip(now.get(*place))
            .is_some_and(|(old, new)| alike(old, new))
    });
    let place = place.unwrap_or(before.len());
    let changed = before.get(place).map(|old| {
        let replaced = now
            .get(place)
            .and_then(|new| match (new.source == old.source, new.why) {
                (true, Why::Replaced(event)) => Some(event),
                _ => None,
            });
        let hidden = || {
            core.state
                .hidden_by(timeline, old.source.seq)
                .and_then(cause)
        };
        let event = replaced
            .or_else(hidden)
            .or_else(|| now.get(place).map(|new| new.source.seq));
        api::Changed {
            piece: place as u64,
            event: Some(event.unwrap_or(old.source.seq).0),
        }
    });
    Change { common, changed }
}

/// The same bytes for the same role: what was said again (equal tools, say) has salts of its own and so another digest, but the
/// provider sees no change.
pub(super) fn alike(one: &Piece, other: &Piece) -> bool {
    one.digest == other.digest || (one.role == other.role && one.bytes == other.bytes)
}

fn root(pieces: &List<Piece>, place: usize) -> Option<Digest> {
    pieces.get(place).map(|piece| piece.root)
}

/// How many pieces two prompts have in common at the beginning: roots are equal exactly as far.
fn common(one: &List<Piece>, other: &List<Piece>) -> usize {
    let (mut low, mut high) = (0, one.len().min(other.len()));
    while low < high {
        let middle = low.midpoint(high);
        if root(one, middle) == root(other, middle) {
            low = middle.saturating_add(1);
        } else {
            high = middle;
        }
    }
    low
}

/// The event behind a cause.
pub(super) fn cause(cause: Cause) -> Option<Seq> {
    match cause {
        Cause::Later | Cause::Skipped => None,
        Cause::Rollback(seq)
        | Cause::Undo(seq)
        | Cause::Mask(seq)
        | Cause::Superseded(seq)
        | Cause::Replaced(seq) => Some(seq),
    }
}
