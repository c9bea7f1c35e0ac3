//! Timelines made from a timeline, to be rendered and never kept: a part of it, and one that ends in a question.

use crate::{Logged, Shown, Timeline};
use alloc::sync::Arc;
use recount_events::{Body, Content, Event, Inject, Lifetime, Millis, Seq, Text, escape};

impl Timeline {
    /// What is shown under the keys from `first` to `last`, inclusive, summaries among them, behind the same header; without tail injections.
    /// For a request about a part of the session: it is only good for rendering.
    #[must_use]
    pub fn only(&self, first: Seq, last: Seq) -> Self {
        let inside = (first <= last).then(|| self.shown.range(first..=last));
        let shown = inside.into_iter().flatten();
        let shown = shown.map(|(key, shown)| (*key, shown.clone())).collect();
        let mut part = Self {
            shown,
            tails: crate::Map::default(),
            ..self.clone()
        };
        part.authored_last = part.authored_shown(first, last);
        part
    }

    /// The newest authored message that is shown between these positions.
    fn authored_shown(&self, first: Seq, last: Seq) -> Option<Seq> {
        if self
            .authored_last
            .is_some_and(|newest| first <= newest && newest <= last)
        {
            return self.authored_last;
        }
        let shown = |key: &Seq| matches!(self.shown.get(key), Some(Shown::Said(_)));
        let mut said = self.shown.keys().rev();
        said.find(|key| shown(key) && self.turns.contains_key(*key))
            .copied()
    }

    /// The same with a user's text behind everything, tail injections included, at the position behind the head. The text stands in no
    /// log: its piece has no block under which it is counted.
    #[must_use]
    pub fn asking(&self, text: &str) -> Self {
        let mut asking = self.clone();
        let seq = self.head.map_or(Seq(0), Seq::next);
        asking.tails.insert_mut(seq, Arc::new(question(seq, text)));
        asking
    }

    /// A position behind the head: what stands there is in no log.
    pub(crate) fn is_unlogged(&self, seq: Seq) -> bool {
        self.head.is_some_and(|head| seq > head)
    }
}

fn question(seq: Seq, text: &str) -> Logged {
    let inject = Inject {
        slot: Text::plain(""),
        content: Content::string(&escape(text)),
        lifetime: Lifetime::Tail,
        supersede: false,
    };
    Logged {
        seq,
        event: Event {
            at: Millis(0),
            body: Body::Inject(inject),
            because: None,
            extra: None,
        },
    }
}
