//! Falls of the provider's cache: seen, explained and logged before the next prompt is made.
//!
//! - Not when a usage is appended: its parts may come one by one, and an append is not to wait for two prompts to be rendered.

use crate::Error;
use crate::core::Input;
use crate::host::directory::{Directory, Held};
use crate::host::notices::Notice;
use crate::host::write::Terms;
use recount_events::{Body, CacheBreak, CacheCause, Event, Millis};
use recount_policies::cache;
use recount_wal::Class;

/// Logs that the newest call read much less from the cache than the one before, where nothing announced it, and tells the host.
pub(crate) fn note_break(dir: &Directory, held: &mut Held<'_>, now: Millis) -> Result<(), Error> {
    if !dir.ask(held, |live| Ok(cache::fell(&live.core.state)))? {
        return Ok(());
    }
    // Two earlier prompts are rendered.
    let Some(fall) = cache::detect(&dir.whole(held)?.core.state) else {
        return Ok(());
    };
    let event = Event {
        at: now,
        body: Body::CacheBreak(fall.clone()),
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
    let session = held.slot.name.clone();
    dir.options.notices.tell(&notice(session, seq, &fall));
    Ok(())
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
