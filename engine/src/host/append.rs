//! Appending events, waiting for the disk, closing what an interruption left open.

use super::directory::{Directory, durable};
use super::engine::Engine;
use super::look::look_behind;
use super::open_calls::open_calls;
use super::write::{Terms, check_expect, class, synced};
use crate::core::{Core, Decision, Drafts, Input, Key, Repeat};
use crate::{Error, ErrorKind, api};
use recount_events::raw::members;
use recount_events::{BlockId, Body, Bound, Draft, Event, Millis, Problem, Refusal};
use recount_projections::{List, Piece};
use recount_wal::StreamId;
use serde_json::value::RawValue;

/// A host's batch, parsed.
#[derive(Default)]
struct Parsed {
    events: Vec<Event>,
    /// Each with the number of events before it.
    drafts: Vec<(usize, Draft)>,
}

impl Parsed {
    /// The drafts after the batch: a final message ends those before it.
    fn drafts_after(&self, mut drafts: Drafts) -> Drafts {
        let mut waiting = self.drafts.iter().peekable();
        for (place, event) in self.events.iter().enumerate() {
            while let Some((_, draft)) = waiting.next_if(|(before, _)| *before <= place) {
                drafts.take(draft.clone());
            }
            drafts.follow(event);
        }
        waiting.for_each(|(_, draft)| drafts.take(draft.clone()));
        drafts
    }
}

impl Engine {
    /// Appends events: all or none.
    ///
    /// # Errors
    /// `rejected` or `not_found` when one does not fit (`index` says which), `invalid` when one is no event, `conflict` for `expect` and
    /// keys, and what the log refuses: `io`, `unknown`, `not_durable`, `too_large`.
    #[tracing::instrument(level = "debug", skip_all, fields(events = ask.events.len()))]
    pub fn append(&self, ask: &api::Append) -> Result<api::Appended, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let live = dir.live(&mut held)?;
        let key = ask
            .key
            .as_ref()
            .map(|key| append_key(dir, key, &ask.events));
        if let Some(repeat) = live.done_before(key)? {
            let waits = ask.durability != Some(api::Durability::Ordered);
            return repeated(dir, slot.stream, repeat, waits);
        }
        check_expect(live, ask.expect)?;
        let now = ask.at.map_or_else(|| dir.options.clock.now(), Millis);
        let parsed = parse(&ask.events, now, keeps_unknown(ask)?)?;
        let drafts = parsed.drafts_after(live.core.drafts.clone());
        let decision = dir.ask(&mut held, |live| {
            let events = parsed.events.clone();
            live.core
                .handle(now, Input::Append(events), &mut dir.salts())
        })?;
        let live = dir.live(&mut held)?;
        let first = decision.first.0;
        let head = decision.last().or(live.core.head());
        let before = may_change(&live.core, &decision)
            .then(|| live.core.pieces_at_hand())
            .flatten();
        if !decision.is_empty() {
            let terms = Terms {
                key,
                class: class(ask.durability),
                origin: None,
            };
            dir.write(&mut held, decision, terms)?;
        }
        if let Some(live) = held.live() {
            live.core.drafts = drafts;
        }
        let first_changed = before.and_then(|before| {
            look_behind(dir, &mut held, |live| {
                changed_since(&mut live.core, &before)
            })
        });
        Ok(api::Appended {
            first,
            head: head.unwrap_or_default().0,
            durable: durable(dir, slot.stream)?,
            repeated: false,
            first_changed,
        })
    }

    /// Waits until a position is on disk.
    ///
    /// # Errors
    /// `not_durable` when the disk refuses, `not_found`.
    #[tracing::instrument(level = "debug", skip_all)]
    pub fn sync(&self, ask: &api::Sync) -> Result<api::Synced, Error> {
        let dir = &*self.inner;
        super::directory::check_name(&ask.session)?;
        let stream = dir.stream(&ask.session);
        let log = dir.log()?;
        let heads = log
            .heads(stream)
            .ok_or_else(|| super::load::no_session(&ask.session))?;
        let seq = ask.seq.unwrap_or(heads.accepted);
        if seq > heads.accepted {
            let message = format!(
                "there is no such position yet; seq={seq} head={}",
                heads.accepted
            );
            return Err(Error::new(ErrorKind::NotFound, message).with_head(Some(heads.accepted)));
        }
        let upto = log
            .sync(stream, seq)
            .map_err(|cause| super::write::refusal(&cause))?;
        Ok(api::Synced {
            durable: Some(upto),
        })
    }

    /// Closes the draft and every open call in one batch; nothing open: nothing is logged.
    ///
    /// # Errors
    /// As [`Engine::append`].
    pub fn interrupt(&self, ask: &api::Interrupt) -> Result<api::Interrupted, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let live = dir.live(&mut held)?;
        let key = ask
            .key
            .as_ref()
            .map(|key| Key::new(&dir.key, key, [b"interrupt".as_slice()]));
        if let Some(repeat) = live.done_before(key)? {
            return interrupted_before(dir, slot.stream, repeat);
        }
        check_expect(live, ask.expect)?;
        let now = ask.now.map_or_else(|| dir.options.clock.now(), Millis);
        let (closed, decision) = dir.ask(&mut held, |live| {
            let closed = open_calls(&live.core);
            let decision = live.core.handle(now, Input::Interrupt, &mut dir.salts())?;
            Ok((closed, decision))
        })?;
        let draft = decision.applied.len() > closed.len();
        let first = decision.first.0;
        if !decision.is_empty() {
            dir.write(
                &mut held,
                decision,
                Terms {
                    key,
                    ..Terms::default()
                },
            )?;
        }
        let core = &mut dir.live(&mut held)?.core;
        core.drafts = Drafts::default();
        let head = core.head().map_or(0, |head| head.0);
        Ok(api::Interrupted {
            first,
            head,
            durable: durable(dir, slot.stream)?,
            closed,
            draft,
        })
    }
}

/// The events may change or take away what the prompt showed: not so messages, first results of open calls, and what only adds.
fn may_change(core: &Core, decision: &Decision) -> bool {
    let interims: Vec<BlockId> = core
        .state
        .open_calls()
        .iter()
        .filter(|open| open.interim.is_some())
        .map(|open| open.block)
        .collect();
    let answers = |bound: &Bound| matches!(bound, Bound::To(call) if interims.contains(call));
    decision
        .applied
        .iter()
        .any(|(event, applied)| match &event.body {
            Body::ToolResult(result) => result.bound.as_ref().is_some_and(answers),
            Body::Message(message) => message.results.iter().any(|mark| answers(&mark.bound)),
            _ => {
                applied.header
                    || applied
                        .touched
                        .is_some_and(|touched| touched < decision.first)
            }
        })
}

/// The first piece that is no longer there as it was.
fn changed_since(core: &mut Core, before: &List<Piece>) -> Option<api::Changed> {
    let now = core.pieces()?;
    super::changed::compare(core, core.state.timeline(), before, &now).changed
}

fn interrupted_before(
    dir: &Directory,
    stream: StreamId,
    repeat: Repeat,
) -> Result<api::Interrupted, Error> {
    synced(dir, stream, repeat)?;
    Ok(api::Interrupted {
        first: repeat.first.0,
        head: repeat.last.0,
        durable: durable(dir, stream)?,
        closed: Vec::new(),
        draft: false,
    })
}

/// A key and what was asked under it: the events without their times.
fn append_key(dir: &Directory, key: &str, events: &[Box<RawValue>]) -> Key {
    let mut parts: Vec<&[u8]> = vec![b"append"];
    for event in events {
        parts.push(b"event");
        for member in members(event.get()).into_iter().flatten() {
            if member.key() != "at" {
                parts.push(member.token.as_bytes());
                parts.push(member.value.as_bytes());
            }
        }
    }
    Key::new(&dir.key, key, parts)
}

/// The first receipt again; its events are on disk by now unless the caller does not ask for that.
fn repeated(
    dir: &Directory,
    stream: StreamId,
    repeat: Repeat,
    waits: bool,
) -> Result<api::Appended, Error> {
    if waits {
        synced(dir, stream, repeat)?;
    }
    Ok(api::Appended {
        first: repeat.first.0,
        head: repeat.last.0,
        durable: durable(dir, stream)?,
        repeated: true,
        first_changed: None,
    })
}

fn keeps_unknown(ask: &api::Append) -> Result<bool, Error> {
    match ask.unknown.as_deref() {
        None => Ok(false),
        Some("keep") => Ok(true),
        Some(_) => {
            Err(Error::invalid("the parameter unknown can only be \"keep\"").with_field("unknown"))
        }
    }
}

fn parse(events: &[Box<RawValue>], now: Millis, keep: bool) -> Result<Parsed, Error> {
    let mut parsed = Parsed::default();
    for (index, raw) in events.iter().enumerate() {
        parse_one(raw.get(), now, keep, &mut parsed)
            .map_err(|error| error.with_index(index as u64))?;
    }
    Ok(parsed)
}

fn parse_one(raw: &str, now: Millis, keep: bool, parsed: &mut Parsed) -> Result<(), Error> {
    match Event::from_json(raw, now) {
        Ok(event) if event.body.host_may_append() => parsed.events.push(settled(event)?),
        Ok(event) => {
            return Err(Error::invalid(format!(
                "only the engine writes events of this type; type={}",
                event.body.name()
            ))
            .with_field("type"));
        }
        Err(refusal) => match refusal.problem {
            Problem::Transient => {
                let draft = Draft::from_json(raw, now).map_err(|refusal| unfit(&refusal))?;
                parsed.drafts.push((parsed.events.len(), draft));
            }
            Problem::UnknownType(_) if keep => parsed.events.push(Event::keep(raw, now)),
            _ => return Err(unfit(&refusal)),
        },
    }
    Ok(())
}

/// A policy with all its numbers; any other event as it is.
fn settled(mut event: Event) -> Result<Event, Error> {
    if let Body::Policy(policy) = event.body {
        event.body = Body::Policy(crate::profiles::settled(policy)?);
    }
    Ok(event)
}

/// The error of JSON that is no event.
pub(super) fn unfit(refusal: &Refusal) -> Error {
    let error =
        Error::invalid(format!("not an event: {refusal}")).with_field(refusal.field.clone());
    match refusal.problem {
        Problem::UnknownType(_) => error.with_next(
            "correct the type, or ask with unknown: \"keep\" to have it kept word for word",
        ),
        _ => error,
    }
}
