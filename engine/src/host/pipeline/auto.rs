//! ⑤ in a `prepare`: plans a compaction, or commits one that needs no model.
//!
//! - The host's hook is asked first; what it forbids is planned and abandoned in one batch, so that the log says so.
//! - What is committed at once must make the prompt smaller, like any other commit.

use super::ground::{Weighed, abandon, commit, plan_seen, step, weigh};
use super::propose::event;
use super::requests::Pending;
use super::{Ground, ground};
use crate::core::Measured;
use crate::host::ask::Asked;
use crate::host::directory::{Directory, Held};
use crate::host::hooks::PlanSeen;
use crate::host::notices::Notice;
use crate::{Error, ErrorKind, api};
use recount_events::{Body, CompactPlan, Event, Millis};
use recount_policies::{Propose, Tier};

/// What the tier did, and whether it logged something.
pub(super) fn compaction(
    dir: &Directory,
    held: &mut Held<'_>,
    (asked, measured): &(Asked, Measured),
    now: Millis,
    propose: Propose,
) -> Result<api::TierReport, Error> {
    let (name, stream) = (held.slot.name.clone(), held.slot.stream);
    let decided = dir.ask(held, |live| {
        let core = &live.core;
        let ground = Ground::of(core, stream, asked, measured, now);
        let at = ground.situation(core, asked, measured);
        let proposal = propose(&at);
        let report = api::TierReport {
            tier: Tier::Compact.name().to_owned(),
            did: proposal.did.clone(),
            freed: proposal.freed,
            events: Vec::new(),
        };
        if proposal.is_empty() {
            return Ok(Next::Nothing(report));
        }
        if proposal.events.iter().any(|one| is_commit(&one.body)) {
            let weighed = weigh(dir, core, &at, &[], |_| proposal.clone())?;
            return Ok(Next::Commit(report, weighed, at.fill.total));
        }
        let plan = proposal.events.iter().find_map(|one| plan_in(&one.body));
        let seen = plan.map(|plan| plan_seen(&at, &name, plan));
        let refused = seen.and_then(|seen| dir.options.hooks.refuses(&seen));
        let mut events: Vec<Event> = proposal.events.iter().map(|one| event(one, now)).collect();
        if let (Some(plan), Some(why)) = (plan, &refused) {
            events.push(abandon(now, plan, &format!("vetoed: {why}")));
        }
        let step = step(dir, core, now, &events)?;
        Ok(Next::Log(
            report,
            refused,
            Box::new(step),
            events.len() as u64,
        ))
    });
    match decided {
        Ok(next) => carry_out(dir, held, now, next),
        // A defect of the tier: the prompt goes out without it.
        Err(error) if error.kind() == ErrorKind::Rejected => {
            tracing::error!(%error, "a compaction was proposed that does not fit");
            Ok(api::TierReport {
                tier: Tier::Compact.name().to_owned(),
                did: format!("not admitted: {error}"),
                ..api::TierReport::default()
            })
        }
        Err(error) => Err(error),
    }
}

enum Next {
    Nothing(api::TierReport),
    Commit(api::TierReport, Weighed, u64),
    /// What the hook said against it, what is logged, and how many events that are.
    Log(api::TierReport, Option<String>, Box<ground::Step>, u64),
}

fn carry_out(
    dir: &Directory,
    held: &mut Held<'_>,
    now: Millis,
    next: Next,
) -> Result<api::TierReport, Error> {
    match next {
        Next::Nothing(report) => Ok(report),
        Next::Log(mut report, refused, step, count) => {
            let first = ground::write(dir, held, *step, None)?.0;
            report.events = (first..first.saturating_add(count)).collect();
            let pending = Pending::of(&dir.live(held)?.core);
            let fresh = pending.filter(|pending| report.events.contains(&pending.seq.0));
            if let Some(pending) = fresh {
                dir.options.notices.tell(&Notice::CompactionDue {
                    session: held.slot.name.clone(),
                    compaction: pending.id(),
                    requests: pending.open().len() as u64,
                });
            }
            if let Some(why) = refused {
                report.did = format!("the host's hook forbids it: {why}");
                report.freed = 0;
            }
            Ok(report)
        }
        Next::Commit(mut report, weighed, tokens) => {
            report.freed = 0;
            let made = match weighed {
                Weighed::Shrinks(made) => *made,
                Weighed::Grows => {
                    "it would not make the prompt smaller".clone_into(&mut report.did);
                    return Ok(report);
                }
                Weighed::Unfit(why) => {
                    report.did = format!("not admitted: {why}");
                    return Ok(report);
                }
            };
            let plan = PlanSeen {
                session: held.slot.name.clone(),
                trigger: made.seen.trigger,
                level: 0,
                first: made.seen.first,
                last: made.seen.last,
                chunks: 0,
                tokens,
            };
            if let Some(why) = dir.options.hooks.refuses(&plan) {
                report.did = format!("the host's hook forbids it: {why}");
                return Ok(report);
            }
            let seen = commit(dir, held, made, now, None)?;
            report.freed = seen.before.saturating_sub(seen.after);
            report.events = vec![seen.event];
            Ok(report)
        }
    }
}

fn is_commit(body: &Body) -> bool {
    matches!(body, Body::CompactCommit(_))
}

fn plan_in(body: &Body) -> Option<&CompactPlan> {
    match body {
        Body::CompactPlan(plan) => Some(plan),
        _ => None,
    }
}
