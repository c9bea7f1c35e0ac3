//! A model's answer to a request of a compaction, or its error.
//!
//! - A chunk, and with the last one the commit, is one batch: a crash leaves the compaction waiting or done, never in between.
//! - What is no summary enters nothing. One such answer a chunk may be tried again; that it was is in the log.
//! - A request that was itself too long is planned again in smaller chunks, then given up for a compaction without a model.
//! - An answer to a plan that is not there is void, which is no error: whoever asked the model could not know.

use super::compact::{asks_nobody, name, plain, plan_events, waits};
use super::ground::{Commit, Weighed, abandon, at_head, commit, own, step, weigh, with, write};
use super::requests::Pending;
use super::said::Refused;
use super::standing::{GROWS, failures, repeated, standing, tried_again, void};
use crate::core::{Core, Key};
use crate::host::directory::{Directory, Held};
use crate::host::engine::Engine;
use crate::host::write::check_expect;
use crate::{Error, ErrorKind, api};
use recount_events::raw::members;
use recount_events::{
    Body, Breaker, BreakerState, CompactChunk, Event, Maker, Millis, Text, Trigger,
};
use recount_policies::compact::{self, Ask};
use recount_policies::{Proposal, Situation};
use serde_json::value::RawValue;

/// The breaker that remembers which chunks were asked for again; its value is the chunk.
const ANSWER: &str = "answer";
/// Why a plan ends whose request no window holds.
const TOO_LONG: &str = "the request was too long";

/// One answer on its way in.
struct Turn<'a> {
    dir: &'a Directory,
    ask: &'a api::Summarised,
    now: Millis,
    key: Option<Key>,
    usage: Option<Event>,
    pending: Pending,
}

impl Engine {
    /// Takes a model's answer to a request of a compaction, or its error. With the last one the compaction is committed, if that makes the
    /// prompt smaller.
    ///
    /// # Errors
    /// `invalid` without text or error, or for a chunk that was not asked for; `rejected` for a second answer that differs from the first;
    /// else as [`Engine::append`]. An answer to a compaction that is not pending is no error: its outcome is `rejected`.
    #[tracing::instrument(level = "debug", skip_all)]
    pub fn summarised(&self, ask: &api::Summarised) -> Result<api::SummarisedAnswer, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let key = ask.key.as_ref().map(|key| summarised_key(dir, key, ask));
        let live = dir.live(&mut held)?;
        if let Some(repeat) = live.done_before(key)? {
            return repeated(dir, &mut held, ask, repeat);
        }
        check_expect(live, ask.expect)?;
        take(dir, &mut held, ask, key)
    }
}

/// Takes an answer in a session that is held.
pub(super) fn take(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Summarised,
    key: Option<Key>,
) -> Result<api::SummarisedAnswer, Error> {
    let now = ask.now.map_or_else(|| dir.options.clock.now(), Millis);
    let usage = usage(ask, now)?;
    let error = ask.error.as_deref().map(Refused::read).transpose()?;
    if ask.text.is_some() == error.is_some() {
        return Err(
            Error::invalid("one of text and error is needed, and only one").with_field("text"),
        );
    }
    let core = &dir.live(held)?.core;
    let pending = Pending::of(core).filter(|pending| pending.id() == ask.compaction);
    let Some(pending) = pending else {
        return void(dir, held, ask, now, (key, usage));
    };
    asked_for(&pending, ask.chunk)?;
    let turn = Turn {
        dir,
        ask,
        now,
        key,
        usage,
        pending,
    };
    match error {
        Some(error) if error.verdict().excess.is_some() => turn.too_long(held),
        Some(error) => turn.fault(held, &format!("the call failed: {}", error.words), true),
        None => turn.text(held, ask.text.as_deref().unwrap_or_default()),
    }
}

fn asked_for(pending: &Pending, chunk: u32) -> Result<(), Error> {
    let all = pending.plan.chunks.len();
    if usize::try_from(chunk).is_ok_and(|chunk| chunk < all) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the compaction has no such chunk; chunk={chunk} chunks={all}"
    ))
    .with_field("chunk"))
}

fn summarised_key(dir: &Directory, key: &str, ask: &api::Summarised) -> Key {
    let raw = |raw: Option<&RawValue>| raw.map_or("", RawValue::get).to_owned();
    let (error, usage) = (raw(ask.error.as_deref()), raw(ask.usage.as_deref()));
    let parts = [
        b"summarised".as_slice(),
        ask.compaction.as_bytes(),
        &ask.chunk.to_le_bytes(),
        ask.text.as_deref().unwrap_or_default().as_bytes(),
        error.as_bytes(),
        ask.stop.as_deref().unwrap_or_default().as_bytes(),
        usage.as_bytes(),
    ];
    Key::new(&dir.key, key, parts)
}

/// What the call cost, as an event of its own: the meter leaves it alone, the totals count it.
fn usage(ask: &api::Summarised, now: Millis) -> Result<Option<Event>, Error> {
    let Some(raw) = ask.usage.as_deref().filter(|raw| raw.get() != "null") else {
        return Ok(None);
    };
    let given = members(raw.get())
        .ok_or_else(|| Error::invalid("usage is no object").with_field("usage"))?;
    let own = ["type", "compaction", "at"];
    let given = given.filter(|member| !own.contains(&&*member.key()));
    let given: Vec<String> = given
        .map(|member| format!(",{}:{}", member.token, member.value))
        .collect();
    let compaction = serde_json::to_string(&ask.compaction).unwrap_or_default();
    let json = format!(
        r#"{{"type":"usage","compaction":{compaction}{}}}"#,
        given.concat()
    );
    Event::from_json(&json, now)
        .map(Some)
        .map_err(|refusal| crate::host::append::unfit(&refusal).with_field("usage"))
}

impl Turn<'_> {
    /// What the model wrote.
    fn text(self, held: &mut Held<'_>, text: &str) -> Result<api::SummarisedAnswer, Error> {
        let stop = self.ask.stop.as_deref();
        let summary = match compact::answer(&self.pending.plan, text, stop) {
            Ok(summary) => summary,
            Err(fault) => return self.fault(held, fault.why, fault.retry),
        };
        let known = self.pending.done.iter();
        let known = known
            .filter(|(chunk, _)| *chunk == self.ask.chunk)
            .map(|(_, text)| name(Some(text)))
            .next();
        match known {
            Some(known) if known == summary => self.answer(held, "next", None, None),
            Some(_) => Err(Error::new(
                ErrorKind::Rejected,
                format!(
                    "the chunk is summarised already, in other words; chunk={}",
                    self.ask.chunk
                ),
            )),
            None => self.entered(held, &summary),
        }
    }

    /// A summary enters; the last one commits.
    fn entered(self, held: &mut Held<'_>, summary: &str) -> Result<api::SummarisedAnswer, Error> {
        let chunk = CompactChunk {
            id: Text::plain(&self.ask.compaction),
            chunk: self.ask.chunk,
            text: Text::plain(summary),
        };
        let mut ahead = self.spent();
        ahead.push(own(self.now, Body::CompactChunk(chunk)));
        if self
            .pending
            .open()
            .iter()
            .any(|open| *open != self.ask.chunk)
        {
            let step = plain(self.dir, held, self.now, &ahead)?;
            write(self.dir, held, step, self.key)?;
            return self.answer(held, "next", None, None);
        }
        let mut texts = self.pending.done.clone();
        texts.push((self.ask.chunk, Text::plain(summary)));
        texts.sort_by_key(|(chunk, _)| *chunk);
        let texts: Vec<String> = texts.iter().map(|(_, text)| name(Some(text))).collect();
        let millis = self.now.0.saturating_sub(self.pending.at);
        let weighed = self.look(held, |core, at| {
            weigh(self.dir, core, at, &ahead, |at| {
                compact::commit(at, &self.pending.plan, &texts, Maker::Model, millis)
            })
        })?;
        match weighed {
            Weighed::Shrinks(made) => self.commit(held, *made, "committed", None),
            Weighed::Grows => self.give_up(held, GROWS, "rejected"),
            Weighed::Unfit(why) => self.give_up(held, &why, "rejected"),
        }
    }

    /// The call ended in something that is no summary.
    fn fault(
        self,
        held: &mut Held<'_>,
        why: &str,
        helps: bool,
    ) -> Result<api::SummarisedAnswer, Error> {
        let again = helps && {
            let core = &self.dir.live(held)?.core;
            !tried_again(core, &self.pending, ANSWER, self.ask.chunk)
        };
        if again {
            let mut events = self.spent();
            let counts = Breaker {
                name: ANSWER.to_owned(),
                state: BreakerState::Counts,
                value: u64::from(self.ask.chunk),
            };
            events.push(own(self.now, Body::Breaker(counts)));
            let step = plain(self.dir, held, self.now, &events)?;
            write(self.dir, held, step, self.key)?;
            return self.answer(held, "retry", Some(why.to_owned()), None);
        }
        if self.pending.plan.trigger == Trigger::Overflow {
            return self.without_model(held, why, true);
        }
        self.give_up(held, why, "abandoned")
    }

    /// The request itself was too long: smaller chunks, as often as the policy allows, then no model.
    fn too_long(self, held: &mut Held<'_>) -> Result<api::SummarisedAnswer, Error> {
        let mut ahead = self.spent();
        ahead.push(abandon(self.now, &self.pending.plan, TOO_LONG));
        let planned = self.look(held, |core, at| {
            if u64::from(self.pending.plan.level) >= at.constants.compact.retries {
                return Ok(None);
            }
            let trial = step(self.dir, core, self.now, &ahead)?;
            let behind = Situation {
                state: &trial.decision.state,
                ..*at
            };
            let plan = compact::again(&behind, &self.pending.plan).ok();
            let Some(plan) = plan.filter(|plan| !asks_nobody(&behind, plan)) else {
                return Ok(None);
            };
            let events = [ahead.clone(), plan_events(&behind, &plan)].concat();
            step(self.dir, core, self.now, &events).map(Some)
        })?;
        let Some(planned) = planned else {
            return self.without_model(held, TOO_LONG, false);
        };
        write(self.dir, held, planned, self.key)?;
        let pending = waits(self.dir, held)?;
        let why = Some(format!("{TOO_LONG}; it is planned again in smaller chunks"));
        Turn { pending, ..self }.answer(held, "retry", why, None)
    }

    /// A compaction without a model in the place of this one; given up where that does not help either.
    fn without_model(
        self,
        held: &mut Held<'_>,
        why: &str,
        counts: bool,
    ) -> Result<api::SummarisedAnswer, Error> {
        let weighed = self.look(held, |core, at| {
            let mut ahead = self.spent();
            if counts {
                ahead.extend(failures(at));
            }
            ahead.push(abandon(self.now, &self.pending.plan, why));
            let wish = Ask {
                trigger: self.pending.plan.trigger,
                level: 0,
                custom: None,
                from: None,
                up_to: None,
                whole: self.pending.plan.trigger == Trigger::Manual,
            };
            weigh(self.dir, core, at, &ahead, |at| {
                compact::by_rule(at, &wish).unwrap_or_else(|_| Proposal::default())
            })
        })?;
        match weighed {
            Weighed::Shrinks(made) => self.commit(held, *made, "model_free", Some(why.to_owned())),
            Weighed::Grows | Weighed::Unfit(_) => self.give_up(held, why, "abandoned"),
        }
    }

    fn commit(
        self,
        held: &mut Held<'_>,
        made: Commit,
        outcome: &str,
        why: Option<String>,
    ) -> Result<api::SummarisedAnswer, Error> {
        let seen = commit(self.dir, held, made, self.now, self.key)?;
        let mut answer = self.answer(held, outcome, why, Some(seen.after))?;
        answer.before = seen.before;
        answer.compaction = Some(seen.compaction);
        Ok(answer)
    }

    /// Nothing of it enters; the failure is counted.
    fn give_up(
        self,
        held: &mut Held<'_>,
        why: &str,
        outcome: &str,
    ) -> Result<api::SummarisedAnswer, Error> {
        let step = self.look(held, |core, at| {
            let mut events = self.spent();
            events.push(abandon(self.now, &self.pending.plan, why));
            events.extend(failures(at));
            step(self.dir, core, self.now, &events)
        })?;
        write(self.dir, held, step, self.key)?;
        self.answer(held, outcome, Some(why.to_owned()), None)
    }

    fn spent(&self) -> Vec<Event> {
        self.usage.iter().cloned().collect()
    }

    fn look<T>(
        &self,
        held: &mut Held<'_>,
        question: impl FnMut(&Core, &Situation<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let head = at_head(&self.ask.session);
        with(self.dir, held, &head, self.now, question)
    }

    fn answer(
        &self,
        held: &mut Held<'_>,
        outcome: &str,
        why: Option<String>,
        after: Option<u64>,
    ) -> Result<api::SummarisedAnswer, Error> {
        let mut answer = standing(self.dir, held, &self.ask.session, &self.ask.form)?;
        if answer.compaction.is_none() {
            answer.compaction = Some(self.ask.compaction.clone());
        }
        outcome.clone_into(&mut answer.outcome);
        answer.why = why;
        answer.after = after;
        Ok(answer)
    }
}
