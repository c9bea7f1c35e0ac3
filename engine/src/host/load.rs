//! Reading a session from the log: its own stream, and before that its parents'.
//!
//! - A fork inherits its parent's positions up to its origin; parents of parents are found the same way.
//! - What cannot be read is a gap, what does not fit is skipped: both are reported, neither stops the session.

use super::directory::{Directory, Held};
use super::kept::Kept;
use super::live::{Live, Weighed};
use super::read::Read;
use crate::core::{Core, Keys, Repeat, is_session_inject};
use crate::{Error, ErrorKind, api};
use recount_events::{BlockId, Body, Event, Seq, Text};
use recount_projections::{Map, State};
use recount_wal::{Gap, Record, RecordDigest, StreamId, Wal};

/// What a stream's events add up to.
pub(super) struct Fold {
    pub(super) state: State,
    pub(super) keys: Keys,
    pub(super) counts: Vec<Map<BlockId, u64>>,
    pub(super) damaged: Vec<api::Damaged>,
    pub(super) digest: RecordDigest,
    pub(super) read_only: Option<u64>,
    /// Injections of lifetime session.
    pub(super) injects: Vec<Seq>,
    /// Where it stood lately.
    pub(super) kept: Kept,
}

impl Directory {
    /// The session in memory; read from the log when it is not. `not_found` when the log has none.
    pub(crate) fn live<'a>(&self, held: &'a mut Held<'_>) -> Result<&'a mut Live, Error> {
        let (name, stream) = (held.slot.name.clone(), held.slot.stream);
        if held.live().is_none() {
            let live = self.load(&name, stream)?;
            super::pipeline::again(self, stream, &live.core);
            held.put(live);
        } else if held.live().is_some_and(|live| live.missed()) {
            self.warm(held)?;
        }
        held.live()
            .ok_or_else(|| Error::new(ErrorKind::NotFound, "the session is not there"))
    }

    fn load(&self, name: &str, stream: StreamId) -> Result<Live, Error> {
        let log = self.log()?;
        let heads = log.heads(stream).ok_or_else(|| no_session(name))?;
        if let Some(live) = self.open_kept(&log, stream, heads.accepted) {
            return Ok(live);
        }
        let fold = self.fold(&log, stream, heads.accepted)?;
        let recovered = self.found(&log, stream, &fold)?;
        let core = Core::thawed(fold.state, fold.keys, fold.injects, fold.counts);
        let mut live = Live {
            core,
            recovered,
            digest: fold.digest,
            read_only: fold.read_only,
            kept: fold.kept,
            weighed: Weighed::default(),
        };
        if live.since_kept() >= self.every() {
            self.keep(stream, &mut live);
        }
        Ok(live)
    }

    /// Folds a session up to a position: what it inherits first. No recursion: forks of forks can be deep.
    pub(super) fn fold(&self, log: &Wal, stream: StreamId, to: u64) -> Result<Fold, Error> {
        let mut fold = Fold::over(State::new(), Keys::default(), RecordDigest::ROOT);
        let every = self.every();
        super::stream::visit(self, log, stream, 0, to, &mut |read| {
            match read {
                Read::Event(event, record) => fold.event(*event, &record, every),
                Read::Unreadable(record) => fold.unreadable(&record),
                Read::Gap(gap) => fold.gap(&gap),
            }
            Ok(())
        })?;
        Ok(fold)
    }

    /// What a session is told about its opening.
    pub(super) fn found(
        &self,
        log: &Wal,
        stream: StreamId,
        fold: &Fold,
    ) -> Result<api::Recovered, Error> {
        let mut report = self.recovered(log, stream)?;
        for damage in &fold.damaged {
            super::report::add(&mut report.damaged, damage);
        }
        let first = fold.state.skipped().filter(|skipped| {
            !report
                .damaged
                .iter()
                .any(|damage| (damage.first..=damage.last).contains(&skipped.seq.0))
        });
        report.skipped = first
            .map(|skipped| api::Skipped {
                seq: skipped.seq.0,
                why: skipped.misfit.problem.to_string(),
            })
            .collect();
        let worst = report.damaged.iter().map(super::report::of_damage).max();
        report.state = report.state.max(worst.unwrap_or_default());
        Ok(report)
    }
}

impl Fold {
    /// What comes is folded on top of a state.
    pub(super) fn over(state: State, keys: Keys, digest: RecordDigest) -> Self {
        Self {
            state,
            keys,
            counts: Vec::new(),
            damaged: Vec::new(),
            digest,
            read_only: None,
            injects: Vec::new(),
            kept: Kept::default(),
        }
    }

    fn event(&mut self, event: Event, record: &Record, every: u64) {
        self.lift(record.seq);
        if let Body::Forked(_) = &event.body {
            self.fork();
        }
        self.beside(&event, record);
        self.state.retake(event);
        self.kept.mark(&self.state, self.digest, every);
    }

    /// Takes the next event in; false when the state does not hold enough for it.
    pub(super) fn go_on(&mut self, event: Event, record: &Record, every: u64) -> bool {
        let next = self.state.head().map_or(0, |head| head.0.saturating_add(1));
        if record.seq != next || matches!(event.body, Body::Forked(_) | Body::Erased(_)) {
            return false;
        }
        self.beside(&event, record);
        let taken = self.state.try_retake(event).is_ok();
        self.kept.mark(&self.state, self.digest, every);
        taken
    }

    /// What the shell remembers beside the state.
    fn beside(&mut self, event: &Event, record: &Record) {
        if is_session_inject(event) {
            self.injects.push(Seq(record.seq));
        }
        if let Body::Newer(newer) = &event.body
            && newer.essential
        {
            self.read_only.get_or_insert(record.seq);
        }
        if let Some(tag) = record.tag {
            let repeat = Repeat {
                first: Seq(record.batch.0),
                last: Seq(record.batch.1),
            };
            self.keys.remember(tag, repeat);
        }
        self.digest = record.digest;
    }

    /// What stands before is inherited: a timeline, without its ledger and its keys.
    fn fork(&mut self) {
        self.keys = Keys::default();
        self.counts.push(self.state.ledger().counts.clone());
        if let Some(origin) = self.state.head()
            && let Ok(state) = self.state.fork(origin)
        {
            self.state = state;
        }
        // A state of the parent is none of the fork's.
        self.kept = Kept::default();
    }

    /// Positions before this one that were not read are gaps.
    fn lift(&mut self, seq: u64) {
        while self.state.head().map_or(0, |head| head.0.saturating_add(1)) < seq {
            self.state.gap();
        }
    }

    fn unreadable(&mut self, record: &Record) {
        self.lift(record.seq);
        self.digest = record.digest;
        self.state.gap();
        let place = record.place.unwrap_or_default();
        self.damaged.push(api::Damaged {
            first: record.seq,
            last: record.seq,
            segment: place.segment,
            offset: place.offset,
            bytes: record.body.len() as u64,
        });
    }

    fn gap(&mut self, gap: &Gap) {
        self.lift(gap.last.saturating_add(1));
        self.damaged.push(api::Damaged {
            first: gap.first,
            last: gap.last,
            segment: gap.segment,
            offset: gap.offset,
            bytes: gap.bytes,
        });
    }
}

/// The session is not in the log.
pub(crate) fn no_session(name: &str) -> Error {
    let shown: String = name.chars().take(100).collect();
    Error::new(
        ErrorKind::NotFound,
        format!("there is no such session; session={shown:?}"),
    )
    .with_next("open it with create: true, or list the sessions there are")
}

/// The name that an opening event gives.
pub(crate) fn name_in(event: &Event) -> Option<String> {
    match &event.body {
        Body::Opened(opened) => opened.session.as_str().map(str::to_owned),
        Body::Forked(forked) => forked.session.as_str().map(str::to_owned),
        Body::Kept(kept) if kept.name.as_str() == Some(RENAMED) => {
            recount_events::raw::words(kept.raw.as_str()?).map(|name| name.into_owned())
        }
        _ => None,
    }
}

/// Name of the kept event that gives an imported archive its name here.
pub(super) const RENAMED: &str = "recount/renamed";

/// The event that gives an imported archive its name here; its opening keeps the old one.
pub(super) fn renamed(name: &str) -> Body {
    Body::Kept(recount_events::Kept {
        name: Text::plain(RENAMED),
        raw: Text::json(&recount_events::escape(name)),
    })
}
