//! Cache breakpoints: behind which pieces the provider is asked to keep the prefix.
//!
//! - The first stands behind the summary of the newest compaction, for an hour: it changes with the next compaction only. Without one it
//!   stands behind tools and system prompt. Behind those stands one in any case where one is to spare: they outlive compactions.
//! - The last stands behind the newest piece that will still be there in the next request, for five minutes.
//! - A provider finds an earlier entry only a few positions before a breakpoint; where the newest response with its results is longer
//!   than that, there are others in between.
//! - They are a function of the prompt and the policy's numbers; nothing is remembered.

use crate::Constants;
use crate::cache::{LOOK_BACK, MOST_MARKS, Rules};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use recount_events::{BlockId, Keeps, Profile, Seq, Status, Stop, Wire};
use recount_projections::render::{PieceRole, RepairKind, Ttl, Why, may_carry};
use recount_projections::{List, Piece, Shown, SummaryKind, Timeline};

/// Positions from one breakpoint to the next where a response is longer than the look-back.
const STRIDE: usize = 15;

/// Behind which pieces the breakpoints stand, ascending, those of an hour first; at most four. None on wires that have none, and none
/// where the policy sets none.
#[must_use]
pub fn breakpoints(
    pieces: &List<Piece>,
    timeline: &Timeline,
    constants: &Constants,
    profile: &Profile,
) -> Vec<(usize, Ttl)> {
    if !constants.assembly.breakpoints || profile.wire != Wire::Anthropic {
        return Vec::new();
    }
    let prompt = Prompt { pieces, timeline };
    let stable = prompt.stable();
    let header = prompt.header().min(stable);
    let summary = prompt.summary(stable);
    let long = summary.or_else(|| last_before(pieces, header, 0));
    let floor = long.map_or(0, |place| place.saturating_add(1));
    let short = last_before(pieces, stable, floor);
    let least = Rules::of(profile).minimum;
    let worth = |place: &usize| {
        pieces
            .get(*place)
            .is_some_and(|piece| piece.tokens_before.saturating_add(piece.tokens) >= least)
    };
    let long = long.filter(worth);
    let short = short.filter(worth);
    let before = summary
        .and_then(|_| last_before(pieces, header, 0))
        .filter(worth);
    let room = MOST_MARKS
        .saturating_sub(usize::from(long.is_some()))
        .saturating_sub(usize::from(short.is_some()));
    let between: Vec<usize> = short
        .map(|last| prompt.between(profile, floor, last))
        .unwrap_or_default()
        .into_iter()
        .filter(worth)
        .take(room)
        .collect();
    let spare = room > between.len();
    let hours = before.filter(|_| spare).into_iter().chain(long);
    let minutes = between.into_iter().chain(short);
    hours
        .map(|place| (place, Ttl::Hour))
        .chain(minutes.map(|place| (place, Ttl::FiveMinutes)))
        .collect()
}

/// How many pieces from the start on will still be there in the next request: up to tail injections, to what stands for a missing
/// result, and to a result that is not the last word.
#[must_use]
pub fn stable(pieces: &List<Piece>, timeline: &Timeline) -> usize {
    Prompt { pieces, timeline }.stable()
}

/// A prompt and what it shows.
struct Prompt<'a> {
    pieces: &'a List<Piece>,
    timeline: &'a Timeline,
}

impl Prompt<'_> {
    /// How many pieces are tools and system prompt.
    fn header(&self) -> usize {
        self.pieces
            .iter()
            .take_while(|piece| matches!(piece.role, PieceRole::Tool | PieceRole::Header))
            .count()
    }

    /// The piece that stands for the newest compaction, among the first so many.
    fn summary(&self, stable: usize) -> Option<usize> {
        let commit = self
            .timeline
            .summaries
            .iter()
            .filter_map(|(first, _)| match self.timeline.shown.get(first)? {
                Shown::Summary(summary) if summary.kind == SummaryKind::Compact => {
                    Some(summary.seq)
                }
                _ => None,
            })
            .max()?;
        let place = self
            .pieces
            .iter()
            .take(stable)
            .position(|piece| piece.why == Why::Summary(commit))?;
        Some(place)
    }

    /// How many pieces will still be there in the next request.
    fn stable(&self) -> usize {
        let all = self.pieces.len();
        let tails = self
            .pieces
            .iter()
            .rev()
            .take_while(|piece| self.timeline.tails.contains_key(&piece.source.seq))
            .count();
        let mut stable = all.saturating_sub(tails);
        let passing = self.passing();
        if let Some(first) = passing.iter().map(|(key, _)| *key).min() {
            let blocks: BTreeSet<BlockId> = passing.into_iter().map(|(_, block)| block).collect();
            stable = self
                .back_to(first)
                .filter(|(_, piece)| {
                    piece.role == PieceRole::Result
                        && (blocks.contains(&piece.source)
                            || piece.why == Why::Placeholder(RepairKind::OpenCall))
                })
                .last()
                .map_or(stable, |(place, _)| place.min(stable));
        }
        match self.paused() {
            Some(key) => self
                .back_to(key)
                .last()
                .map_or(stable, |(place, _)| place.min(stable)),
            None => stable,
        }
    }

    /// What stands for the results of open calls, and the units that show it.
    fn passing(&self) -> Vec<(Seq, BlockId)> {
        let open = self.timeline.open.iter();
        open.filter_map(|(block, key)| {
            let Shown::Unit(unit) = self.timeline.shown.get(key)? else {
                return None;
            };
            let call = unit.calls.iter().find(|call| call.block == *block)?;
            let interim = call
                .answer
                .as_ref()
                .filter(|answer| answer.status == Status::Interim);
            Some((*key, interim.map_or(*block, |answer| answer.block)))
        })
        .collect()
    }

    /// The newest entry, where the provider paused in it: it looks otherwise when something follows.
    fn paused(&self) -> Option<Seq> {
        let (key, shown) = self.timeline.shown.iter().next_back()?;
        let Shown::Unit(unit) = shown else {
            return None;
        };
        let last = unit.parts.last()?.message()?;
        (last.stop == Some(Stop::PauseTurn)).then_some(*key)
    }

    /// The pieces of the entries from this key on, the last one first. Pieces come from their entry's key or from later positions.
    fn back_to(&self, key: Seq) -> impl Iterator<Item = (usize, &Piece)> {
        (0..self.pieces.len())
            .rev()
            .map_while(move |place| Some((place, self.pieces.get(place)?)))
            .take_while(move |(_, piece)| piece.source.seq >= key)
    }

    /// Breakpoints between the last one of the request before and the last one of this, from a place on.
    fn between(&self, profile: &Profile, floor: usize, last: usize) -> Vec<usize> {
        let Some(old) = self.old(profile, last) else {
            return Vec::new();
        };
        if last.saturating_sub(old) < LOOK_BACK {
            return Vec::new();
        }
        (1_usize..)
            .map(|times| old.saturating_add(STRIDE.saturating_mul(times)))
            .take_while(|place| *place < last)
            .filter_map(|place| {
                let least = floor.max(old.saturating_add(1));
                last_before(self.pieces, place.saturating_add(1), least)
            })
            .collect()
    }

    /// Where the last breakpoint of the request before stood, as far as the prompt says: in front of the newest response; where a new turn
    /// begins and thinking of earlier turns is no longer shown, in front of the first response of the turn before.
    fn old(&self, profile: &Profile, last: usize) -> Option<usize> {
        let mut entries = self.timeline.shown.iter().rev().peekable();
        let begins = matches!(entries.peek(), Some((_, Shown::Said(_))));
        let mut units = entries
            .skip_while(|(_, shown)| !matches!(shown, Shown::Unit(_)))
            .take_while(|(_, shown)| !matches!(shown, Shown::Said(_) | Shown::Summary(_)))
            .filter(|(_, shown)| matches!(shown, Shown::Unit(_)))
            .map(|(key, _)| *key);
        let newest = units.next()?;
        let key = if begins && profile.thinking.keeps == Keeps::Last {
            units.last().unwrap_or(newest)
        } else {
            newest
        };
        let first = self.back_to(key).last().map(|(place, _)| place)?;
        last_before(self.pieces, first.min(last), 0)
    }
}

/// The last piece before a place, from another place on, that may carry a breakpoint.
fn last_before(pieces: &List<Piece>, end: usize, from: usize) -> Option<usize> {
    (from..end.min(pieces.len()))
        .rev()
        .find(|place| pieces.get(*place).is_some_and(may_carry))
}
