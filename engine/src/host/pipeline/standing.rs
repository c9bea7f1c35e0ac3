//! How a compaction stands: what is open, what became of one that does not wait any more, what was done under a key.

use super::compact::{name, plain};
use super::ground::{at_head, with, write};
use super::propose::event;
use super::requests::{self, Pending};
use crate::core::{Core, Key, Repeat};
use crate::host::directory::{Directory, Held};
use crate::host::write::synced;
use crate::{Error, api};
use recount_events::{Body, Event, Millis, Seq};
use recount_policies::{Situation, compact};

/// Why a compaction ends that would not make the prompt smaller.
pub(super) const GROWS: &str = "does not shrink";

/// What is open now, as an answer: its outcome is still to be said.
pub(super) fn standing(
    dir: &Directory,
    held: &mut Held<'_>,
    session: &str,
    form: &api::As,
) -> Result<api::SummarisedAnswer, Error> {
    let pending = Pending::of(&dir.live(held)?.core);
    let requests = match &pending {
        Some(pending) => requests::open(dir, held, pending, form)?,
        None => Vec::new(),
    };
    let before = with(dir, held, &at_head(session), Millis(0), |_, at| {
        Ok(at.fill.total)
    })?;
    Ok(api::SummarisedAnswer {
        outcome: String::new(),
        compaction: pending.map(|pending| pending.id()),
        why: None,
        requests,
        before,
        after: None,
        head: dir.live(held)?.core.head().unwrap_or_default().0,
    })
}

/// A failure, as the policy counts it.
pub(super) fn failures(at: &Situation<'_>) -> Vec<Event> {
    let counted = compact::failed(at);
    counted.iter().map(|one| event(one, at.now)).collect()
}

/// The chunk of a pending plan was asked for again before.
pub(super) fn tried_again(core: &Core, pending: &Pending, breaker: &str, chunk: u32) -> bool {
    let counts = core.state.ledger().breaks.get(breaker);
    counts
        .into_iter()
        .flatten()
        .any(|count| count.seq > pending.seq && count.value == u64::from(chunk))
}

/// What became of a compaction that does not wait at the head.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    /// It was never planned in this session.
    Unknown,
    /// Its plan is on another branch.
    Gone,
    /// It was given up, and why.
    Abandoned(String),
    /// Its commit was undone.
    Undone,
    /// It is done; tokens before and after, and whether this chunk said the same.
    Committed {
        before: u64,
        after: Option<u64>,
        same: bool,
    },
}

/// Follows the log from the plan on. Names of compactions say where they were planned.
fn fate(core: &Core, id: &str, chunk: u32, text: Option<&str>) -> Fate {
    // A name that somebody had used already has a number behind its position.
    let planned = id.strip_prefix('c').and_then(|seq| seq.split('.').next());
    let planned = planned.and_then(|seq| seq.parse().ok());
    let plan = planned.and_then(|seq| core.event(Seq(seq)));
    let plan = plan.as_deref().and_then(|logged| match &logged.event.body {
        Body::CompactPlan(plan) if name(Some(&plan.id)) == id => Some((logged.seq, plan.clone())),
        _ => None,
    });
    let Some((seq, plan)) = plan else {
        return Fate::Unknown;
    };
    let line = &core.state.timeline().line;
    if !line.contains(seq) {
        return Fate::Gone;
    }
    let said = text.and_then(|text| compact::answer(&plan, text, None).ok());
    let (mut same, mut fate) = (false, Fate::Gone);
    let later = seq.next().0..core.next().0;
    for logged in later.map(Seq).filter_map(|seq| core.event(seq)) {
        if !line.contains(logged.seq) {
            continue;
        }
        match &logged.event.body {
            Body::CompactChunk(told) if name(Some(&told.id)) == id && told.chunk == chunk => {
                same = said
                    .as_ref()
                    .is_some_and(|said| *said == name(Some(&told.text)));
            }
            Body::CompactAbandon(end) if name(Some(&end.id)) == id => {
                return Fate::Abandoned(name(Some(&end.reason)));
            }
            Body::CompactCommit(end)
                if name(end.id.as_ref()) == id && line.fallen.contains_key(&logged.seq) =>
            {
                fate = Fate::Undone;
            }
            Body::CompactCommit(end) if name(end.id.as_ref()) == id => {
                return Fate::Committed {
                    before: end.before.unwrap_or(0),
                    after: end.after,
                    same,
                };
            }
            _ => {}
        }
    }
    fate
}

/// An answer to a compaction that is not pending. What the call cost is a fact all the same, where the compaction was ever planned.
pub(super) fn void(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Summarised,
    now: Millis,
    (key, usage): (Option<Key>, Option<Event>),
) -> Result<api::SummarisedAnswer, Error> {
    let fate = dir.ask(held, |live| {
        Ok(fate(
            &live.core,
            &ask.compaction,
            ask.chunk,
            ask.text.as_deref(),
        ))
    })?;
    let repeats = matches!(fate, Fate::Committed { same: true, .. });
    if let Some(usage) = usage.filter(|_| fate != Fate::Unknown && !repeats) {
        let step = plain(dir, held, now, &[usage])?;
        write(dir, held, step, key)?;
    }
    let mut answer = api::SummarisedAnswer {
        outcome: "rejected".to_owned(),
        compaction: Some(ask.compaction.clone()),
        why: None,
        requests: Vec::new(),
        before: 0,
        after: None,
        head: dir.live(held)?.core.head().unwrap_or_default().0,
    };
    let why = match fate {
        Fate::Committed {
            before,
            after,
            same: true,
        } => {
            "committed".clone_into(&mut answer.outcome);
            (answer.before, answer.after) = (before, after);
            return Ok(answer);
        }
        Fate::Committed { .. } => "void: the compaction is committed already".to_owned(),
        Fate::Abandoned(reason) => format!("void: the compaction was abandoned: {reason}"),
        Fate::Undone => format!("void: {}", compact::UNDONE),
        Fate::Gone => {
            "void: the plan of the compaction is not on this timeline: it was rolled back"
                .to_owned()
        }
        Fate::Unknown => "void: there never was such a compaction in this session".to_owned(),
    };
    answer.why = Some(why);
    Ok(answer)
}

/// The first answer again, as far as it still stands.
pub(super) fn repeated(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Summarised,
    repeat: Repeat,
) -> Result<api::SummarisedAnswer, Error> {
    synced(dir, held.slot.stream, repeat)?;
    let core = &dir.live(held)?.core;
    let batch = (repeat.first.0..=repeat.last.0).filter_map(|seq| core.event(Seq(seq)));
    let done = Done::of(batch.map(|logged| logged.event.body.clone()));
    let mut answer = standing(dir, held, &ask.session, &ask.form)?;
    answer.compaction = answer.compaction.or_else(|| Some(ask.compaction.clone()));
    done.outcome().clone_into(&mut answer.outcome);
    answer.why = done.abandoned;
    if let Some((before, after)) = done.committed {
        (answer.before, answer.after) = (before, after);
    }
    Ok(answer)
}

/// What a batch did to a compaction.
#[derive(Debug, Default)]
struct Done {
    committed: Option<(u64, Option<u64>)>,
    abandoned: Option<String>,
    planned: bool,
    counted: bool,
    chunk: bool,
}

impl Done {
    fn of(batch: impl Iterator<Item = Body>) -> Self {
        let mut done = Self::default();
        for body in batch {
            match body {
                Body::CompactCommit(end) => {
                    done.committed = Some((end.before.unwrap_or(0), end.after));
                }
                Body::CompactAbandon(end) => done.abandoned = Some(name(Some(&end.reason))),
                Body::CompactPlan(_) => done.planned = true,
                Body::Breaker(_) => done.counted = true,
                Body::CompactChunk(_) => done.chunk = true,
                _ => {}
            }
        }
        done
    }

    fn outcome(&self) -> &'static str {
        match (&self.committed, &self.abandoned) {
            (Some(_), Some(_)) => "model_free",
            (Some(_), None) => "committed",
            (None, _) if self.planned => "retry",
            (None, Some(why)) if why == GROWS => "rejected",
            (None, Some(_)) => "abandoned",
            (None, None) if self.counted => "retry",
            (None, None) if self.chunk => "next",
            (None, None) => "rejected",
        }
    }
}
