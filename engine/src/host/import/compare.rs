//! Is a recording what a session holds already, more than that, or something else?
//!
//! - The recording is admitted once more beside the log, event by event: what admission resolves is part of the comparison.

use super::shift::shift;
use crate::core::admit_foreign;
use recount_events::{Body, Event, Opened, Seq, Text};
use recount_projections::State;

/// The part of a recording that a session holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// How many of its events.
    pub(super) count: usize,
    /// Positions that the recording does not know: `forked` events, and lines that were read when only their beginning
    /// was written.
    own: Vec<Seq>,
}

impl Known {
    /// An event of the recording with its positions as the session counts.
    pub(super) fn shifted(&self, event: Event) -> Event {
        self.own.iter().fold(event, |event, own| shift(event, *own))
    }
}

/// How a recording and a session stand to each other.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Everything is there.
    Same,
    /// The session ends within the recording.
    Grown(Known),
    /// They part after this position.
    Differs(Option<Seq>),
}

/// An event of a recording as the session of this name holds it: an opening says the name.
pub(super) fn named(mut event: Event, name: &str) -> Event {
    if let Body::Opened(opened) = &mut event.body
        && opened.session.as_str() != Some(name)
    {
        opened.session = Text::plain(name);
    }
    event
}

/// What a session is called, what it was for and what started it are no part of what was recorded: another name may have been given, and
/// a parent becomes known later. The session says it as it was read first.
fn opened(mut event: Event, logged: &Opened) -> Event {
    if let Body::Opened(opened) = &mut event.body {
        opened.session.clone_from(&logged.session);
        opened.kind = logged.kind;
        opened.parent.clone_from(&logged.parent);
    }
    event
}

/// Compares a recording with a session.
pub(super) fn compare(session: &State, recording: &[Event]) -> Verdict {
    let head = session.head().map_or(0, |head| head.0.saturating_add(1));
    let mut again = State::new();
    let mut known = Known::default();
    for seq in (0..head).map(Seq) {
        let Some(logged) = session.event(seq) else {
            return Verdict::Differs(seq.prev());
        };
        let logged = &logged.event;
        if let Body::Forked(_) = &logged.body {
            again = seq
                .prev()
                .and_then(|origin| again.fork(origin).ok())
                .unwrap_or(again);
            again.retake(logged.clone());
            known.own.push(seq);
            continue;
        }
        let Some(event) = recording.get(known.count) else {
            return Verdict::Same;
        };
        let event = match &logged.body {
            Body::Opened(first) => opened(event.clone(), first),
            _ => event.clone(),
        };
        if takes(&mut again, known.shifted(event), logged) {
            known.count = known.count.saturating_add(1);
        } else if recount_transcripts::is_passing(logged) {
            // An earlier word on what the recording says in another way by now: a line that was still being written, a record that
            // its host wrote anew. It shows nothing.
            again.retake(logged.clone());
            known.own.push(seq);
        } else {
            return Verdict::Differs(seq.prev());
        }
    }
    if known.count == recording.len() {
        Verdict::Same
    } else {
        Verdict::Grown(known)
    }
}

/// Admits an event of the recording if it comes out as the logged one.
fn takes(state: &mut State, event: Event, logged: &Event) -> bool {
    let Ok((admitted, _)) = admit_foreign(state, 0, event, &mut |_| {}) else {
        return false;
    };
    let same = equal(admitted.event(), logged);
    if same {
        state.apply(admitted);
    }
    same
}

/// Equal but for seals.
fn equal(one: &Event, other: &Event) -> bool {
    let bare = |event: &Event| {
        let mut event = event.clone();
        event.unseal();
        event
    };
    bare(one) == bare(other)
}
