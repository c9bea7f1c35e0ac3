//! From a proposal to the log.

use super::spill;
use crate::Error;
use crate::core::Input;
use crate::host::directory::{Directory, Held};
use crate::host::write::Terms;
use recount_events::{Event, Millis};
use recount_policies::{Proposal, Proposed};
use recount_wal::Class;

/// Writes a proposal's files, then logs its events as one batch; answers their positions.
///
/// # Errors
/// What the disk says; `rejected` for events that the session does not admit.
pub(crate) fn log(
    dir: &Directory,
    held: &mut Held<'_>,
    proposal: &Proposal,
    now: Millis,
    class: Class,
) -> Result<Vec<u64>, Error> {
    if proposal.is_empty() {
        return Ok(Vec::new());
    }
    spill::write(dir, held, &proposal.spills)?;
    let events: Vec<Event> = proposal
        .events
        .iter()
        .map(|proposed| event(proposed, now))
        .collect();
    let decision = dir.ask(held, |live| {
        let input = Input::Own(events.clone());
        live.core.handle(now, input, &mut dir.salts())
    })?;
    let first = decision.first.0;
    let count = decision.applied.len() as u64;
    let terms = Terms {
        class: Some(class),
        ..Terms::default()
    };
    dir.write(held, decision, terms)?;
    Ok((first..first.saturating_add(count)).collect())
}

/// What is proposed, as an event.
pub(crate) fn event(proposed: &Proposed, now: Millis) -> Event {
    Event {
        at: now,
        body: proposed.body.clone(),
        because: proposed.because,
        extra: None,
    }
}
