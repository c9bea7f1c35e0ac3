//! Instruction files: a block of the system prompt, or an injection; logged only where the prompt does not show them yet.

use super::directory::Directory;
use super::engine::Engine;
use super::write::{Terms, check_expect, synced};
use crate::core::{Core, Input, Key};
use crate::{Error, api};
use recount_events::{Body, Event, Millis, System};
use recount_policies::assembly::instructions;

impl Engine {
    /// Shows an instruction file, or an agent's prompt, from now on.
    ///
    /// # Errors
    /// `invalid` for a nested file that says nothing; else as [`Engine::append`].
    pub fn instruct(&self, ask: &api::Instruct) -> Result<api::Instructed, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        if ask.content.is_empty() && ask.scope == api::InstructScope::Nested {
            return Err(Error::invalid("a nested file says nothing")
                .with_field("content")
                .with_next("undo its event to take it out of the prompt"));
        }
        let live = dir.live(&mut held)?;
        let key = ask.key.as_ref().map(|key| instruct_key(dir, key, ask));
        if let Some(repeat) = live.done_before(key)? {
            synced(dir, slot.stream, repeat)?;
            return Ok(api::Instructed {
                head: repeat.last.0,
                event: Some(repeat.first.0),
                changed: true,
            });
        }
        check_expect(live, ask.expect)?;
        let now = ask.now.map_or_else(|| dir.options.clock.now(), Millis);
        let decision = dir.ask(&mut held, |live| {
            let body = proposed(&live.core, ask);
            let events = body.map(|body| Event {
                at: now,
                body,
                because: None,
                extra: None,
            });
            let input = Input::Append(events.into_iter().collect());
            live.core.handle(now, input, &mut dir.salts())
        })?;
        let event = (!decision.is_empty()).then_some(decision.first.0);
        if event.is_some() {
            let terms = Terms {
                key,
                ..Terms::default()
            };
            dir.write(&mut held, decision, terms)?;
        }
        let head = dir.live(&mut held)?.core.head();
        Ok(api::Instructed {
            head: head.map_or(0, |head| head.0),
            event,
            changed: event.is_some(),
        })
    }
}

/// The event that shows it; none where the prompt does already.
fn proposed(core: &Core, ask: &api::Instruct) -> Option<Body> {
    let logged = core.state.timeline().header.system.as_ref();
    let system: Option<&System> = logged.and_then(|logged| match &logged.event.body {
        Body::System(system) => Some(system),
        _ => None,
    });
    match ask.scope {
        api::InstructScope::Root => {
            instructions::root(system, &ask.path, &ask.content).map(Body::System)
        }
        api::InstructScope::Agent => instructions::agent(system, &ask.content).map(Body::System),
        api::InstructScope::Nested => {
            instructions::nested(&core.state, &ask.path, &ask.content).map(Body::Inject)
        }
    }
}

fn instruct_key(dir: &Directory, key: &str, ask: &api::Instruct) -> Key {
    let scope = [ask.scope as u8];
    Key::new(
        &dir.key,
        key,
        [
            b"instruct".as_slice(),
            &scope,
            ask.path.as_bytes(),
            ask.content.as_bytes(),
        ],
    )
}
