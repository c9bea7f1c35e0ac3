//! Prompts rendered lately: continued when the timeline grew, found again when it went back.
//!
//! - A view is exact for its place; places are equal when their timelines are: a rollback's place is that of its target, a ledger
//!   event's that of the position before it.
//! - What changed since a view was rendered is summed up in it, so that it can be continued at any time.

use recount_events::{Body, Class, Digest, Event, Profile, Seq, Wire};
use recount_projections::{Applied, Prompt, Request};
use std::collections::{BTreeMap, VecDeque};

/// How many prompts are held.
const HELD: usize = 8;

/// What a prompt depends on besides the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ViewKey {
    profile: Digest,
    wire: Wire,
    heal: bool,
}

impl ViewKey {
    /// Of a request.
    pub(crate) fn of(profile: &Profile, wire: Wire, heal: bool) -> Self {
        Self {
            profile: print(profile),
            wire,
            heal,
        }
    }
}

/// A digest of everything in a profile; in memory only.
fn print(profile: &Profile) -> Digest {
    let mut hasher = blake3::Hasher::new();
    let texts = [
        Some(&profile.provider),
        Some(&profile.model),
        profile.params.as_ref(),
        profile.headers.as_ref(),
    ];
    for text in texts {
        let bytes = text.and_then(|text| text.bytes());
        hasher.update(
            &bytes
                .map_or(u64::MAX, |bytes| bytes.len() as u64)
                .to_le_bytes(),
        );
        hasher.update(bytes.unwrap_or_default());
    }
    let rest = Profile {
        provider: recount_events::Text::plain(""),
        model: recount_events::Text::plain(""),
        params: None,
        headers: None,
        ..profile.clone()
    };
    hasher.update(format!("{rest:?}").as_bytes());
    Digest(*hasher.finalize().as_bytes())
}

#[derive(Debug)]
struct View {
    key: ViewKey,
    place: Option<Seq>,
    prompt: Prompt,
    touched: Option<Seq>,
    header: bool,
}

/// The prompts of a session.
#[derive(Debug, Default)]
pub(crate) struct Views {
    held: VecDeque<View>,
    /// Positions whose timeline is that of an earlier one.
    same: BTreeMap<Seq, Option<Seq>>,
}

impl Views {
    /// The place of a position.
    fn place(&self, seq: Option<Seq>) -> Option<Seq> {
        seq.and_then(|seq| self.same.get(&seq).copied().unwrap_or(Some(seq)))
    }

    /// Hears of an event that was taken in.
    pub(crate) fn follow(&mut self, event: &Event, applied: &Applied) {
        self.alias(event, applied.seq);
        for view in &mut self.held {
            view.touched = match (view.touched, applied.touched) {
                (Some(before), Some(now)) => Some(before.min(now)),
                (before, now) => before.or(now),
            };
            view.header |= applied.header;
        }
    }

    fn alias(&mut self, event: &Event, seq: Seq) {
        let target = match &event.body {
            Body::Rollback(rollback) => rollback.to,
            Body::Undo(undo) => undo.to,
            body if body.class() == Class::Ledger => seq.prev(),
            _ => None,
        };
        if target.is_some() {
            let place = self.place(target);
            self.same.insert(seq, place);
        }
    }

    /// The prompt at the head.
    pub(crate) fn at_head(&mut self, request: &Request<'_>) -> Prompt {
        let key = ViewKey::of(request.profile, request.wire, request.heal);
        let place = self.place(request.timeline.head);
        let prompt = match self.find(key, place) {
            Some(exact) => exact,
            None => self.continued(key, request),
        };
        self.hold(View {
            key,
            place,
            prompt: prompt.clone(),
            touched: None,
            header: false,
        });
        prompt
    }

    /// The prompt at an earlier position.
    pub(crate) fn at(&mut self, request: &Request<'_>) -> Prompt {
        let key = ViewKey::of(request.profile, request.wire, request.heal);
        let place = self.place(request.timeline.head);
        self.find(key, place)
            .unwrap_or_else(|| Prompt::render(request))
    }

    /// The prompt at the head, if it was rendered already.
    pub(crate) fn at_hand(&self, request: &Request<'_>) -> Option<Prompt> {
        let key = ViewKey::of(request.profile, request.wire, request.heal);
        self.find(key, self.place(request.timeline.head))
    }

    fn find(&self, key: ViewKey, place: Option<Seq>) -> Option<Prompt> {
        self.held
            .iter()
            .find(|view| view.key == key && view.place == place)
            .map(|view| view.prompt.clone())
    }

    fn continued(&self, key: ViewKey, request: &Request<'_>) -> Prompt {
        match self.held.iter().find(|view| view.key == key) {
            Some(view) => view.prompt.update(request, view.touched, view.header),
            None => Prompt::render(request),
        }
    }

    /// Newest first; the one of the same place gives way.
    fn hold(&mut self, view: View) {
        self.held
            .retain(|held| held.key != view.key || held.place != view.place);
        self.held.push_front(view);
        self.held.truncate(HELD);
    }
}
