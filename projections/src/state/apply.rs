//! Taking in what was admitted, and what was not. Nothing here can fail.

use super::log::{STRIDE, Step, Stored, orphan_of};
use super::{Admitted, Applied, Chosen, State};
use crate::timeline::is_travel;
use crate::{Header, Logged, Misfit, Problem};
use alloc::sync::Arc;
use recount_events::{Body, Event, Seq};

impl State {
    /// Takes an admitted event in. Cannot fail: an event that was admitted to another state is judged again, and skipped when it
    /// does not fit.
    pub fn apply(&mut self, admitted: Admitted) -> Applied {
        if admitted.logged.seq != self.next {
            let seq = self.retake(admitted.logged.event.clone());
            return Applied {
                seq,
                touched: Some(Seq(0)),
                header: true,
            };
        }
        let logged = Arc::clone(&admitted.logged);
        let applied = self.settle(admitted);
        match &logged.event.body {
            Body::Erased(erased) => self.erase(erased, applied),
            _ => applied,
        }
    }

    /// Takes in a logged event, or skips it when it does not fit. For a state that holds everything; see [`State::try_retake`].
    pub fn retake(&mut self, event: Event) -> Seq {
        match self.readmit(event.clone()) {
            Ok(admitted) => self.take_as(&event, admitted),
            Err(misfit) => self.skip(event, misfit),
        }
    }

    /// Takes in a logged event, or skips it when it does not fit.
    ///
    /// # Errors
    /// The state does not hold enough to judge it; nothing changed.
    pub fn try_retake(&mut self, event: Event) -> Result<Seq, Misfit> {
        match self.readmit(event.clone()) {
            Ok(admitted) => Ok(self.take_as(&event, admitted)),
            Err(misfit) if misfit.is_cold() => Err(misfit),
            Err(misfit) => Ok(self.skip(event, misfit)),
        }
    }

    fn take_as(&mut self, event: &Event, admitted: Admitted) -> Seq {
        self.whole.odd |= admitted.event() != event;
        self.apply(admitted).seq
    }

    /// Takes in a logged event that does not fit: it takes its position, is reported, shows nothing.
    pub fn skip(&mut self, event: Event, misfit: Misfit) -> Seq {
        let seq = self.next;
        self.pass_over(Some(Arc::new(Logged { seq, event })), misfit)
    }

    /// Takes in a position whose event was not found.
    pub fn gap(&mut self) -> Seq {
        self.pass_over(None, Misfit::not_found(Problem::Gap))
    }

    fn pass_over(&mut self, logged: Option<Arc<Logged>>, misfit: Misfit) -> Seq {
        let seq = self.next;
        self.now.pass(seq, None);
        self.whole.odd |= logged.is_none();
        let report = Some(Arc::new(misfit));
        self.push(
            Step {
                logged,
                prev: seq.prev(),
                moved: None,
                skip: true,
                report,
                stored: None,
            },
            false,
        );
        seq
    }

    pub(super) fn settle(&mut self, admitted: Admitted) -> Applied {
        let Admitted { logged, chosen } = admitted;
        let seq = logged.seq;
        let before = Header::clone(&self.now.header);
        let keep = chosen.is_some();
        let (prev, touched) = match chosen {
            Some(chosen) => self.choose(chosen, &logged),
            None => (seq.prev(), self.now.advance(seq, Some(&logged))),
        };
        let report = orphan_of(&logged).map(|_| Arc::new(Misfit::rejected(Problem::NoCall)));
        let moved = if is_travel(&logged.event.body) {
            None
        } else {
            touched
        };
        self.ledger.take(&logged, &self.now.line);
        self.push(
            Step {
                logged: Some(logged),
                prev,
                moved,
                skip: false,
                report,
                stored: None,
            },
            keep,
        );
        Applied {
            seq,
            touched,
            header: !before.same(&self.now.header),
        }
    }

    /// Goes over to the timeline that a rollback or an undo chose.
    fn choose(&mut self, chosen: Chosen, logged: &Arc<Logged>) -> (Option<Seq>, Option<Seq>) {
        let Chosen { timeline, touched } = chosen;
        let seq = logged.seq;
        let travels = is_travel(&logged.event.body);
        let (prev, touched) = if travels {
            self.whole
                .jumps
                .insert_mut(seq, self.now.line.spans.clone());
            (timeline.head, self.lowest_between(&timeline))
        } else {
            let touched = touched.unwrap_or_else(|| self.now.first_change(&timeline));
            (seq.prev(), touched)
        };
        self.now = timeline;
        self.now.pass(seq, Some(logged));
        (prev, touched)
    }

    /// Adds a position, with its timeline where one is due.
    fn push(&mut self, mut step: Step, keep: bool) {
        self.whole.note(self.next, &step);
        if keep || self.now.line.since >= STRIDE {
            self.now.line.since = 0;
            step.stored = Some(Arc::new(Stored {
                timeline: self.now.clone(),
                whole: self.whole.clone(),
            }));
        }
        self.log.put(self.next, step);
        self.next = self.next.next();
    }
}

impl Header {
    /// The same events stand at the head of the request.
    fn same(&self, other: &Self) -> bool {
        let seq = |event: &Option<Arc<Logged>>| event.as_ref().map(|logged| logged.seq);
        let seqs = |header: &Self| {
            [
                seq(&header.profile),
                seq(&header.policy),
                seq(&header.system),
                seq(&header.tools),
            ]
        };
        seqs(self) == seqs(other) && self.rendering == other.rendering
    }
}
