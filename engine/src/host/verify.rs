//! Checking a session: the chain of its records, its contents, and every prompt digest that was ever recorded.
//!
//! - Nothing in memory is trusted: everything is read again from the log.
//! - Prompts are rendered while the log is folded, so that a check costs about as much as the session's growth did.

use super::directory::Directory;
use super::engine::Engine;
use super::load::no_session;
use super::read::Read;
use super::{against, changed, report, stream};
use crate::core::{Core, Keys, own_profile, profile_of};
use crate::{Error, api};
use recount_events::{Body, Event, Held, Issued, Profile, Seq};
use recount_projections::{Applied, State};
use recount_wal::{Damage, Record, RecordDigest, StreamId, Wal};
use std::collections::BTreeMap;

/// The most problems that are told of.
const TOLD: usize = 100;

/// A check as it goes along.
struct Check {
    found: api::Verified,
    previous: Option<RecordDigest>,
    erased: u64,
    /// The first position of which a content is lost.
    lost: Option<u64>,
    events: Vec<Option<Event>>,
}

impl Engine {
    /// Checks a session: chain, contents, every prompt digest that was recorded.
    ///
    /// # Errors
    /// `not_found`; what does not hold is no error but part of the answer.
    pub fn verify_session(&self, ask: &api::Verify) -> Result<api::Verified, Error> {
        super::directory::check_name(&ask.session)?;
        let dir = &*self.inner;
        let log = dir.log()?;
        let known: Vec<api::Head> = ask
            .against
            .iter()
            .filter(|head| head.session == ask.session)
            .cloned()
            .collect();
        let against = against::hold(dir, &log, &known)?.pop();
        let id = dir.stream(&ask.session);
        let mut found = match &against {
            // Nothing is left of it to be read, and that is the answer.
            Some(known) if known.found.is_none() => api::Verified {
                session: ask.session.clone(),
                ..api::Verified::default()
            },
            _ => session(dir, &log, &ask.session, id, &[])?,
        };
        if let Some(against) = &against {
            found.state = found.state.max(against::state(against.standing));
        }
        found.against = against;
        Ok(found)
    }

    /// Checks the whole directory: every session, and the log's own account of itself.
    ///
    /// # Errors
    /// `io`.
    pub fn verify(&self) -> Result<api::DirectoryVerified, Error> {
        self.verify_with(&api::VerifyAll::default(), &mut |_, _| {})
    }

    /// The same, held against what was known; `progress` hears of the sessions done and of all.
    ///
    /// # Errors
    /// `io`; `invalid` for a name or a digest that cannot be one.
    pub fn verify_with(
        &self,
        ask: &api::VerifyAll,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<api::DirectoryVerified, Error> {
        let dir = &*self.inner;
        let log = dir.log()?;
        let (mut whole, scanned) = super::whole::directory(dir, &log)?;
        whole.against = against::hold(dir, &log, &ask.against)?;
        for known in &whole.against {
            whole.state = whole.state.max(against::state(known.standing));
        }
        let streams = log.streams();
        for (done, info) in streams.iter().enumerate() {
            progress(done as u64, streams.len() as u64);
            let name = super::list::named(dir, &log, info.stream)?.map(|named| named.name);
            let name = name.unwrap_or_else(|| format!("(unnamed {})", info.stream));
            let one = session(dir, &log, &name, info.stream, &scanned.damaged)?;
            whole.state = whole.state.max(one.state);
            whole.sessions.push(one);
        }
        whole
            .sessions
            .sort_by(|one, other| one.session.cmp(&other.session));
        Ok(whole)
    }
}

/// `scanned`: what a full read of the segments found, if there was one; it knows the places better than an open.
fn session(
    dir: &Directory,
    log: &Wal,
    name: &str,
    id: StreamId,
    scanned: &[Damage],
) -> Result<api::Verified, Error> {
    let head = log.heads(id).ok_or_else(|| no_session(name))?.accepted;
    let recovered = dir.recovered(log, id)?;
    let mut damaged = match scanned {
        [] => Vec::new(),
        _ => report::damaged(scanned, &stream::parts(dir, log, id, 0, head)?),
    };
    for known in &recovered.damaged {
        report::add(&mut damaged, known);
    }
    let worst = damaged.iter().map(report::of_damage).max();
    let found = api::Verified {
        session: name.to_owned(),
        head,
        state: recovered.state.max(worst.unwrap_or_default()),
        cut: recovered.cut,
        damaged,
        ..api::Verified::default()
    };
    let mut check = Check {
        found,
        previous: Some(RecordDigest::ROOT),
        erased: 0,
        lost: None,
        events: Vec::new(),
    };
    stream::visit(dir, log, id, 0, head, &mut |read| {
        check.take(read);
        Ok(())
    })?;
    check.prompts();
    if dir.checkpoint_differs(log, id, head)? {
        check.tell("the state checkpoint says something else than the log; it is taken away, the log stands".to_owned());
        dir.states.remove(id)?;
    }
    Ok(check.done())
}

/// What does not hold of the prompts that events say were issued.
pub(super) fn prompts_of(name: &str, events: Vec<Option<Event>>) -> Vec<String> {
    let found = api::Verified {
        session: name.to_owned(),
        ..api::Verified::default()
    };
    let erased = events
        .iter()
        .flatten()
        .flat_map(Event::texts)
        .filter(|text| text.bytes().is_none())
        .count();
    let mut check = Check {
        found,
        previous: None,
        erased: erased as u64,
        lost: None,
        events,
    };
    check.prompts();
    check.found.problems
}

impl Check {
    fn take(&mut self, read: Read) {
        match read {
            Read::Event(event, record) => {
                self.lift(record.seq);
                self.chain(&record);
                self.contents(&event, record.seq);
                self.events.push(Some(*event));
            }
            Read::Unreadable(record) => {
                self.lift(record.seq);
                self.chain(&record);
                self.events.push(None);
                self.tell(format!("a record is no event; seq={}", record.seq));
                self.found.state = api::State::Damaged;
            }
            Read::Gap(gap) => self.gap(&gap),
        }
    }

    fn gap(&mut self, gap: &recount_wal::Gap) {
        self.lift(gap.last.saturating_add(1));
        self.previous = None;
        let damage = api::Damaged {
            first: gap.first,
            last: gap.last,
            segment: gap.segment,
            offset: gap.offset,
            bytes: gap.bytes,
        };
        self.found.state = self.found.state.max(report::of_damage(&damage));
        report::add(&mut self.found.damaged, &damage);
    }

    /// Positions that were not read.
    fn lift(&mut self, seq: u64) {
        while (self.events.len() as u64) < seq {
            self.events.push(None);
            self.previous = None;
        }
    }

    fn chain(&mut self, record: &Record) {
        let digest = RecordDigest::of(
            record.previous,
            record.seq,
            record.kind,
            record.schema,
            &record.body,
        );
        let follows = self
            .previous
            .is_none_or(|previous| previous == record.previous);
        if digest != record.digest || !follows {
            self.tell(format!("the chain does not hold; seq={}", record.seq));
            self.found.state = api::State::Damaged;
        }
        self.previous = Some(record.digest);
        self.found.digest = record.digest.to_string();
        self.found.events = self.found.events.saturating_add(1);
    }

    fn contents(&mut self, event: &Event, seq: u64) {
        for text in event.texts() {
            match text.held {
                Held::Erased => self.erased = self.erased.saturating_add(1),
                Held::Here(_) if text.verify() => {
                    self.found.contents = self.found.contents.saturating_add(1)
                }
                _ => {
                    self.lost.get_or_insert(seq);
                    self.tell(format!("a content is lost; seq={seq}"));
                    let state = self.cut_off(seq).unwrap_or(api::State::Damaged);
                    self.found.state = self.found.state.max(state);
                }
            }
        }
    }

    /// Whether events or contents up to a position are missing.
    fn misses_before(&self, cut: u64) -> bool {
        let missing = self.found.damaged.iter().map(|known| known.first);
        missing.chain(self.lost).any(|first| first <= cut)
    }

    /// The state of a position that the segments lost and of which only the event store still has the body.
    fn cut_off(&self, seq: u64) -> Option<api::State> {
        let here = |known: &&api::Damaged| (known.first..=known.last).contains(&seq);
        self.found.damaged.iter().find(here).map(report::of_damage)
    }

    fn tell(&mut self, problem: String) {
        if self.found.problems.len() < TOLD {
            self.found.problems.push(problem);
        }
    }

    /// Folds the log once more and renders every prompt that was issued, at its cut.
    fn prompts(&mut self) {
        let issues = self.issues();
        let mut core = Core::over(State::new(), Keys::default());
        let events = std::mem::take(&mut self.events);
        for (seq, event) in (0..).map(Seq).zip(events) {
            match event {
                None => {
                    core.state.gap();
                }
                Some(event) => fold(&mut core, event),
            }
            for (at, issued, own) in issues.get(&seq).into_iter().flatten() {
                self.prompt(&mut core, *at, issued, own.as_ref());
            }
        }
        self.found.skipped = core
            .state
            .skipped()
            .filter(|skipped| {
                !self
                    .found
                    .damaged
                    .iter()
                    .any(|gap| (gap.first..=gap.last).contains(&skipped.seq.0))
            })
            .map(|skipped| api::Skipped {
                seq: skipped.seq.0,
                why: skipped.misfit.problem.to_string(),
            })
            .collect();
    }

    /// What was issued, by its cut.
    fn issues(&self) -> BTreeMap<Seq, Vec<(Seq, Issued, Option<Profile>)>> {
        let mut issues: BTreeMap<Seq, Vec<_>> = BTreeMap::new();
        for (seq, event) in (0..).map(Seq).zip(&self.events) {
            if let Some(event) = event
                && let Body::Issued(issued) = &event.body
            {
                issues.entry(issued.cut).or_default().push((
                    seq,
                    issued.clone(),
                    own_profile(event),
                ));
            }
        }
        issues
    }

    fn prompt(&mut self, core: &mut Core, at: Seq, issued: &Issued, own: Option<&Profile>) {
        let timeline = core.state.timeline().clone();
        let logged = issued.profile.and_then(|seq| core.state.event(seq));
        let base = own.or_else(|| logged.as_deref().and_then(profile_of));
        let Some(base) = base else {
            self.tell(format!(
                "the profile of an issued prompt is not there; seq={at}"
            ));
            return;
        };
        let profile = changed::issued_profile(base, issued);
        let digest = core.uncounted(&timeline, &profile, issued.wire, issued.healed);
        if digest == issued.digest {
            self.found.prompts = self.found.prompts.saturating_add(1);
        } else if self.erased > 0 {
            self.found.state = self.found.state.max(api::State::Erased);
        } else if self.misses_before(issued.cut.0) {
            // What is missing has its own word already.
            self.tell(format!(
                "an issued prompt cannot be rendered again, since events of it are missing; seq={at} cut={}",
                issued.cut
            ));
        } else {
            self.tell(format!(
                "an issued prompt renders to another digest; seq={at} cut={}",
                issued.cut
            ));
            self.found.state = self.found.state.max(api::State::Damaged);
        }
    }

    fn done(mut self) -> api::Verified {
        if self.erased > 0 {
            self.found.state = self.found.state.max(api::State::Erased);
        }
        self.found
    }
}

/// Takes an event in, so that prompts can be continued.
fn fold(core: &mut Core, event: Event) {
    if let (Body::Forked(_), Some(origin)) = (&event.body, core.head())
        && let Ok(state) = core.state.fork(origin)
    {
        core.state = state;
    }
    match core.state.readmit(event.clone()) {
        Ok(admitted) => {
            let applied: Applied = core.state.apply(admitted);
            core.views.follow(&event, &applied);
        }
        Err(misfit) => {
            core.state.skip(event, misfit);
        }
    }
}
