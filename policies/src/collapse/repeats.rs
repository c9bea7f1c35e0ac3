//! Repetitive exchanges: the same tool on the same target in the same shape, several times in a row. All but the newest give way to a line.

use super::TakenBack;
use crate::compact::atoms::{Atom, atoms, words_of};
use crate::compact::trial::Trial;
use crate::compact::{is_taken, names, tools};
use crate::{Proposal, Proposed, Situation};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::raw::members;
use recount_events::{Body, CollapseCommit, Covered, Range, Seq, Text};
use recount_projections::{Shown, Unit};

/// What makes two exchanges the same.
#[derive(PartialEq, Eq)]
struct Kind {
    tool: String,
    target: String,
    /// Names of the arguments, in order.
    shape: Vec<String>,
}

/// Exchanges in a row.
struct Row {
    kind: Kind,
    ends: Vec<&'static str>,
    atoms: Vec<(Seq, Seq)>,
}

impl Row {
    /// A part of it was collapsed before, and that was taken back.
    fn was(&self, back: &TakenBack) -> bool {
        let ends = self.atoms.first().zip(self.atoms.last());
        ends.is_some_and(|((first, _), (_, last))| back.meets(*first, *last))
    }
}

/// Collapses rows until the prompt is under the line at which it began; one event a row, oldest first.
pub(super) fn collapse(at: &Situation<'_>, back: &TakenBack) -> Proposal {
    let percent = at.constants.collapse.commit_percent;
    let mut trial = Trial::new(at);
    let mut tokens = trial.before;
    let mut events: Vec<Proposed> = Vec::new();
    for row in rows(at).into_iter().filter(|row| !row.was(back)) {
        let saved = at.scaled(trial.before.saturating_sub(tokens));
        if !super::reaches(at, at.weighed().saturating_sub(saved), percent) {
            break;
        }
        let mut again = trial.again();
        let Some(proposed) = committed(&row, &mut again) else {
            continue;
        };
        let after = again.tokens();
        if after < tokens {
            (trial, tokens) = (again, after);
            events.push(proposed);
        }
    }
    if events.is_empty() {
        return Proposal::default();
    }
    Proposal {
        did: format!(
            "{} rows of repeated calls gave way to a line each",
            events.len()
        ),
        freed: at.scaled(trial.before.saturating_sub(tokens)),
        events,
        spills: Vec::new(),
    }
}

/// The rows that are long enough, oldest first, each without its newest exchange.
fn rows(at: &Situation<'_>) -> Vec<Row> {
    let least = usize::try_from(at.constants.collapse.repeats.max(2)).unwrap_or(usize::MAX);
    let mut rows: Vec<Row> = Vec::new();
    let mut row: Option<Row> = None;
    for atom in atoms(at) {
        if atom.shown == 0 {
            row = None;
            continue;
        }
        let found = exchange(at, &atom);
        row = match (row.take(), found) {
            (Some(mut row), Some((kind, end))) if row.kind == kind => {
                row.ends.push(end);
                row.atoms.push((atom.first, atom.last));
                Some(row)
            }
            (before, found) => {
                rows.extend(before);
                found.map(|(kind, end)| Row {
                    kind,
                    ends: alloc::vec![end],
                    atoms: alloc::vec![(atom.first, atom.last)],
                })
            }
        };
    }
    rows.extend(row);
    rows.retain(|row| row.atoms.len() >= least);
    rows
}

/// A response without words that makes one call, which is closed.
fn exchange(at: &Situation<'_>, atom: &Atom) -> Option<(Kind, &'static str)> {
    if atom.shown != 1 || atom.open.is_some() || !atom.starts || !atom.ends {
        return None;
    }
    let Some(Shown::Unit(unit)) = at.timeline().shown.get(&atom.first) else {
        return None;
    };
    if unit.calls.len() != 1 || speaks(unit) {
        return None;
    }
    let one = tools::uses(unit).next()?;
    let shape = members(&one.input)?.map(|member| member.key().into_owned());
    let end = tools::ended(one.call.answer.as_ref());
    Some((
        Kind {
            target: one.target.clone()?,
            shape: shape.collect(),
            tool: one.tool,
        },
        end,
    ))
}

fn speaks(unit: &Unit) -> bool {
    let messages = unit.parts.iter().filter_map(|part| part.message());
    messages
        .map(|message| words_of(&message.content))
        .any(|words| !words.trim().is_empty())
}

/// Takes the commit of a row in, under the first name that nobody used.
fn committed(row: &Row, trial: &mut Trial<'_>) -> Option<Proposed> {
    let (_, hidden) = row.atoms.split_last()?;
    let range = Range::Closed {
        first: hidden.first()?.0,
        last: hidden.last()?.1,
    };
    let ends = row.ends.get(..hidden.len()).unwrap_or_default();
    let summary = Text::plain(&format!(
        "{} earlier calls of {} on {} ({}); the newest of them follows.",
        hidden.len(),
        row.kind.tool,
        crate::compact::short(&row.kind.target),
        counted(ends),
    ));
    for id in names("k", trial.next()) {
        let proposed = Proposed::from(Body::CollapseCommit(CollapseCommit {
            id,
            range: Some(range),
            summary: Some(summary.clone()),
            covered: Covered::default(),
        }));
        match trial.take(&proposed) {
            Ok(_) => return Some(proposed),
            Err(refused) if is_taken(&refused) => {}
            Err(_) => return None,
        }
    }
    None
}

/// How many ended how, in the order in which each end came first.
fn counted(ends: &[&'static str]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for end in ends {
        match counts.iter_mut().find(|(known, _)| known == end) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => counts.push((end, 1)),
        }
    }
    let each: Vec<String> = counts
        .iter()
        .map(|(end, count)| format!("{count} {end}"))
        .collect();
    each.join(", ")
}
