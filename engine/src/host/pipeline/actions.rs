//! What only the host can do: a function of the log, so that it is there after a restart as it was before.
//!
//! - `summarise`: the open requests of the compaction that waits.
//! - `resize`: pictures that are too large for the profile and stand as words.
//! - `tell`: what stops the session from helping itself, until somebody said that it was told.

use super::ground::{own, write};
use super::requests::{self, Pending};
use super::{compact, summarised};
use crate::core::{Core, Key, block_of, profile_of};
use crate::host::directory::{Directory, Held};
use crate::host::engine::Engine;
use crate::host::write::{check_expect, synced};
use crate::{Error, ErrorKind, api};
use recount_events::{
    BlockId, Body, BreakerState, CompactAbandon, Done, Event, ImageFacts, Millis, Overflow,
    Profile, Seq, Text,
};
use recount_policies::compact::breakers::{COMPACTION, FLOOR, REFILL};
use recount_projections::render::RepairKind;
use recount_projections::{BreakerView, Logged};
use serde_json::value::to_raw_value;

impl Engine {
    /// What the host has to do, also from before a restart: until it is answered.
    ///
    /// # Errors
    /// `not_found`, `io`.
    pub fn actions(&self, ask: &api::Actions) -> Result<api::ActionList, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        Ok(api::ActionList {
            actions: actions(dir, &mut held, &ask.form)?,
        })
    }

    /// An action was carried out, or could not be.
    ///
    /// # Errors
    /// `not_found` for an action that is not pending; `invalid` for a summary without an error (its own method takes it); else as
    /// [`Engine::append`].
    pub fn done(&self, ask: &api::Done) -> Result<api::Noted, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let error = ask.error.as_deref().unwrap_or_default();
        let parts = [b"done".as_slice(), ask.action.as_bytes(), error.as_bytes()];
        let key = ask.key.as_ref().map(|key| Key::new(&dir.key, key, parts));
        if said_before(dir, &mut held, key, ask.expect)? {
            return noted(dir, &mut held);
        }
        let known = actions(dir, &mut held, &api::As::None)?;
        let known = known.into_iter().find(|action| action.id == ask.action);
        let ended = dir
            .live(&mut held)?
            .core
            .state
            .ledger()
            .done
            .contains_key(&ask.action);
        match known {
            Some(action) if action.kind == "summarise" => {
                failed_call(dir, &mut held, ask, &action, key)?;
            }
            Some(_) => {
                let now = ask.now.map_or_else(|| dir.options.clock.now(), Millis);
                let done = Done {
                    action: ask.action.clone(),
                    error: ask.error.as_deref().map(Text::plain),
                };
                let step = compact::plain(dir, &mut held, now, &[own(now, Body::Done(done))])?;
                write(dir, &mut held, step, key)?;
            }
            None if ended => {}
            None => {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!("there is no such action pending; action={:?}", ask.action),
                )
                .with_next("`actions` lists what is pending"));
            }
        }
        noted(dir, &mut held)
    }

    /// Gives a compaction up.
    ///
    /// # Errors
    /// `rejected` when it is not pending; else as [`Engine::append`].
    pub fn abandon(&self, ask: &api::Abandon) -> Result<api::Noted, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let parts = [
            b"abandon".as_slice(),
            ask.compaction.as_bytes(),
            ask.reason.as_bytes(),
        ];
        let key = ask.key.as_ref().map(|key| Key::new(&dir.key, key, parts));
        if said_before(dir, &mut held, key, ask.expect)? {
            return noted(dir, &mut held);
        }
        let pending = Pending::unended(&dir.live(&mut held)?.core);
        if pending.is_none_or(|pending| pending.id() != ask.compaction) {
            return Err(Error::new(
                ErrorKind::Rejected,
                format!(
                    "the compaction is not pending; compaction={:?}",
                    ask.compaction
                ),
            )
            .with_next("`actions` lists what is pending"));
        }
        let now = ask.now.map_or_else(|| dir.options.clock.now(), Millis);
        let abandon = CompactAbandon {
            id: Text::plain(&ask.compaction),
            reason: Text::plain(&ask.reason),
        };
        let event = own(now, Body::CompactAbandon(abandon));
        let step = compact::plain(dir, &mut held, now, &[event])?;
        write(dir, &mut held, step, key)?;
        noted(dir, &mut held)
    }
}

/// It was done under this key before; else the head is the one that the caller expects.
fn said_before(
    dir: &Directory,
    held: &mut Held<'_>,
    key: Option<Key>,
    expect: Option<u64>,
) -> Result<bool, Error> {
    let live = dir.live(held)?;
    match live.done_before(key)? {
        Some(repeat) => synced(dir, held.slot.stream, repeat).map(|()| true),
        None => check_expect(live, expect).map(|()| false),
    }
}

fn noted(dir: &Directory, held: &mut Held<'_>) -> Result<api::Noted, Error> {
    let head = dir.live(held)?.core.head().unwrap_or_default().0;
    Ok(api::Noted { head })
}

/// A summary that the host could not get is an answer like any other error of the call.
fn failed_call(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Done,
    action: &api::Action,
    key: Option<Key>,
) -> Result<(), Error> {
    let Some(error) = &ask.error else {
        return Err(
            Error::invalid("a summary is reported by `summarised`, with its text")
                .with_field("action")
                .with_next(
                    "call summarised with the compaction, the chunk and the text; or name the error",
                ),
        );
    };
    let error = to_raw_value(error).map_err(|cause| Error::invalid(cause.to_string()))?;
    let told = api::Summarised {
        session: ask.session.clone(),
        compaction: action.compaction.clone().unwrap_or_default(),
        chunk: action.chunk.unwrap_or_default(),
        error: Some(error),
        now: ask.now,
        form: api::As::None,
        ..api::Summarised::default()
    };
    summarised::take(dir, held, &told, key).map(|_| ())
}

/// Everything that is pending, oldest kind first.
pub(crate) fn actions(
    dir: &Directory,
    held: &mut Held<'_>,
    form: &api::As,
) -> Result<Vec<api::Action>, Error> {
    let pending = Pending::of(&dir.live(held)?.core);
    let mut all = match &pending {
        Some(pending) => summaries(pending, requests::open(dir, held, pending, form)?),
        None => Vec::new(),
    };
    let rest = dir.ask(held, |live| {
        let core = &mut live.core;
        let pictures = pictures(core);
        Ok([pictures, told(core)].concat())
    })?;
    let done = &dir.live(held)?.core.state.ledger().done;
    all.extend(
        rest.into_iter()
            .filter(|action| !done.contains_key(&action.id)),
    );
    Ok(all)
}

fn summaries(pending: &Pending, requests: Vec<api::ChunkRequest>) -> Vec<api::Action> {
    let one = |open: api::ChunkRequest| api::Action {
        id: format!("summarise-{}-{}", pending.seq, open.chunk),
        kind: "summarise".to_owned(),
        compaction: Some(pending.id()),
        chunk: Some(open.chunk),
        request: Some(open.request),
        first: Some(open.first),
        last: Some(open.last),
        ..api::Action::default()
    };
    requests.into_iter().map(one).collect()
}

/// Pictures of the prompt that the profile does not take at their size.
fn pictures(core: &mut Core) -> Vec<api::Action> {
    let timeline = core.state.timeline().clone();
    let logged = timeline.header.profile.clone();
    let Some(profile) = logged.as_deref().and_then(profile_of) else {
        return Vec::new();
    };
    if profile.images_bytes == 0 && profile.images_pixels == 0 {
        return Vec::new();
    }
    let prompt = core.prompt(&timeline, profile, profile.wire, true);
    let left_out = prompt.projection.repairs.iter();
    left_out
        .filter(|repair| repair.kind == RepairKind::Image)
        .filter_map(|repair| repair.block)
        .filter(|block| is_too_large(core, *block, profile))
        .map(|block| api::Action {
            id: format!("resize-{}-{}", block.seq, block.index),
            kind: "resize".to_owned(),
            block: Some((block.seq.0, block.index)),
            pixels: Some(u64::from(profile.images_pixels)),
            bytes: Some(profile.images_bytes),
            ..api::Action::default()
        })
        .collect()
}

fn is_too_large(core: &Core, id: BlockId, profile: &Profile) -> bool {
    let logged = core.event(id.seq);
    let shown = logged.map(|logged| shown_in(&logged.event, id));
    let over = |limit: u64, value: u64| limit > 0 && value > limit;
    shown.into_iter().flatten().any(|facts| {
        over(profile.images_bytes, facts.bytes)
            || over(
                u64::from(profile.images_pixels),
                u64::from(facts.width.max(facts.height)),
            )
    })
}

/// The pictures that a block shows. A result and an injection are one block, whatever they are made of.
fn shown_in(event: &Event, id: BlockId) -> Vec<ImageFacts> {
    let content = match &event.body {
        Body::ToolResult(result) => &result.content,
        Body::Inject(inject) => &inject.content,
        _ => {
            let block = block_of(event, id);
            return block.map_or_else(Vec::new, |(format, block)| block.images(format));
        }
    };
    let blocks = content.blocks.iter();
    blocks
        .flat_map(|block| block.images(content.format))
        .collect()
}

/// What the person should know.
fn told(core: &Core) -> Vec<api::Action> {
    let breakers = core.state.ledger().breakers.iter();
    let mut all: Vec<(Seq, api::Action)> = breakers
        .filter(|(_, breaker)| breaker.state == BreakerState::Trips)
        .map(|(name, breaker)| {
            let (text, level) = tripped(name, breaker);
            (breaker.seq, tell(breaker.seq, text, level))
        })
        .collect();
    if let Some((seq, senseless)) = core.senseless() {
        let text = format!(
            "Numbers of the policy make no sense and are taken otherwise: {}. Append a policy that has others.",
            senseless.join("; ")
        );
        all.push((seq, tell(seq, text, "warning")));
    }
    if let Some(surfaced) = super::cascade::surfaced(core) {
        let text = refusal(&surfaced);
        all.push((surfaced.seq, tell(surfaced.seq, text, "error")));
    }
    all.sort_by_key(|(seq, _)| *seq);
    all.into_iter().map(|(_, action)| action).collect()
}

fn tell(seq: Seq, text: String, level: &str) -> api::Action {
    api::Action {
        id: format!("tell-{seq}"),
        kind: "tell".to_owned(),
        text: Some(text),
        level: Some(level.to_owned()),
        ..api::Action::default()
    }
}

/// What a breaker that stopped something means.
fn tripped(name: &str, breaker: &BreakerView) -> (String, &'static str) {
    let value = breaker.value;
    match name {
        FLOOR => (
            format!(
                "What no compaction can take away (tools, system prompt, pinned content) is {value} tokens, above the line at which \
                 compaction begins: it is not tried until that changes. Fewer tools, a shorter system prompt or a larger window help."
            ),
            "warning",
        ),
        COMPACTION => (
            format!(
                "Automatic compaction stopped after {value} failures in a row. Compact by hand, or change the model that summarises."
            ),
            "warning",
        ),
        REFILL => (
            format!(
                "Automatic compaction stopped: {value} times in a row the window was full again with hardly anything new in it. What stays \
                 (system prompt, tools, the summary, what is kept and restored) leaves no room to work. Shorter summaries, fewer tools or a \
                 larger window help; a compaction by hand lets it run again."
            ),
            "warning",
        ),
        other => (
            format!(
                "The breaker `{other}` stopped its tier; value={value}. Compact by hand, or change the policy."
            ),
            "warning",
        ),
    }
}

/// What a refusal means that nothing helped against.
fn refusal(surfaced: &Logged) -> String {
    let Body::Overflow(Overflow {
        actual,
        limit,
        kind,
        ..
    }) = &surfaced.event.body
    else {
        return String::new();
    };
    let kind = super::cascade::excess_name(*kind);
    let number = |number: &Option<u64>| {
        number.map_or_else(
            || "an unknown number".to_owned(),
            |number| number.to_string(),
        )
    };
    format!(
        "The provider refused the prompt for its size ({} of {} {kind}), and nothing more could be taken out of it.",
        number(actual),
        number(limit)
    )
}
