//! Events of a recording: what does not fit is taken as a log that exists already is taken, else kept word for word.
//!
//! - A result without a call is skipped and reported; the words beside it are shown.
//! - Deterministic: reading a recording again gives the same events.

use recount_events::{Body, Event, Kept, Seq, Text};
use recount_projections::{Admitted, Misfit, State};

/// An event that did not fit as it came.
#[derive(Clone, Debug)]
pub(crate) struct Misplaced {
    /// Its place in the batch.
    pub(crate) index: usize,
    /// Which rule it breaks.
    pub(crate) why: String,
    /// It was kept word for word; else it stands with what fits.
    pub(crate) kept: bool,
}

/// Takes an event of a recording in; `seal` seals what is made here.
pub(crate) fn admit(
    state: &State,
    index: usize,
    event: Event,
    seal: &mut dyn FnMut(&mut Event),
) -> Result<(Admitted, Option<Misplaced>), Misfit> {
    let copy = event.clone();
    let misfit = match state.admit(event) {
        Ok(admitted) => return Ok((admitted, None)),
        // That too little is in memory says nothing about the event.
        Err(misfit) if misfit.is_cold() => return Err(misfit),
        Err(misfit) => misfit,
    };
    let told = |kept| {
        Some(Misplaced {
            index,
            why: misfit.problem.to_string(),
            kept,
        })
    };
    if matches!(copy.body, Body::Message(_) | Body::ToolResult(_)) {
        match state.readmit(copy.clone()) {
            Ok(admitted) => return Ok((admitted, told(false))),
            Err(misfit) if misfit.is_cold() => return Err(misfit),
            Err(_) => {}
        }
    }
    let mut kept = kept(state, &copy);
    seal(&mut kept);
    Ok((state.admit(kept)?, told(true)))
}

/// The event word for word, for the position after the head.
fn kept(state: &State, event: &Event) -> Event {
    let seq = state.head().map_or(Seq(0), Seq::next);
    let raw = Text::json(&event.to_json(seq, None));
    let name = Text::plain(&format!("recount/misfit/{}", event.body.name()));
    Event {
        at: event.at,
        body: Body::Kept(Kept { name, raw }),
        because: None,
        extra: None,
    }
}
