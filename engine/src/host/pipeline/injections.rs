//! What stands in the prompt by the session's own rules, whatever the policy: the version of the render, and injections of lifetime
//! session that a mask hides.

use crate::Error;
use crate::core::{Core, Input};
use crate::host::ask::Asked;
use crate::host::directory::{Directory, Held};
use crate::host::write::Terms;
use recount_events::{Body, Event, Inject, Millis, Rendering, Seq};
use recount_projections::Cause;
use recount_projections::render::RENDERING;
use recount_wal::Class;

/// Logs the rendering's version where none is named yet, and injections of lifetime session that a mask hides. True when the timeline
/// changed.
pub(crate) fn first_things(
    dir: &Directory,
    held: &mut Held<'_>,
    asked: &Asked,
    now: Millis,
) -> Result<bool, Error> {
    if dir.live(held)?.core.head() != Some(asked.cut) {
        return Ok(false);
    }
    let own = |body| Event {
        at: now,
        body,
        because: None,
        extra: None,
    };
    let decision = dir.ask(held, |live| {
        let core = &live.core;
        let version = core.state.timeline().header.rendering.is_none();
        let version = version.then(|| own(Body::Rendering(Rendering { version: RENDERING })));
        let injections = hidden_injections(core).map(|(inject, mask)| Event {
            because: Some(mask),
            ..own(Body::Inject(inject))
        });
        let events: Vec<Event> = version.into_iter().chain(injections).collect();
        core.handle(now, Input::Own(events), &mut dir.salts())
    })?;
    if decision.is_empty() {
        return Ok(false);
    }
    dir.write(
        held,
        decision,
        Terms {
            class: Some(Class::Ordered),
            ..Terms::default()
        },
    )?;
    Ok(true)
}

/// The newest injection of lifetime session of each slot on the timeline, where a mask hides it, and that mask: what is shown again
/// falls with it, since the first one stands there then.
fn hidden_injections(core: &Core) -> impl Iterator<Item = (Inject, Seq)> + '_ {
    let mut slots: Vec<Vec<u8>> = Vec::new();
    core.session_injects.iter().rev().filter_map(move |seq| {
        let logged = core.event(*seq)?;
        let Body::Inject(inject) = &logged.event.body else {
            return None;
        };
        let slot = inject.slot.bytes()?;
        let cause = core.state.hidden_by(core.state.timeline(), *seq);
        let gone = matches!(
            cause,
            Some(Cause::Rollback(_) | Cause::Undo(_) | Cause::Later | Cause::Skipped)
        );
        if gone || slots.iter().any(|known| known == slot) {
            return None;
        }
        slots.push(slot.to_vec());
        match cause {
            Some(Cause::Mask(mask)) => Some((fresh(inject), mask)),
            _ => None,
        }
    })
}

/// The same words, to be sealed anew.
fn fresh(inject: &Inject) -> Inject {
    let mut event = Event {
        at: Millis(0),
        body: Body::Inject(inject.clone()),
        because: None,
        extra: None,
    };
    event.unseal();
    match event.body {
        Body::Inject(inject) => inject,
        _ => inject.clone(),
    }
}
