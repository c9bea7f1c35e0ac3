//! A provider refused a prompt for its size.
//!
//! - What it says becomes an event; then one step after the other until the model answers: what the preset has against it (of the five tiers,
//!   each once: what is staged is committed, a model is asked for a summary, a summary is made without one), levels without a model, and at
//!   last the error surfaces.
//! - Which steps were taken is in the log: a restart goes on with the next one.
//! - What is not about size (rate limits, say) is the host's own business: nothing is logged.

use super::cascade::{Tried, excess_name};
use super::compact::{ahead, asks_nobody, plan_step, waits};
use super::ground::{Weighed, abandon, commit, own, plan_seen, weigh, with, write};
use super::requests::{self, Pending};
use super::said::Refused;
use super::shorter::Sent;
use super::{compact, log, with_files};
use crate::core::{Core, Key, trigger};
use crate::host::ask::digest;
use crate::host::directory::{Directory, Held};
use crate::host::engine::Engine;
use crate::host::hooks::PlanSeen;
use crate::host::look::look;
use crate::host::prepare;
use crate::host::write::{check_expect, synced};
use crate::{Error, ErrorKind, api};
use recount_events::{
    Body, Digest, Excess, Millis, Overflow, Profile, Seq, SessionKind, Text, Trigger,
};
use recount_policies::compact::Ask;
use recount_policies::overflow::Verdict;
use recount_policies::{Proposal, Remedy, Situation, budget, collapse, overflow};
use recount_projections::Outcome;
use recount_wal::Class;
use serde_json::value::RawValue;

/// One refusal on its way through the cascade.
struct Cascade<'a> {
    dir: &'a Directory,
    ask: &'a api::Overflowed,
    now: Millis,
    verdict: Verdict,
    excess: Excess,
    sent: Sent,
    tried: Tried,
    tiers: Vec<api::TierReport>,
    /// What the prompt came to that was tried last and does not fit.
    impossible: Option<api::Impossible>,
}

impl Engine {
    /// A provider refused a prompt for its size: what to do next.
    ///
    /// # Errors
    /// `invalid` without the provider's words; `not_found` for a prompt that was never issued; else as [`Engine::prepare`].
    #[tracing::instrument(level = "debug", skip_all)]
    pub fn overflowed(&self, ask: &api::Overflowed) -> Result<api::OverflowAnswer, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let error = ask.error.as_deref().ok_or_else(|| {
            Error::invalid("the provider's words are missing")
                .with_field("error")
                .with_next("give error: a string, or {status?, code?, body}")
        })?;
        let said = Refused::read(error)?;
        let key = ask.key.as_ref().map(|key| overflow_key(dir, key, ask));
        let live = dir.live(&mut held)?;
        let repeat = live.done_before(key)?;
        if repeat.is_none() {
            check_expect(live, ask.expect)?;
        }
        let now = ask.now.map_or_else(|| dir.options.clock.now(), Millis);
        let verdict = said.verdict();
        let Some(excess) = verdict.excess else {
            return not_for_size(dir, &mut held);
        };
        let mut cascade = Cascade {
            dir,
            ask,
            now,
            verdict,
            excess,
            sent: Sent::default(),
            tried: Tried::default(),
            tiers: Vec::new(),
            impossible: None,
        };
        match repeat {
            Some(repeat) => {
                synced(dir, slot.stream, repeat)?;
                if let Some(answer) = cascade.again(&mut held, repeat.last)? {
                    return Ok(answer);
                }
            }
            None => cascade.note(&mut held, &said, key)?,
        }
        cascade.run(&mut held)
    }
}

fn overflow_key(dir: &Directory, key: &str, ask: &api::Overflowed) -> Key {
    let error = ask.error.as_deref().map_or("", RawValue::get);
    let issued = ask.issued.as_deref().unwrap_or_default();
    let parts = [
        b"overflowed".as_slice(),
        error.as_bytes(),
        issued.as_bytes(),
    ];
    Key::new(&dir.key, key, parts)
}

/// What was tried since the last answer.
fn tried(dir: &Directory, held: &mut Held<'_>) -> Result<Tried, Error> {
    dir.ask(held, |live| Ok(Tried::of(&live.core)))
}

/// The words are about something else: the host handles them as it does without us.
fn not_for_size(dir: &Directory, held: &mut Held<'_>) -> Result<api::OverflowAnswer, Error> {
    let level = tried(dir, held)?.level;
    let core = &dir.live(held)?.core;
    Ok(api::OverflowAnswer {
        outcome: "surface".to_owned(),
        run_stop_hooks: true,
        refused_for: "none".to_owned(),
        actual: None,
        limit: None,
        level,
        tiers: Vec::new(),
        retry: None,
        compaction: None,
        requests: Vec::new(),
        why: Some("the provider's words are not about the size of the prompt".to_owned()),
        head: core.head().unwrap_or_default().0,
    })
}

impl Cascade<'_> {
    /// Logs the refusal.
    fn note(&mut self, held: &mut Held<'_>, said: &Refused, key: Option<Key>) -> Result<(), Error> {
        let named = self.ask.issued.as_deref().map(digest).transpose();
        let named = named.map_err(|error| error.with_field("issued"))?;
        let core = &self.dir.live(held)?.core;
        let ledger = core.state.ledger();
        if named.is_some_and(|named| !ledger.issued.contains_key(&named)) {
            return Err(
                Error::new(ErrorKind::NotFound, "no such prompt was issued").with_field("issued")
            );
        }
        let newest = || ledger.issues.iter().next_back().map(|(_, digest)| *digest);
        let issued: Option<Digest> = named.or_else(newest);
        self.sent = Sent::with(core, issued);
        if self.excess == Excess::Tokens {
            self.verdict = self.sent.alone(&self.verdict);
        }
        let event = own(
            self.now,
            Body::Overflow(Overflow {
                error: Text::plain(&said.words),
                actual: self.verdict.actual,
                limit: self.verdict.limit,
                kind: self.excess,
                issued,
            }),
        );
        let step = compact::plain(self.dir, held, self.now, &[event])?;
        write(self.dir, held, step, key).map(|_| ())
    }

    /// What was answered under the same key, if it came to an answer.
    fn again(
        &mut self,
        held: &mut Held<'_>,
        refusal: Seq,
    ) -> Result<Option<api::OverflowAnswer>, Error> {
        self.tried = tried(self.dir, held)?;
        let core = &self.dir.live(held)?.core;
        if let Some(Body::Overflow(said)) =
            core.event(refusal).map(|logged| logged.event.body.clone())
        {
            self.sent = Sent::with(core, said.issued);
            self.verdict.actual = said.actual;
        }
        let issued = core.state.ledger().issues.range(refusal..).next();
        if let Some((issued, _)) = issued {
            let issued = *issued;
            let (prepared, _) = prepare::repeated(self.dir, held, &self.prepare(), issued)?;
            return self.retry(held, prepared).map(Some);
        }
        match Pending::of(core).filter(|pending| pending.seq > refusal) {
            Some(pending) => self.summarise(held, &pending).map(Some),
            None => Ok(None),
        }
    }

    fn run(mut self, held: &mut Held<'_>) -> Result<api::OverflowAnswer, Error> {
        self.tried = tried(self.dir, held)?;
        if let Some(answer) = self.shorter(held)? {
            return Ok(answer);
        }
        let (allowed, side) = self.look(held, |_, at| {
            Ok((at.auto || at.reactive, at.kind == SessionKind::Side))
        })?;
        if !allowed {
            return self.attached(held);
        }
        if self.excess != Excess::Tokens
            && let Some(answer) = self.budget(held)?
        {
            return Ok(answer);
        }
        if !side {
            for remedy in self.dir.live(held)?.core.ways().remedies {
                if let Some(answer) = self.remedy(held, *remedy)? {
                    return Ok(answer);
                }
            }
        }
        if let Some(answer) = self.levels(held)? {
            return Ok(answer);
        }
        self.exhausted(held)
    }

    fn remedy(
        &mut self,
        held: &mut Held<'_>,
        remedy: Remedy,
    ) -> Result<Option<api::OverflowAnswer>, Error> {
        match remedy {
            Remedy::Drain => self.drain(held),
            Remedy::Plan => self.plan(held),
            Remedy::ByRule => self.by_rule(held),
            Remedy::Propose(tier, propose) => {
                let refusals = self.tried.refusals;
                let proposal = self.look(held, |_, at| Ok(propose(at, refusals)))?;
                self.take(held, tier.name(), &proposal)
            }
        }
    }

    /// The prompt fits, but for the answer that was asked for: the same prompt with a shorter one, which takes nothing from anybody.
    fn shorter(&mut self, held: &mut Held<'_>) -> Result<Option<api::OverflowAnswer>, Error> {
        if self.excess != Excess::Tokens || self.tried.shorter || !self.verdict.counts_the_answer()
        {
            return Ok(None);
        }
        let (least, sent) = (self.sent.least(), self.verdict.answer);
        let (_, measured) = look(self.dir, held, &self.prepare())?;
        let again = &measured.projection;
        let fits = again.outcome == Outcome::Ready && again.max_tokens >= least;
        if !fits || sent.is_some_and(|sent| again.max_tokens >= sent) {
            return Ok(None);
        }
        self.ready(held)
    }

    /// Bytes and pictures: results are spilled for them first.
    fn budget(&mut self, held: &mut Held<'_>) -> Result<Option<api::OverflowAnswer>, Error> {
        if self.tried.budget {
            return Ok(None);
        }
        let (verdict, excess) = (self.verdict, self.excess);
        let proposal = with_files(self.dir, held, |held, files| {
            self.look(held, |_, at| {
                let profile = tightened(at, &verdict, excess);
                Ok(budget::propose(&Situation {
                    profile: &profile,
                    spill: at.spill.filter(|_| files),
                    ..*at
                }))
            })
        })?;
        self.take(held, "budget", &proposal)
    }

    fn drain(&mut self, held: &mut Held<'_>) -> Result<Option<api::OverflowAnswer>, Error> {
        if self.tried.drained {
            return Ok(None);
        }
        let proposal = self.look(held, |_, at| Ok(collapse::drain(at)))?;
        self.take(held, "collapse", &proposal)
    }

    /// A model is asked for a summary; one that is asked already will do.
    fn plan(&mut self, held: &mut Held<'_>) -> Result<Option<api::OverflowAnswer>, Error> {
        if self.tried.planned || self.tried.by_rule || self.tried.level > 0 {
            return Ok(None);
        }
        if let Some(pending) = Pending::of(&self.dir.live(held)?.core) {
            return self.summarise(held, &pending).map(Some);
        }
        let wish = wish();
        let planned = self.look(held, |_, at| {
            let plan = recount_policies::compact::plan(at, &wish).ok();
            let plan = plan.filter(|plan| !asks_nobody(at, plan));
            Ok(plan.map(|plan| (plan_seen(at, &self.ask.session, &plan), plan)))
        })?;
        let Some((seen, plan)) = planned else {
            return Ok(None);
        };
        if let Some(why) = self.dir.options.hooks.refuses(&seen) {
            let why = format!("the host's hook forbids a compaction: {why}");
            return self.surface(held, why).map(Some);
        }
        let step = self.look(held, |core, at| {
            let ahead = ahead(Pending::unended(core).as_ref(), self.now);
            plan_step(self.dir, core, at, &ahead, &plan)
        })?;
        let event = write(self.dir, held, step, None)?;
        let pending = waits(self.dir, held)?;
        self.tiers.push(api::TierReport {
            tier: "compact".to_owned(),
            did: "asks a model for a summary".to_owned(),
            freed: 0,
            events: vec![event.0],
        });
        self.summarise(held, &pending).map(Some)
    }

    /// A summary without a model, in the place of one that did not come.
    fn by_rule(&mut self, held: &mut Held<'_>) -> Result<Option<api::OverflowAnswer>, Error> {
        if self.tried.by_rule || self.tried.level > 0 {
            return Ok(None);
        }
        let wish = wish();
        let weighed = self.look(held, |core, at| {
            let pending = Pending::unended(core);
            let why = "refused again without an answer";
            let ahead: Vec<_> = pending
                .map(|pending| abandon(self.now, &pending.plan, pending.gives_way(why)))
                .into_iter()
                .collect();
            weigh(self.dir, core, at, &ahead, |at| {
                recount_policies::compact::by_rule(at, &wish)
                    .unwrap_or_else(|_| Proposal::default())
            })
        })?;
        let Weighed::Shrinks(made) = weighed else {
            return Ok(None);
        };
        let seen = PlanSeen {
            session: self.ask.session.clone(),
            trigger: trigger(Trigger::Overflow),
            level: 0,
            first: made.seen.first,
            last: made.seen.last,
            chunks: 0,
            tokens: made.seen.before,
        };
        if let Some(why) = self.dir.options.hooks.refuses(&seen) {
            let why = format!("the host's hook forbids a compaction: {why}");
            return self.surface(held, why).map(Some);
        }
        let seen = commit(self.dir, held, *made, self.now, None)?;
        self.tiers.push(api::TierReport {
            tier: "compact".to_owned(),
            did: "a summary without a model".to_owned(),
            freed: seen.before.saturating_sub(seen.after),
            events: vec![seen.event],
        });
        self.ready(held)
    }

    /// Levels without a model, from the one that the excess asks for.
    fn levels(&mut self, held: &mut Held<'_>) -> Result<Option<api::OverflowAnswer>, Error> {
        let excess = match (self.excess, self.verdict.actual, self.verdict.limit) {
            (Excess::Tokens, Some(actual), Some(limit)) => {
                let answer = self.verdict.counts_the_answer();
                let answer = if answer { self.sent.least() } else { 0 };
                Some(actual.saturating_add(answer).saturating_sub(limit))
            }
            _ => None,
        };
        loop {
            let reached = self.tried.level;
            let proposal = self.look(held, |_, at| {
                let level = overflow::wanted(at, excess, reached);
                Ok(level.map(|level| (level, overflow::level(at, level))))
            })?;
            let Some((level, proposal)) = proposal else {
                return Ok(None);
            };
            self.tried.level = level;
            if let Some(answer) = self.take(held, "overflow", &proposal)? {
                return Ok(Some(answer));
            }
        }
    }

    /// Nothing more can be taken out.
    fn exhausted(&mut self, held: &mut Held<'_>) -> Result<api::OverflowAnswer, Error> {
        let (left, window) = self.look(held, |_, at| Ok((at.fill.total, at.profile.window)))?;
        let why = match &self.impossible {
            Some(impossible) => format!(
                "the prompt does not fit whatever is taken out; needs={} limit={} unit={}",
                impossible.floor, impossible.limit, impossible.unit
            ),
            None => format!(
                "everything that can be taken out without a model is out; left={left} limit={} unit=tokens",
                self.verdict.limit.unwrap_or(window)
            ),
        };
        self.surface(held, why)
    }

    /// Nothing may be changed without being asked: the plan that would help is attached.
    fn attached(&mut self, held: &mut Held<'_>) -> Result<api::OverflowAnswer, Error> {
        let wish = wish();
        let plan = self.look(held, |_, at| {
            Ok(recount_policies::compact::plan(at, &wish).ok())
        })?;
        let requests = match &plan {
            Some(plan) => requests::proposed(self.dir, held, plan, &self.ask.form)?,
            None => Vec::new(),
        };
        let mut answer = self.surface(
            held,
            "auto and reactive are off: nothing is compacted unless it is asked for by `compact`"
                .to_owned(),
        )?;
        answer.requests = requests;
        Ok(answer)
    }

    /// Logs a step and prepares again; none where nothing changed or the prompt still cannot be sent.
    fn take(
        &mut self,
        held: &mut Held<'_>,
        tier: &str,
        proposal: &Proposal,
    ) -> Result<Option<api::OverflowAnswer>, Error> {
        let events = match log(self.dir, held, proposal, self.now, Class::Synced) {
            Err(error) if error.kind() == ErrorKind::Rejected => {
                tracing::error!(tier, %error, "a tier proposed what does not fit");
                return Ok(None);
            }
            logged => logged?,
        };
        if events.is_empty() {
            return Ok(None);
        }
        self.tiers.push(api::TierReport {
            tier: tier.to_owned(),
            did: proposal.did.clone(),
            freed: proposal.freed,
            events,
        });
        self.ready(held)
    }

    /// The prompt to send instead, if there is one.
    fn ready(&mut self, held: &mut Held<'_>) -> Result<Option<api::OverflowAnswer>, Error> {
        let ask = self.prepare();
        let (prepared, _) = prepare::prepared_held(self.dir, held, &ask, self.now, None)?;
        if prepared.prompt.outcome == api::Outcome::Ready {
            return self.retry(held, prepared).map(Some);
        }
        self.impossible = prepared.prompt.impossible;
        Ok(None)
    }

    fn prepare(&self) -> api::Prepare {
        api::Prepare {
            session: self.ask.session.clone(),
            now: Some(self.now.0),
            profile: self.ask.profile.clone(),
            params: self.ask.params.clone(),
            form: self.ask.form.clone(),
            ..api::Prepare::default()
        }
    }

    fn look<T>(
        &self,
        held: &mut Held<'_>,
        question: impl FnMut(&Core, &Situation<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let ask = api::Prepare {
            heal: true,
            ..self.prepare()
        };
        with(self.dir, held, &ask, self.now, question)
    }

    fn answer(&self, held: &mut Held<'_>, outcome: &str) -> Result<api::OverflowAnswer, Error> {
        Ok(api::OverflowAnswer {
            outcome: outcome.to_owned(),
            run_stop_hooks: false,
            refused_for: excess_name(self.excess).to_owned(),
            actual: self.verdict.actual,
            limit: self.verdict.limit,
            level: self.tried.level,
            tiers: self.tiers.clone(),
            retry: None,
            compaction: None,
            requests: Vec::new(),
            why: None,
            head: self.dir.live(held)?.core.head().unwrap_or_default().0,
        })
    }

    fn retry(
        &self,
        held: &mut Held<'_>,
        prepared: api::Prepared,
    ) -> Result<api::OverflowAnswer, Error> {
        let mut answer = self.answer(held, "retry")?;
        answer.tiers.extend(prepared.tiers.iter().cloned());
        answer.retry = Some(Box::new(prepared));
        Ok(answer)
    }

    fn summarise(
        &self,
        held: &mut Held<'_>,
        pending: &Pending,
    ) -> Result<api::OverflowAnswer, Error> {
        let mut answer = self.answer(held, "summarise")?;
        answer.compaction = Some(pending.id());
        answer.requests = requests::open(self.dir, held, pending, &self.ask.form)?;
        Ok(answer)
    }

    fn surface(&self, held: &mut Held<'_>, why: String) -> Result<api::OverflowAnswer, Error> {
        let mut answer = self.answer(held, "surface")?;
        answer.why = Some(why);
        Ok(answer)
    }
}

fn wish() -> Ask<'static> {
    Ask {
        trigger: Trigger::Overflow,
        level: 0,
        custom: None,
        from: None,
        up_to: None,
        whole: false,
    }
}

/// The profile with the limit that the provider named, where that is a limit of a body or of pictures. One that it did not name is less
/// than what it refused.
fn tightened(at: &Situation<'_>, verdict: &Verdict, excess: Excess) -> Profile {
    let mut profile = at.profile.clone();
    let tighter = |own: u64, refused: u64| {
        let seen = verdict.limit.unwrap_or(refused.saturating_sub(1)).max(1);
        if own == 0 { seen } else { own.min(seen) }
    };
    match excess {
        Excess::Bytes => profile.body_bytes = tighter(profile.body_bytes, at.fill.bytes),
        Excess::Images => {
            let limit = tighter(u64::from(profile.images_count), u64::from(at.fill.images));
            profile.images_count = u32::try_from(limit).unwrap_or(u32::MAX);
        }
        Excess::Tokens => {}
    }
    profile
}
