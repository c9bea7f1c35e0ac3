//! From a checkpoint and the log's tail to a session in memory; and back to all of it, when more is needed.

use super::{Kept, Mark, Place, Shelf};
use crate::core::{Core, Keys};
use crate::host::directory::{Directory, Held};
use crate::host::live::{Live, Weighed};
use crate::host::load::Fold;
use crate::host::read::Read;
use crate::host::stream;
use crate::{Error, ErrorKind};
use recount_events::Seq;
use recount_projections::Logged;
use recount_wal::{StreamId, Wal};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Events between two that are needed which are read along with them.
const ALONG: u64 = 8;

impl Directory {
    /// Where a cooled session reads its events again.
    pub(in crate::host) fn shelf(&self, stream: StreamId) -> Result<Arc<Shelf>, Error> {
        let log = self.log()?;
        let mut parts = stream::parts(self, &log, stream, 0, u64::MAX - 1)?;
        if let Some((.., last)) = parts.last_mut() {
            *last = u64::MAX;
        }
        Ok(Shelf::new(&log, parts))
    }

    /// A session from its checkpoint and what came after it; none when there is no checkpoint that fits the log.
    pub(in crate::host) fn open_kept(
        &self,
        log: &Wal,
        stream: StreamId,
        head: u64,
    ) -> Option<Live> {
        let (place, body) = self.states.read(stream)?;
        if !self.fits(log, &place, head) {
            tracing::debug!(%stream, seq = place.seq, "a state checkpoint does not fit the log and is left alone");
            return None;
        }
        let shelf = self.shelf(stream).ok()?;
        let events = self.events(log, stream, &body.frozen.needs())?;
        let mut event = |seq: Seq| events.get(&seq).cloned();
        let state = body.frozen.thaw(&mut event, Arc::clone(&shelf) as _)?;
        let mut fold = Fold::over(state, Keys::from_list(body.keys), place.digest);
        fold.read_only = body.read_only;
        let mark = Mark {
            state: fold.state.clone(),
            digest: place.digest,
        };
        fold.kept = Kept {
            tried: place.seq.saturating_add(1),
            stored: place.seq.saturating_add(1),
            older: None,
            newer: Some(mark),
            shelf: Some(shelf),
        };
        let inherited = body.inherited.into_iter();
        fold.counts = inherited
            .map(|counts| counts.into_iter().collect())
            .collect();
        self.tail(log, stream, &mut fold, place.seq, head)?;
        let mut injects = body.injects;
        injects.append(&mut fold.injects);
        let recovered = self.found(log, stream, &fold).ok()?;
        let core = Core::thawed(fold.state, fold.keys, injects, fold.counts);
        Some(Live {
            core,
            recovered,
            digest: fold.digest,
            read_only: fold.read_only,
            kept: fold.kept,
            weighed: Weighed::default(),
        })
    }

    /// The record at the checkpoint's position is the one that it was made from, and nothing of the session is damaged.
    fn fits(&self, log: &Wal, place: &Place, head: u64) -> bool {
        let found = self.recovered(log, place.stream);
        if place.seq > head || found.is_ok_and(|found| !found.damaged.is_empty()) {
            return false;
        }
        let mut same = false;
        let read = stream::visit(self, log, place.stream, place.seq, place.seq, &mut |read| {
            same = matches!(&read, Read::Event(_, record)
                if record.seq == place.seq && record.digest == place.digest);
            Ok(())
        });
        read.is_ok() && same
    }

    /// There is a checkpoint that fits the log and says something else than the fold of it does.
    pub(in crate::host) fn checkpoint_differs(
        &self,
        log: &Wal,
        stream: StreamId,
        head: u64,
    ) -> Result<bool, Error> {
        let there = self.states.read(stream);
        let Some((place, body)) = there.filter(|(place, _)| self.fits(log, place, head)) else {
            return Ok(false);
        };
        let fold = self.fold(log, stream, place.seq)?;
        Ok(fold.state.freeze().as_ref() != Some(&body.frozen))
    }

    /// Reads single events, those near each other at once.
    fn events(
        &self,
        log: &Wal,
        stream: StreamId,
        needs: &[Seq],
    ) -> Option<BTreeMap<Seq, Arc<Logged>>> {
        let mut events = BTreeMap::new();
        let mut rest = needs.iter().copied().peekable();
        while let Some(first) = rest.next() {
            let mut last = first;
            while let Some(next) = rest.next_if(|next| next.0.saturating_sub(last.0) <= ALONG) {
                last = next;
            }
            let mut take = |read| {
                if let Read::Event(event, record) = read {
                    let seq = Seq(record.seq);
                    if needs.binary_search(&seq).is_ok() {
                        events.insert(seq, Arc::new(Logged { seq, event: *event }));
                    }
                }
                Ok(())
            };
            stream::visit(self, log, stream, first.0, last.0, &mut take).ok()?;
        }
        (events.len() == needs.len()).then_some(events)
    }

    /// Folds what came after the checkpoint; none where that needs more than the checkpoint holds, or cannot be read.
    fn tail(
        &self,
        log: &Wal,
        stream: StreamId,
        fold: &mut Fold,
        after: u64,
        head: u64,
    ) -> Option<()> {
        if after >= head {
            return Some(());
        }
        let every = self.every();
        let mut fits = true;
        let read = stream::visit(
            self,
            log,
            stream,
            after.saturating_add(1),
            head,
            &mut |read| {
                fits &= match read {
                    Read::Event(event, record) if fits => fold.go_on(*event, &record, every),
                    _ => false,
                };
                Ok(())
            },
        );
        (read.is_ok() && fits && fold.state.head() == Some(Seq(head))).then_some(())
    }

    /// Folds the whole log for a session that is in memory; what else is known of it stays.
    pub(in crate::host) fn warm(&self, held: &mut Held<'_>) -> Result<(), Error> {
        let stream = held.slot.stream;
        let name = held.slot.name.clone();
        let log = self.log()?;
        let heads = log
            .heads(stream)
            .ok_or_else(|| crate::host::load::no_session(&name))?;
        let fold = self.fold(&log, stream, heads.accepted)?;
        let recovered = self.found(&log, stream, &fold)?;
        let Some(live) = held.live() else {
            return Ok(());
        };
        if fold.state.head() != live.core.head() {
            held.forget();
            return Err(Error::new(
                ErrorKind::Busy,
                "the session is not what it was and is read again",
            ));
        }
        tracing::debug!(%stream, "a session is folded wholly: something looked far back");
        let tried = live.core.next().0;
        live.core.state = fold.state;
        live.recovered = recovered;
        live.kept = Kept {
            tried,
            stored: live.kept.stored,
            ..fold.kept
        };
        Ok(())
    }
}
