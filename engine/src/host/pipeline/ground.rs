//! What the operations of a compaction share: a look at the session as a policy sees it, commits that must shrink, one batch to the log.

use super::propose::event;
use super::{Ground, spill};
use crate::core::{Core, Decision, Input, Key, trigger};
use crate::host::ask::Asked;
use crate::host::directory::{Directory, Held};
use crate::host::hooks::{CommitSeen, PlanSeen};
use crate::host::look::look;
use crate::host::write::Terms;
use crate::{Error, ErrorKind, api};
use recount_events::{Body, CompactAbandon, CompactPlan, Event, Millis, Range, Seq, Text};
use recount_policies::compact::Refusal;
use recount_policies::{Proposal, Proposed, Situation, Spill};
use recount_wal::Class;

/// The prompt at the head, open calls healed, as the session asks for it.
pub(crate) fn at_head(session: &str) -> api::Prepare {
    api::Prepare {
        session: session.to_owned(),
        heal: true,
        ..api::Prepare::default()
    }
}

/// Looks at a session as a policy does. What is asked changes nothing, and may be asked twice.
pub(crate) fn with<T>(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Prepare,
    now: Millis,
    mut question: impl FnMut(&Core, &Situation<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let (asked, measured): (Asked, _) = look(dir, held, ask)?;
    let stream = held.slot.stream;
    dir.ask(held, |live| {
        let core = &live.core;
        let ground = Ground::of(core, stream, &asked, &measured, now);
        question(core, &ground.situation(core, &asked, &measured))
    })
}

/// An event of the engine's own.
pub(crate) fn own(now: Millis, body: Body) -> Event {
    Event {
        at: now,
        body,
        because: None,
        extra: None,
    }
}

/// A compaction is given up.
pub(crate) fn abandon(now: Millis, plan: &CompactPlan, reason: &str) -> Event {
    let id = plan.id.words().unwrap_or_default();
    own(
        now,
        Body::CompactAbandon(CompactAbandon {
            id: Text::plain(&id),
            reason: Text::plain(reason),
        }),
    )
}

/// What goes to the log in one batch.
#[derive(Debug)]
pub(crate) struct Step {
    /// The events.
    pub(crate) decision: Decision,
    /// Files that are to be there before.
    pub(crate) spills: Vec<Spill>,
}

/// Decides events of the engine's own.
pub(crate) fn step(
    dir: &Directory,
    core: &Core,
    now: Millis,
    events: &[Event],
) -> Result<Step, Error> {
    Ok(Step {
        decision: core.handle(now, Input::Own(events.to_vec()), &mut dir.salts())?,
        spills: Vec::new(),
    })
}

/// Logs a step; it is on disk when this answers. The position of its first event.
pub(crate) fn write(
    dir: &Directory,
    held: &mut Held<'_>,
    step: Step,
    key: Option<Key>,
) -> Result<Seq, Error> {
    spill::write(dir, held, &step.spills)?;
    let first = step.decision.first;
    let terms = Terms {
        key,
        class: Some(Class::Synced),
        origin: None,
    };
    dir.write(held, step.decision, terms)?;
    Ok(first)
}

/// A commit that makes the prompt smaller.
#[derive(Debug)]
pub(crate) struct Commit {
    /// What goes to the log.
    pub(crate) step: Step,
    /// What the hooks are shown.
    pub(crate) seen: CommitSeen,
}

/// What a commit comes to.
#[derive(Debug)]
pub(crate) enum Weighed {
    /// The prompt becomes smaller.
    Shrinks(Box<Commit>),
    /// It would not.
    Grows,
    /// The session does not admit it any more, and why.
    Unfit(String),
}

/// Events, then what a policy proposes behind them: weighed by the rendered prompt. What a commit restores is given up where only that
/// keeps the prompt from shrinking.
pub(crate) fn weigh(
    dir: &Directory,
    core: &Core,
    at: &Situation<'_>,
    ahead: &[Event],
    propose: impl FnOnce(&Situation<'_>) -> Proposal,
) -> Result<Weighed, Error> {
    let trial = step(dir, core, at.now, ahead)?;
    let behind = Situation {
        state: &trial.decision.state,
        ..*at
    };
    let proposal = propose(&behind);
    let commits = |one: &Proposed| matches!(one.body, Body::CompactCommit(_));
    if !proposal.events.iter().any(commits) {
        return Ok(if proposal.did == Refusal::NotSmaller.to_string() {
            Weighed::Grows
        } else {
            Weighed::Unfit(proposal.did)
        });
    }
    let whole = weighed(dir, core, at, ahead, &proposal);
    match admitted(whole)? {
        Weighed::Grows => {
            let bare = Proposal {
                events: proposal
                    .events
                    .into_iter()
                    .filter(|one| one.because.is_none())
                    .collect(),
                ..proposal
            };
            admitted(weighed(dir, core, at, ahead, &bare))
        }
        other => Ok(other),
    }
}

fn admitted(weighed: Result<Weighed, Error>) -> Result<Weighed, Error> {
    match weighed {
        Err(error) if error.kind() == ErrorKind::Rejected => {
            Ok(Weighed::Unfit(error.message().to_owned()))
        }
        other => other,
    }
}

fn weighed(
    dir: &Directory,
    core: &Core,
    at: &Situation<'_>,
    ahead: &[Event],
    proposal: &Proposal,
) -> Result<Weighed, Error> {
    let proposed = proposal.events.iter().map(|one| event(one, at.now));
    let mut events: Vec<Event> = ahead.iter().cloned().chain(proposed).collect();
    let trial = step(dir, core, at.now, &events)?;
    let before = core.tokens_of(&core.state, at.profile);
    let after = core.tokens_of(&trial.decision.state, at.profile);
    if after >= before {
        return Ok(Weighed::Grows);
    }
    let (before, after) = (estimate(at, before), estimate(at, after));
    let mut seen = None;
    for (one, (_, applied)) in events.iter_mut().zip(&trial.decision.applied) {
        if let Body::CompactCommit(commit) = &mut one.body {
            commit.before = Some(before);
            commit.after = Some(after);
            seen = Some((applied.seq, commit.clone()));
        }
    }
    let Some((seq, commit)) = seen else {
        return Ok(Weighed::Unfit("nothing is committed".to_owned()));
    };
    let mut step = step(dir, core, at.now, &events)?;
    step.spills.clone_from(&proposal.spills);
    let (first, last) = match commit.range {
        Range::Closed { first, last } => (first.0, last.0),
        Range::KeepFrom(seq) => (0, seq.0),
        Range::Marker => (0, 0),
    };
    let words = |text: Option<&Text>| {
        text.and_then(Text::words)
            .map_or_else(String::new, |words| words.into_owned())
    };
    let asked = commit.boundary.as_ref().map(|boundary| boundary.trigger);
    let seen = CommitSeen {
        session: String::new(),
        compaction: words(commit.id.as_ref()),
        event: seq.0,
        trigger: trigger(asked.unwrap_or_default()),
        summary: words(commit.summary.as_ref()),
        first,
        last,
        before,
        after,
    };
    Ok(Weighed::Shrinks(Box::new(Commit { step, seen })))
}

/// Counted tokens as the provider will count them, with what it adds.
fn estimate(at: &Situation<'_>, counted: u64) -> u64 {
    at.scaled(counted)
        .saturating_add(at.profile.overhead_tokens)
}

/// Logs a commit, then what the host's hooks attach to it.
pub(crate) fn commit(
    dir: &Directory,
    held: &mut Held<'_>,
    commit: Commit,
    now: Millis,
    key: Option<Key>,
) -> Result<CommitSeen, Error> {
    let seen = CommitSeen {
        session: held.slot.name.clone(),
        ..commit.seen
    };
    write(dir, held, commit.step, key)?;
    attach(dir, held, &seen, now)?;
    Ok(seen)
}

/// Logs what the hooks say after a commit, because of it. What does not fit is left out.
fn attach(
    dir: &Directory,
    held: &mut Held<'_>,
    seen: &CommitSeen,
    now: Millis,
) -> Result<(), Error> {
    for raw in dir.options.hooks.after(seen) {
        let event = match Event::from_json(&raw, now) {
            Ok(event) if event.body.host_may_append() => event,
            Ok(event) => {
                tracing::warn!(
                    kind = event.body.name(),
                    "a hook may not log events of this type"
                );
                continue;
            }
            Err(refusal) => {
                tracing::warn!(%refusal, "what a hook attaches is no event");
                continue;
            }
        };
        let event = Event {
            because: Some(Seq(seen.event)),
            ..event
        };
        let decided = dir.ask(held, |live| {
            step(dir, &live.core, now, std::slice::from_ref(&event))
        });
        match decided {
            Ok(step) => {
                write(dir, held, step, None)?;
            }
            Err(error) => tracing::warn!(%error, "what a hook attaches does not fit"),
        }
    }
    Ok(())
}

/// A plan as the hooks see it.
pub(crate) fn plan_seen(at: &Situation<'_>, session: &str, plan: &CompactPlan) -> PlanSeen {
    let (first, last) = match plan.range {
        Range::Closed { first, last } => (first.0, last.0),
        Range::KeepFrom(seq) => (0, seq.0),
        Range::Marker => (0, 0),
    };
    PlanSeen {
        session: session.to_owned(),
        trigger: trigger(plan.trigger),
        level: plan.level,
        first,
        last,
        chunks: plan.chunks.len(),
        tokens: at.fill.total,
    }
}
