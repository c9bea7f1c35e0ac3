//! What stands in the prompt by the session's own rules, whatever the policy: the version of the render, and injections of lifetime
//! session that a mask hides.

use crate::Error;
use crate::core::{Core, Input};
use crate::host::ask::Asked;
use crate::host::directory::{Directory, Held};
use crate::host::write::Terms;
use recount_events::{Body, Event, Inject, Millis, Rendering, Seq};
use recount_projections::render::RENDERING;
use recount_projections::{Cause, List};
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
        let injections = hidden_injections(core);
        let injections = injections.into_iter().map(|(inject, mask)| Event {
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
/// falls with it, since the first one stands there then. The newest comes first. Events are read of what is shown again only.
fn hidden_injections(core: &Core) -> Vec<(Inject, Seq)> {
    let slots = core.state.timeline().slots.iter();
    let mut hidden: Vec<(Seq, Seq)> = slots
        .filter_map(|(_, injected)| newest_hidden(core, injected))
        .collect();
    hidden.sort_unstable_by(|one, other| other.cmp(one));
    let shown = hidden.into_iter().filter_map(|(seq, mask)| {
        let logged = core.event(seq)?;
        match &logged.event.body {
            Body::Inject(inject) => Some((fresh(inject), mask)),
            _ => None,
        }
    });
    shown.collect()
}

/// The newest injection of lifetime session among those of a slot, oldest first, where a mask hides it, and the mask.
fn newest_hidden(core: &Core, injected: &List<Seq>) -> Option<(Seq, Seq)> {
    let timeline = core.state.timeline();
    let lasts = |seq: &&Seq| core.session_injects.binary_search(seq).is_ok();
    for seq in injected.iter().rev().filter(lasts) {
        if timeline.visible(*seq) {
            return None;
        }
        match core.state.hidden_by(timeline, *seq) {
            Some(Cause::Mask(mask)) => return Some((*seq, mask)),
            Some(Cause::Rollback(_) | Cause::Undo(_) | Cause::Later | Cause::Skipped) => {}
            _ => return None,
        }
    }
    None
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
