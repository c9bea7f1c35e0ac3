//! From a proposal to the log.

use super::spill;
use crate::Error;
use crate::core::Input;
use crate::host::directory::{Directory, Held};
use crate::host::write::Terms;
use recount_events::{Event, Millis};
use recount_policies::{Proposal, Proposed};
use recount_wal::Class;

/// What a policy proposes, its files written. Where they cannot be written, what it proposes for a session that has no place for files:
/// a prompt goes out in any case. `propose` is told whether files may be.
///
/// # Errors
/// Those of `propose`.
pub(crate) fn with_files(
    dir: &Directory,
    held: &mut Held<'_>,
    mut propose: impl FnMut(&mut Held<'_>, bool) -> Result<Proposal, Error>,
) -> Result<Proposal, Error> {
    let mut proposal = propose(held, true)?;
    let spills = std::mem::take(&mut proposal.spills);
    let Err(error) = spill::write(dir, held, &spills) else {
        return Ok(proposal);
    };
    tracing::warn!(%error, "results are cut, since no file takes them");
    let mut instead = propose(held, false)?;
    if !instead.did.is_empty() {
        instead.did = format!("{}; {error}", instead.did);
    }
    Ok(instead)
}

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
