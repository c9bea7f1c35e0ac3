//! Checkpoints, rollbacks, undos.

use super::directory::durable;
use super::directory::{Directory, Held};
use super::engine::Engine;
use super::look::look_behind;
use super::project::{self, Glance};
use super::write::{Terms, check_expect, synced};
use crate::core::{Input, Key};
use crate::{Error, api};
use recount_events::{Body, Millis, Seq, Target, Text};

/// The words that every method which writes takes.
struct Common<'a> {
    key: Option<&'a str>,
    expect: Option<u64>,
    at: Option<u64>,
}

/// Decides and writes one event, or finds what was written under its key. Answers its position.
fn perform(
    dir: &Directory,
    held: &mut Held<'_>,
    common: &Common<'_>,
    parts: &[&[u8]],
    input: impl Fn() -> Input,
) -> Result<Seq, Error> {
    let live = dir.live(held)?;
    let key = common
        .key
        .map(|key| Key::new(&dir.key, key, parts.iter().copied()));
    if let Some(repeat) = live.done_before(key)? {
        synced(dir, held.slot.stream, repeat)?;
        return Ok(repeat.last);
    }
    check_expect(live, common.expect)?;
    let now = common.at.map_or_else(|| dir.options.clock.now(), Millis);
    let decision = dir.ask(held, |live| {
        live.core.handle(now, input(), &mut dir.salts())
    })?;
    let seq = decision.first;
    dir.write(
        held,
        decision,
        Terms {
            key,
            ..Terms::default()
        },
    )?;
    Ok(seq)
}

/// What the prompt is at a position that was just written: its digest and tokens, if there is a profile and nothing fails.
fn glance(dir: &Directory, held: &mut Held<'_>, seq: Seq) -> Option<Glance> {
    look_behind(dir, held, |live| project::glance(&mut live.core, seq))
}

impl Engine {
    /// Names the head.
    ///
    /// # Errors
    /// As [`Engine::append`].
    pub fn checkpoint(&self, ask: &api::Checkpoint) -> Result<api::Checkpointed, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let common = Common {
            key: ask.key.as_deref(),
            expect: ask.expect,
            at: ask.at,
        };
        let workspace = ask.workspace.as_deref().unwrap_or_default();
        let parts: [&[u8]; 3] = [b"checkpoint", ask.label.as_bytes(), workspace.as_bytes()];
        let input = || Input::Checkpoint {
            label: ask.label.clone(),
            workspace: ask.workspace.clone(),
        };
        let seq = perform(dir, &mut held, &common, &parts, input)?;
        let core = &dir.live(&mut held)?.core;
        Ok(api::Checkpointed {
            seq: seq.0,
            at: core.event(seq).map_or(0, |logged| logged.event.at.0),
            head: core.head().unwrap_or(seq).0,
            durable: durable(dir, slot.stream)?,
        })
    }

    /// Makes the timeline that of an earlier position again.
    ///
    /// # Errors
    /// `not_found` when nothing is there, `rejected` for the future, `invalid` for no turns; else as [`Engine::append`].
    pub fn rollback(&self, ask: &api::Rollback) -> Result<api::RolledBack, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let common = Common {
            key: ask.key.as_deref(),
            expect: ask.expect,
            at: ask.at,
        };
        let shown = serde_json::to_vec(&ask.to).unwrap_or_default();
        let parts: [&[u8]; 2] = [b"rollback", &shown];
        let asked = target(&ask.to);
        let skipped = dir.ask(&mut held, |live| {
            let resolved = live.core.state.resolve(&asked);
            Ok(resolved.map_or(0, |resolved| resolved.skipped))
        })?;
        let seq = perform(dir, &mut held, &common, &parts, || {
            Input::Rollback(asked.clone())
        })?;
        let core = &dir.live(&mut held)?.core;
        let head = core.head().unwrap_or(seq).0;
        let logged = core.event(seq);
        let to = match logged.as_ref().map(|logged| &logged.event.body) {
            Some(Body::Rollback(rollback)) => rollback.to.unwrap_or_default(),
            _ => Seq::default(),
        };
        let at = look_behind(dir, &mut held, |live| live.core.event(to));
        let glance = glance(dir, &mut held, seq);
        let why = look_behind(dir, &mut held, |live| why(&live.core, seq, skipped));
        Ok(api::RolledBack {
            event: seq.0,
            to: to.0,
            at: at.map_or(0, |logged| logged.event.at.0),
            skipped,
            why,
            head,
            durable: durable(dir, slot.stream)?,
            digest: glance.as_ref().map(|glance| glance.digest.to_string()),
            tokens: glance.map(|glance| glance.tokens),
        })
    }

    /// Takes one event's effect out of the timeline; what came later stays.
    ///
    /// # Errors
    /// `rejected` when it cannot be undone now (`suggest` says what to do first), `not_found`; else as [`Engine::append`].
    pub fn undo(&self, ask: &api::Undo) -> Result<api::Undone, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let common = Common {
            key: ask.key.as_deref(),
            expect: ask.expect,
            at: ask.at,
        };
        let number = ask.event.to_le_bytes();
        let parts: [&[u8]; 2] = [b"undo", &number];
        let seq = perform(dir, &mut held, &common, &parts, || {
            Input::Undo(Seq(ask.event))
        })?;
        let head = dir.live(&mut held)?.core.head().unwrap_or(seq).0;
        let glance = glance(dir, &mut held, seq);
        Ok(api::Undone {
            event: seq.0,
            head,
            durable: durable(dir, slot.stream)?,
            digest: glance.as_ref().map(|glance| glance.digest.to_string()),
            tokens: glance.map(|glance| glance.tokens),
        })
    }
}

fn target(to: &api::To) -> Target {
    match to {
        api::To::Seq(seq) => Target::Seq(Seq(*seq)),
        api::To::Time(time) => Target::Time(Millis(*time)),
        api::To::Checkpoint(label) => Target::Checkpoint(Text::plain(label)),
        api::To::Turns(turns) => Target::Turns(*turns),
    }
}

/// What the caller should know.
fn why(core: &crate::core::Core, seq: Seq, skipped: u64) -> Option<String> {
    let mut said = Vec::new();
    if skipped > 0 {
        said.push(format!(
            "clocks ran backwards: later-stamped events before that position={skipped}"
        ));
    }
    let before = seq
        .prev()
        .and_then(|before| core.state.timeline_at(before).ok())?;
    let after = core.state.timeline_at(seq).ok()?;
    let name = |timeline: &recount_projections::Timeline| {
        timeline.header.profile.as_ref().map(|logged| logged.seq)
    };
    if name(&before) != name(&after) {
        said.push("the profile is another one again".to_owned());
    }
    (!said.is_empty()).then(|| said.join("; "))
}
