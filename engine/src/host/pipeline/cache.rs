//! What an answer tells of the provider's cache: falls, seen, explained and logged before the next prompt is made; and what edits freed.
//!
//! - Not when a usage is appended: its parts may come one by one, and an append is not to wait for two prompts to be rendered.

use crate::Error;
use crate::core::Input;
use crate::host::directory::{Directory, Held};
use crate::host::notices::Notice;
use crate::host::write::Terms;
use recount_events::{Body, CacheAck, CacheBreak, CacheCause, Event, Millis};
use recount_policies::{cache, micro};
use recount_wal::Class;

/// Logs what the newest answer tells of the provider's cache: what a cache edit freed, and that much less was read from it than before.
pub(crate) fn note_answer(dir: &Directory, held: &mut Held<'_>, now: Millis) -> Result<(), Error> {
    if let Some(ack) = acknowledged(dir, held)? {
        log(dir, held, Body::CacheAck(ack), now)?;
    }
    if !dir.ask(held, |live| Ok(cache::fell(&live.core.state)))? {
        return Ok(());
    }
    // Two earlier prompts are rendered.
    let Some(fall) = cache::detect(&dir.whole(held)?.core.state) else {
        return Ok(());
    };
    let seq = log(dir, held, Body::CacheBreak(fall.clone()), now)?;
    let session = held.slot.name.clone();
    dir.options.notices.tell(&notice(session, seq, &fall));
    Ok(())
}

/// What the newest usage says of the cache edit that waits for it.
fn acknowledged(dir: &Directory, held: &mut Held<'_>) -> Result<Option<CacheAck>, Error> {
    dir.ask(held, |live| {
        let state = &live.core.state;
        let timeline = state.timeline();
        if timeline.cache_edits.is_empty() {
            return Ok(None);
        }
        let newest = timeline.usage.and_then(|seq| state.event(seq));
        Ok(newest.and_then(|logged| match &logged.event.body {
            Body::Usage(usage) => micro::acknowledge(state, usage),
            _ => None,
        }))
    })
}

fn log(dir: &Directory, held: &mut Held<'_>, body: Body, now: Millis) -> Result<u64, Error> {
    let event = Event {
        at: now,
        body,
        because: None,
        extra: None,
    };
    let decision = dir.ask(held, |live| {
        live.core
            .handle(now, Input::Own(vec![event.clone()]), &mut dir.salts())
    })?;
    let seq = decision.first.0;
    let terms = Terms {
        class: Some(Class::Ordered),
        ..Terms::default()
    };
    dir.write(held, decision, terms)?;
    Ok(seq)
}

fn notice(session: String, event: u64, fall: &CacheBreak) -> Notice {
    Notice::CacheBreak {
        session,
        event,
        before: fall.before,
        after: fall.after,
        byte: fall.byte,
        by: fall.event.map(|seq| seq.0),
        cause: cause_name(fall.cause).to_owned(),
    }
}

/// Its name in answers and in the log.
pub(crate) const fn cause_name(cause: CacheCause) -> &'static str {
    match cause {
        CacheCause::Changed => "changed",
        CacheCause::Expired => "expired",
        CacheCause::Unexplained => "unexplained",
    }
}
