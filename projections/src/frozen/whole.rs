//! What is true of the whole log, as plain data.

use super::{keys, list, map, set};
use crate::state::Whole;
use crate::{Map, Misfit};
use alloc::{sync::Arc, vec::Vec};
use bincode::{Decode, Encode};
use recount_events::Seq;

/// See [`Whole`].
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub(super) struct FrozenWhole {
    ids: Vec<[u8; 16]>,
    jumps: Vec<(Seq, Vec<(Seq, Seq)>)>,
    reports: Vec<(Seq, Misfit)>,
}

impl FrozenWhole {
    pub(super) fn of(whole: &Whole) -> Self {
        let jumps = whole.jumps.iter();
        let reports = whole.reports.iter();
        Self {
            ids: keys(&whole.ids),
            jumps: jumps.map(|(seq, spans)| (*seq, list(spans))).collect(),
            reports: reports
                .map(|(seq, misfit)| (*seq, (**misfit).clone()))
                .collect(),
        }
    }

    pub(super) fn thaw(&self) -> Whole {
        let jumps = self.jumps.iter().map(|(seq, spans)| (*seq, map(spans)));
        let reports = self.reports.iter();
        let reports = reports.map(|(seq, misfit)| (*seq, Arc::new(misfit.clone())));
        Whole {
            ids: set(&self.ids),
            jumps: jumps.collect::<Map<_, _>>(),
            reports: reports.collect(),
            odd: false,
        }
    }
}
