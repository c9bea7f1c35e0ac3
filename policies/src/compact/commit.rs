//! A commit and what it brings back, tried on a copy of the session first (A11, A13).
//!
//! - What does not make the prompt smaller is not proposed: restored files are left out first, then the commit itself.

use super::atoms::{Atom, atoms, sum};
use super::limits::{Limits, counted, limits};
use super::trial::Trial;
use super::{Refusal, UNDONE, breakers, restore};
use crate::{Proposal, Proposed, Situation, cline};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{
    Body, Boundary, CompactAbandon, CompactCommit, Inject, Maker, Range, Seq, Text, Trigger,
};

/// A fold that is wanted.
pub(crate) struct Wanted<'w> {
    /// Its name: a plan's. None: it has none yet, and is named after the position at which it is logged.
    pub(crate) id: Option<Text>,
    /// Its range.
    pub(crate) range: (Seq, Seq),
    /// Its summary.
    pub(crate) summary: &'w str,
    /// What asked for it.
    pub(crate) trigger: Trigger,
    /// How hard it cuts.
    pub(crate) level: u8,
    /// Who made the summary.
    pub(crate) by: Maker,
    /// How long that took.
    pub(crate) millis: u64,
}

/// The commit and what falls with it, behind `before`; an error says why not.
pub(crate) fn propose(
    at: &Situation<'_>,
    wanted: &Wanted<'_>,
    before: Vec<Proposed>,
) -> Result<Proposal, Refusal> {
    let atoms = atoms(at);
    let mut trial = Trial::new(at);
    for proposed in &before {
        trial.take(proposed).map_err(misfit)?;
    }
    let at_first = trial.tokens();
    let (body, seq) = committed(at, &atoms, wanted, &mut trial)?;
    let after = trial.tokens();
    if after >= at_first {
        return Err(Refusal::NotSmaller);
    }
    let files = returning(at, &atoms, wanted, &trial, at_first.saturating_sub(after));
    let restored = files.len();
    let mut falls = restore::events(files, seq);
    if cline::applies(at, (wanted.trigger, wanted.level)) {
        falls.extend(cline::notices_of(at, wanted.range, seq));
    }
    for proposed in &falls {
        trial.take(proposed).map_err(misfit)?;
    }
    let saved = trial.saved();
    let mut commit = body;
    commit.after = Some(at.fill.total.saturating_sub(saved));
    let mut events = before;
    events.push(Body::CompactCommit(commit).into());
    events.extend(falls);
    events.extend(breakers::succeeded(at, wanted.trigger, wanted.by));
    Ok(Proposal {
        did: did(wanted, restored),
        freed: saved,
        events,
        spills: Vec::new(),
    })
}

fn did(wanted: &Wanted<'_>, restored: usize) -> String {
    let by = match wanted.by {
        Maker::Model => "a model's summary",
        Maker::Memory => "the session's own notes",
        Maker::Rule => "a summary made without a model",
        Maker::Host => "the host's summary",
    };
    let (first, last) = wanted.range;
    let files = match restored {
        0 => String::new(),
        1 => String::from(", 1 file came back"),
        more => format!(", {more} files came back"),
    };
    format!("{first} to {last} gave way to {by}{files}")
}

pub(crate) fn misfit(misfit: recount_projections::Misfit) -> Refusal {
    Refusal::Misfit(misfit.problem)
}

/// Takes the commit in, under the first name that nobody used.
fn committed(
    at: &Situation<'_>,
    atoms: &[Atom],
    wanted: &Wanted<'_>,
    trial: &mut Trial<'_>,
) -> Result<(CompactCommit, Seq), Refusal> {
    let mut body = CompactCommit {
        id: wanted.id.clone(),
        range: Range::Closed {
            first: wanted.range.0,
            last: wanted.range.1,
        },
        summary: Some(Text::plain(wanted.summary)),
        before: Some(at.fill.total),
        after: None,
        covered: recount_events::Covered::default(),
        boundary: Some(boundary(atoms, wanted)),
    };
    if wanted.id.is_some() {
        let seq = trial
            .take(&Body::CompactCommit(body.clone()).into())
            .map_err(misfit)?;
        return Ok((body, seq));
    }
    let next = trial.next();
    for id in super::names("c", next) {
        body.id = Some(id);
        match trial.take(&Body::CompactCommit(body.clone()).into()) {
            Ok(seq) => return Ok((body, seq)),
            Err(refused) if super::is_taken(&refused) => {}
            Err(refused) => return Err(misfit(refused)),
        }
    }
    Err(Refusal::Nothing)
}

fn boundary(atoms: &[Atom], wanted: &Wanted<'_>) -> Boundary {
    let (first, last) = wanted.range;
    let hidden = atoms
        .iter()
        .filter(|atom| first <= atom.first && atom.last <= last);
    let kept = kept(atoms, last);
    let ends = kept.first().zip(kept.last());
    Boundary {
        trigger: wanted.trigger,
        level: wanted.level,
        by: wanted.by,
        messages: sum(hidden.map(|atom| atom.messages)),
        millis: wanted.millis,
        kept: ends.map(|(first, last)| (first.first, last.last)),
    }
}

/// What stands behind a range.
fn kept(atoms: &[Atom], last: Seq) -> &[Atom] {
    let from = atoms.partition_point(|atom| atom.first <= last);
    let kept = atoms.get(from..).unwrap_or_default();
    let shown = kept.iter().position(|atom| atom.shown > 0);
    shown
        .and_then(|first| kept.get(first..))
        .unwrap_or_default()
}

/// The files that come back: as many as keep the prompt smaller than it was.
fn returning(
    at: &Situation<'_>,
    atoms: &[Atom],
    wanted: &Wanted<'_>,
    trial: &Trial<'_>,
    gained: u64,
) -> Vec<Inject> {
    let (first, last) = wanted.range;
    let Limits { cap, restore, .. } = limits(at, wanted.level);
    let kept = kept(atoms, last);
    let tail = at.scaled(sum(kept.iter().map(|atom| atom.tokens)));
    let room = counted(at, restore.min(cap.saturating_sub(tail)));
    let room = room.min(gained.saturating_sub(1));
    let hidden = atoms.partition_point(|atom| atom.first < first)
        ..atoms.partition_point(|atom| atom.first <= last);
    let hidden = atoms.get(hidden).unwrap_or_default();
    let mut files = restore::files(at, hidden, kept, room);
    while !files.is_empty() {
        let mut again = trial.again();
        let commit = trial.next().prev().unwrap_or_default();
        let fits = restore::events(files.clone(), commit)
            .iter()
            .all(|proposed| again.take(proposed).is_ok());
        if fits && again.tokens() < trial.before {
            break;
        }
        // The least recently read one is last.
        files.pop();
    }
    files
}

/// A pending plan gives way to a fold that reaches beyond its range; one whose commit was undone to any.
pub(crate) fn give_way(at: &Situation<'_>, range: Option<(Seq, Seq)>, why: &str) -> Vec<Proposed> {
    let Some(plan) = &at.timeline().work.plan else {
        return Vec::new();
    };
    let Body::CompactPlan(planned) = &plan.logged.event.body else {
        return Vec::new();
    };
    if let (Range::Closed { first, last }, Some((from, to))) = (planned.range, range)
        && first <= from
        && to <= last
        && (first, last) != (from, to)
        && !plan.is_spent()
    {
        return Vec::new();
    }
    alloc::vec![
        Body::CompactAbandon(CompactAbandon {
            id: planned.id.clone(),
            reason: Text::plain(if plan.is_spent() { UNDONE } else { why }),
        })
        .into()
    ]
}
