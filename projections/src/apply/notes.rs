//! What restoration, attachments and the cache's view use; nothing of it is shown.

use crate::{Logged, Timeline};
use alloc::sync::Arc;
use recount_events::{Body, Memory, Seq};

impl Timeline {
    pub(super) fn note(&mut self, logged: &Arc<Logged>) -> Option<Seq> {
        let (seq, event) = (logged.seq, Arc::clone(logged));
        match &logged.event.body {
            Body::Budget(budget) => budget
                .judged
                .iter()
                .for_each(|block| self.judged.insert_mut(*block, seq)),
            Body::FileRead(_) => self.files.insert_mut(seq, event),
            Body::Memory(memory) => self.remember(event, memory),
            Body::Todo(_) => self.todo = Some(event),
            Body::Checkpoint(_) => self.checkpoints.insert_mut(seq, event),
            _ => {}
        }
        None
    }

    fn remember(&mut self, logged: Arc<Logged>, memory: &Memory) {
        let same = |old: &Arc<Logged>| match &old.event.body {
            Body::Memory(old) => old.id.bytes().is_some() && old.id.bytes() == memory.id.bytes(),
            _ => false,
        };
        let older = self
            .memories
            .iter()
            .find(|(_, old)| same(old))
            .map(|(seq, _)| *seq);
        if let Some(older) = older {
            self.memories.remove_mut(&older);
        }
        self.memories.insert_mut(logged.seq, logged);
    }

    pub(super) fn cache(&mut self, logged: &Arc<Logged>) -> Option<Seq> {
        match &logged.event.body {
            Body::CacheEdit(_) => self.cache_edits.insert_mut(logged.seq, Arc::clone(logged)),
            Body::CacheAck(_) => self.cache_acks.insert_mut(logged.seq, Arc::clone(logged)),
            Body::CacheReset(_) => {
                self.cache_edits = crate::Map::default();
                self.cache_acks = crate::Map::default();
            }
            _ => {}
        }
        None
    }
}
