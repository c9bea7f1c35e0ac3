//! The prompt to send: what it decides is logged, and it leaves only when everything that it depends on is on disk.

use super::ask::Asked;
use super::changed;
use super::directory::{Directory, Held};
use super::engine::Engine;
use super::look::look;
use super::pipeline;
use super::project::{Form, answer};
use super::query;
use super::write::{Terms, check_expect, refusal};
use crate::core::{Durable, Input, Key, Measured, Pending, TOKENIZER, issued_in, profile_used};
use crate::{Error, ErrorKind, api};
use recount_events::{Body, Counted, Event, Issued, Millis, Seq, Text};
use recount_projections::render::RENDERING;
use recount_projections::{Outcome, Projection};
use recount_wal::Class;
use serde_json::value::RawValue;

impl Engine {
    /// The prompt to send. Runs the policy's tiers, which log what they decide; logs the rendering's version once, injections that a fold
    /// hid, token counts, and that it was issued; answers a prompt that is ready when all that is on disk. For a prompt that waits for
    /// somebody nothing is logged but what the answer to the one before told of the cache.
    ///
    /// # Errors
    /// As [`Engine::project`] and [`Engine::append`].
    #[tracing::instrument(level = "debug", skip_all)]
    pub fn prepare(&self, ask: &api::Prepare) -> Result<api::Prepared, Error> {
        self.prepared(ask).map(|(prepared, _)| prepared)
    }

    pub(super) fn prepared(
        &self,
        ask: &api::Prepare,
    ) -> Result<(api::Prepared, Projection), Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let key = ask.key.as_ref().map(|key| prepare_key(dir, key, ask));
        let live = dir.live(&mut held)?;
        if let Some(repeat) = live.done_before(key)? {
            return repeated(dir, &mut held, ask, repeat.last);
        }
        check_expect(live, ask.expect)?;
        let now = ask.now.map_or_else(|| dir.options.clock.now(), Millis);
        pipeline::note_answer(dir, &mut held, now)?;
        prepared_held(dir, &mut held, ask, now, key)
    }
}

/// The prompt to send of a session that is held.
pub(super) fn prepared_held(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Prepare,
    now: Millis,
    key: Option<Key>,
) -> Result<(api::Prepared, Projection), Error> {
    let prompt = look(dir, held, ask)?;
    let mut ran = pipeline::run(dir, held, ask, prompt, now)?;
    let ready = ran.prompt.1.projection.outcome == Outcome::Ready && ran.blocked.is_none();
    if ready && pipeline::first_things(dir, held, &ran.prompt.0, now)? {
        ran.prompt = look(dir, held, ask)?;
        ran.fit(dir, held, ask, now)?;
    }
    let (asked, measured) = ran.prompt;
    if measured.projection.outcome != Outcome::Ready || ran.blocked.is_some() {
        let mut prepared = finish(dir, held, ask, &asked, &measured, None)?;
        prepared.tiers = ran.tiers;
        if let Some(blocked) = ran.blocked {
            block(&mut prepared.prompt, blocked);
        }
        prepared.actions = pipeline::actions(dir, held, &ask.form)?;
        return Ok((prepared, measured.projection));
    }
    // Before it is issued itself: afterwards it would be the newest that it is compared with.
    let change = dir.ask(held, |live| {
        let since = ask.since.as_deref();
        changed::since(&mut live.core, &asked, &measured.projection, since)
    })?;
    let (issued, measured) = issue(dir, held, &asked, measured, now, key)?;
    let mut prepared = finish(dir, held, ask, &asked, &measured, Some(issued))?;
    prepared.prompt.first_changed = change.changed;
    prepared.tiers = ran.tiers;
    prepared.actions = pipeline::actions(dir, held, &ask.form)?;
    Ok((prepared, measured.projection))
}

/// A prompt that may not be sent is not handed out.
fn block(prompt: &mut api::Projected, blocked: pipeline::Blocked) {
    prompt.outcome = api::Outcome::Blocked;
    prompt.request = None;
    prompt.body_digest = None;
    prompt.blocked = Some(api::Blocked {
        by: "policy".to_owned(),
        limit: blocked.limit,
    });
}

fn prepare_key(dir: &Directory, key: &str, ask: &api::Prepare) -> Key {
    let at = serde_json::to_vec(&ask.at).unwrap_or_default();
    let params = ask.params.as_deref().map_or("", RawValue::get);
    let profile = ask.profile.as_ref().map_or("", |spec| spec.0.get());
    let wire = ask.wire.as_deref().unwrap_or_default();
    let heal = [u8::from(ask.heal)];
    Key::new(
        &dir.key,
        key,
        [
            b"prepare".as_slice(),
            &at,
            params.as_bytes(),
            profile.as_bytes(),
            wire.as_bytes(),
            &heal,
        ],
    )
}

/// Logs counts and the issue, waits for the disk, opens the prompt.
fn issue(
    dir: &Directory,
    held: &mut Held<'_>,
    asked: &Asked,
    measured: Measured,
    now: Millis,
    key: Option<Key>,
) -> Result<(Seq, Measured), Error> {
    let stream = held.slot.stream;
    let core = &dir.live(held)?.core;
    let counts = core.counting.fresh();
    let counted = (!counts.is_empty()).then(|| {
        Body::Counted(Counted {
            tokenizer: TOKENIZER.to_owned(),
            counts: counts.clone(),
        })
    });
    let extra = asked.source.is_none().then(|| profile_used(&asked.profile));
    let own = |body| Event {
        at: now,
        body,
        because: None,
        extra: None,
    };
    let issue = Event {
        extra,
        ..own(Body::Issued(issued(asked, &measured)))
    };
    let events = counted.into_iter().map(own).chain([issue]).collect();
    let decision = core.handle(now, Input::Own(events), &mut dir.salts())?;
    let last = decision.last().unwrap_or_default();
    let receipt = dir.write(
        held,
        decision,
        Terms {
            key,
            class: Some(Class::Synced),
            origin: None,
        },
    )?;
    let core = &mut dir.live(held)?.core;
    core.counting.logged(&counts);
    core.last_issued = Some((
        measured.projection.digest,
        measured.projection.pieces.clone(),
    ));
    let pending = Pending::new(measured.projection, last);
    let token = match Durable::receipt(&receipt) {
        Some(token) if token.reaches(pending.needs()) => token,
        _ => Durable::synced(&*dir.log()?, stream, pending.needs())
            .map_err(|cause| refusal(&cause))?,
    };
    let prepared = pending.open(token).map_err(|pending| {
        Error::new(
            ErrorKind::NotDurable,
            "what the prompt depends on is not on disk",
        )
        .with_since(pending.needs().0)
    })?;
    Ok((
        last,
        Measured {
            projection: prepared.projection,
            meter: measured.meter,
        },
    ))
}

fn issued(asked: &Asked, measured: &Measured) -> Issued {
    Issued {
        digest: measured.projection.digest,
        cut: asked.cut,
        estimate: measured.projection.tokens,
        params: Some(Text::json(&measured.projection.params)),
        wire: asked.wire,
        rendering: RENDERING,
        profile: asked.source,
        healed: asked.heal,
    }
}

/// Answers again what was prepared under the same key.
pub(super) fn repeated(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Prepare,
    issued: Seq,
) -> Result<(api::Prepared, Projection), Error> {
    let logged = dir.live(held)?.core.event(issued);
    let cut = match logged.as_deref().and_then(issued_in) {
        Some(issued) => issued.cut,
        None => {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("the key issued no prompt; seq={issued}"),
            ));
        }
    };
    let stream = held.slot.stream;
    dir.log()?
        .sync(stream, issued.0)
        .map_err(|cause| refusal(&cause))?;
    let again = api::Prepare {
        at: api::At::Seq(cut.0),
        ..ask.clone()
    };
    let (asked, measured) = look(dir, held, &again)?;
    let mut prepared = finish(dir, held, &again, &asked, &measured, Some(issued))?;
    // What the host has to do is repeated until it is answered: the answer that told of it may be the one that was lost.
    prepared.actions = pipeline::actions(dir, held, &ask.form)?;
    Ok((prepared, measured.projection))
}

fn finish(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Prepare,
    asked: &Asked,
    measured: &Measured,
    issued: Option<Seq>,
) -> Result<api::Prepared, Error> {
    let (name, stream) = (held.slot.name.clone(), held.slot.stream);
    let form = Form {
        pieces: ask.pieces,
        since: ask.since.as_deref(),
        body: &ask.form,
    };
    dir.ask(held, |live| {
        let core = &mut live.core;
        let prompt = answer(dir, stream, core, asked, measured, &form)?;
        Ok(api::Prepared {
            prompt,
            issued: issued.map(|seq| seq.0),
            head: core.head().map_or(0, |head| head.0),
            tiers: Vec::new(),
            actions: Vec::new(),
            status: query::report(dir, stream, &name, core, Some((&asked.profile, measured)))?,
        })
    })
}
