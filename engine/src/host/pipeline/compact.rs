//! Compaction by force: planned for a model, or done at once without one.

use super::ground::{Step, Weighed};
use super::ground::{abandon, at_head, commit, own, plan_seen, step, weigh, with, write};
use super::requests::{self, Pending};
use crate::core::{Core, Key, Repeat};
use crate::host::directory::{Directory, Held};
use crate::host::engine::Engine;
use crate::host::hooks::PlanSeen;
use crate::host::write::{check_expect, synced};
use crate::{Error, ErrorKind, api};
use recount_events::{Body, CompactPlan, Event, Millis, Seq, Text, Trigger};
use recount_policies::Situation;
use recount_policies::compact::{self, Ask, Refusal};

impl Engine {
    /// Compacts by force, whatever the threshold. Answers the requests that a model has to answer, or, without a model, commits at once.
    /// Asked again while nothing changed, it answers the same requests.
    ///
    /// # Errors
    /// `rejected` when there is nothing to fold or the host's hook forbids it; `invalid` without a profile or for a range that cannot be
    /// one; else as [`Engine::append`].
    #[tracing::instrument(level = "debug", skip_all)]
    pub fn compact(&self, ask: &api::Compact) -> Result<api::Compacted, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let key = ask.key.as_ref().map(|key| compact_key(dir, key, ask));
        let live = dir.live(&mut held)?;
        if let Some(repeat) = live.done_before(key)? {
            return repeated(dir, &mut held, repeat, &ask.form);
        }
        check_expect(live, ask.expect)?;
        sensible(ask)?;
        let now = ask.now.map_or_else(|| dir.options.clock.now(), Millis);
        if ask.model_free {
            at_once(dir, &mut held, ask, now, key)
        } else {
            planned(dir, &mut held, ask, now, key)
        }
    }
}

fn compact_key(dir: &Directory, key: &str, ask: &api::Compact) -> Key {
    let number = |seq: Option<u64>| seq.map_or_else(Vec::new, |seq| seq.to_le_bytes().to_vec());
    let (from, up_to) = (number(ask.from), number(ask.up_to));
    let instruction = ask.custom_instruction.as_deref().unwrap_or_default();
    let parts = [
        b"compact".as_slice(),
        instruction.as_bytes(),
        &from,
        &up_to,
        &[u8::from(ask.model_free)],
    ];
    Key::new(&dir.key, key, parts)
}

fn sensible(ask: &api::Compact) -> Result<(), Error> {
    match (ask.from, ask.up_to) {
        (Some(from), Some(up_to)) if from >= up_to => Err(Error::invalid(format!(
            "nothing lies between; from={from} up_to={up_to}"
        ))
        .with_field("up_to")
        .with_next("`from` is the first event summarised, `up_to` the first one kept")),
        _ => Ok(()),
    }
}

fn wish(ask: &api::Compact) -> Ask<'_> {
    let custom = ask.custom_instruction.as_deref().map(str::trim);
    Ask {
        trigger: Trigger::Manual,
        level: 0,
        custom: custom.filter(|custom| !custom.is_empty()),
        from: ask.from.map(Seq),
        up_to: ask.up_to.map(Seq),
        whole: ask.from.is_none() && ask.up_to.is_none(),
    }
}

/// The error of a compaction that a policy refuses.
pub(super) fn refused(refusal: &Refusal) -> Error {
    Error::new(ErrorKind::Rejected, refusal.to_string())
        .with_next("nothing was changed; `explain` says what the prompt is made of")
}

/// The error of a compaction that the host's hook forbids.
fn vetoed(why: &str) -> Error {
    Error::new(
        ErrorKind::Rejected,
        format!("the host's hook forbids it: {why}"),
    )
}

/// The words that a plan which gives way is abandoned with.
const SUPERSEDED: &str = "superseded";

/// The plan that waits gives way to what is planned behind it.
pub(super) fn ahead(pending: Option<&Pending>, now: Millis) -> Vec<Event> {
    pending
        .map(|pending| abandon(now, &pending.plan, pending.gives_way(SUPERSEDED)))
        .into_iter()
        .collect()
}

fn planned(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Compact,
    now: Millis,
    key: Option<Key>,
) -> Result<api::Compacted, Error> {
    let head = at_head(&ask.session);
    let (plan, seen, nobody) = with(dir, held, &head, now, |_, at| {
        let plan = compact::plan(at, &wish(ask)).map_err(|refusal| refused(&refusal))?;
        let seen = plan_seen(at, &ask.session, &plan);
        let nobody = asks_nobody(at, &plan);
        Ok((plan, seen, nobody))
    })?;
    if nobody {
        return at_once(dir, held, ask, now, key);
    }
    let pending = Pending::of(&dir.live(held)?.core);
    if let Some(same) = pending
        .as_ref()
        .filter(|pending| asks_the_same(&pending.plan, &plan))
    {
        return answer(dir, held, same, seen.tokens, &ask.form);
    }
    if let Some(why) = dir.options.hooks.refuses(&seen) {
        return Err(vetoed(&why));
    }
    let step = with(dir, held, &head, now, |core, at| {
        let ahead = ahead(Pending::unended(core).as_ref(), now);
        plan_step(dir, core, at, &ahead, &plan)
    })?;
    write(dir, held, step, key)?;
    let made = waits(dir, held)?;
    answer(dir, held, &made, seen.tokens, &ask.form)
}

/// A plan behind what it takes the place of, in one batch.
pub(super) fn plan_step(
    dir: &Directory,
    core: &Core,
    at: &Situation<'_>,
    ahead: &[Event],
    plan: &CompactPlan,
) -> Result<Step, Error> {
    let behind = step(dir, core, at.now, ahead)?;
    let behind = Situation {
        state: &behind.decision.state,
        ..*at
    };
    let events = [ahead, &plan_events(&behind, plan)].concat();
    step(dir, core, at.now, &events)
}

/// The compaction that was just planned.
pub(super) fn waits(dir: &Directory, held: &mut Held<'_>) -> Result<Pending, Error> {
    Pending::of(&dir.live(held)?.core).ok_or_else(|| {
        Error::new(
            ErrorKind::NotFound,
            "the compaction is not pending any more",
        )
    })
}

/// A plan, and the words that stand for pieces which no request holds. `at`: just before it.
pub(super) fn plan_events(at: &Situation<'_>, plan: &CompactPlan) -> Vec<Event> {
    let planned = own(at.now, Body::CompactPlan(plan.clone()));
    let said = compact::unasked(at, plan).into_iter();
    let said = said.map(|chunk| own(at.now, Body::CompactChunk(chunk)));
    std::iter::once(planned).chain(said).collect()
}

/// No request holds any of its pieces: nobody would ever answer it.
pub(super) fn asks_nobody(at: &Situation<'_>, plan: &CompactPlan) -> bool {
    let mut pieces = plan.chunks.iter();
    pieces.all(|range| compact::is_oversized(at, plan, *range))
}

/// Two plans ask a model for the same.
fn asks_the_same(one: &CompactPlan, other: &CompactPlan) -> bool {
    let words = |plan: &CompactPlan| {
        let instruction = plan.instruction.as_ref()?.words()?;
        Some(instruction.into_owned())
    };
    one.range == other.range
        && one.trigger == other.trigger
        && one.level == other.level
        && one.chunks == other.chunks
        && words(one) == words(other)
}

fn answer(
    dir: &Directory,
    held: &mut Held<'_>,
    pending: &Pending,
    before: u64,
    form: &api::As,
) -> Result<api::Compacted, Error> {
    Ok(api::Compacted {
        compaction: pending.id(),
        outcome: "planned".to_owned(),
        requests: requests::open(dir, held, pending, form)?,
        before,
        after: None,
        head: dir.live(held)?.core.head().unwrap_or_default().0,
    })
}

fn at_once(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Compact,
    now: Millis,
    key: Option<Key>,
) -> Result<api::Compacted, Error> {
    let head = at_head(&ask.session);
    let (seen, proposed) = with(dir, held, &head, now, |core, at| {
        let pending = Pending::unended(core);
        let ahead = ahead(pending.as_ref(), now);
        let mut refusal = None;
        let weighed = weigh(dir, core, at, &ahead, |at| {
            compact::by_rule(at, &wish(ask)).unwrap_or_else(|why| {
                refusal = Some(why);
                recount_policies::Proposal::default()
            })
        })?;
        match refusal {
            Some(refusal) => Err(refused(&refusal)),
            None => Ok((by_hand(at, &ask.session, &weighed), weighed)),
        }
    })?;
    let made = match proposed {
        Weighed::Shrinks(made) => *made,
        Weighed::Grows => return Err(does_not_shrink()),
        Weighed::Unfit(why) => return Err(Error::new(ErrorKind::Rejected, why)),
    };
    if let Some(why) = seen.and_then(|seen| dir.options.hooks.refuses(&seen)) {
        return Err(vetoed(&why));
    }
    let seen = commit(dir, held, made, now, key)?;
    Ok(api::Compacted {
        compaction: seen.compaction,
        outcome: "committed".to_owned(),
        requests: Vec::new(),
        before: seen.before,
        after: Some(seen.after),
        head: dir.live(held)?.core.head().unwrap_or_default().0,
    })
}

/// What the hooks see of a compaction without a model.
fn by_hand(at: &Situation<'_>, session: &str, weighed: &Weighed) -> Option<PlanSeen> {
    let Weighed::Shrinks(made) = weighed else {
        return None;
    };
    Some(PlanSeen {
        session: session.to_owned(),
        trigger: made.seen.trigger,
        level: 0,
        first: made.seen.first,
        last: made.seen.last,
        chunks: 0,
        tokens: at.fill.total,
    })
}

/// The error of a summary that is not smaller than what it stands for.
fn does_not_shrink() -> Error {
    Error::new(
        ErrorKind::Rejected,
        "the summary is not smaller than what it hides",
    )
    .with_next("nothing was changed; there is too little to sum up")
}

/// The first answer again, as far as it still stands.
fn repeated(
    dir: &Directory,
    held: &mut Held<'_>,
    repeat: Repeat,
    form: &api::As,
) -> Result<api::Compacted, Error> {
    synced(dir, held.slot.stream, repeat)?;
    let core = &dir.live(held)?.core;
    let head = core.head().unwrap_or_default().0;
    let events = (repeat.first.0..=repeat.last.0).filter_map(|seq| core.event(Seq(seq)));
    let mut answer = api::Compacted {
        compaction: String::new(),
        outcome: "planned".to_owned(),
        requests: Vec::new(),
        before: 0,
        after: None,
        head,
    };
    for logged in events {
        match &logged.event.body {
            Body::CompactPlan(plan) => answer.compaction = name(Some(&plan.id)),
            Body::CompactCommit(commit) => {
                answer.compaction = name(commit.id.as_ref());
                "committed".clone_into(&mut answer.outcome);
                answer.before = commit.before.unwrap_or(0);
                answer.after = commit.after;
            }
            _ => {}
        }
    }
    let pending = Pending::of(core).filter(|pending| pending.id() == answer.compaction);
    if let Some(pending) = pending {
        answer.requests = requests::open(dir, held, &pending, form)?;
    }
    Ok(answer)
}

/// The words of a name.
pub(super) fn name(id: Option<&Text>) -> String {
    id.and_then(Text::words)
        .map_or_else(String::new, |id| id.into_owned())
}

/// A step of nothing but events.
pub(super) fn plain(
    dir: &Directory,
    held: &mut Held<'_>,
    now: Millis,
    events: &[Event],
) -> Result<Step, Error> {
    dir.ask(held, |live| step(dir, &live.core, now, events))
}
