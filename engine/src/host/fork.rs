//! Forks: a new session that continues another one. It copies nothing.

use super::directory::Held;
use super::engine::Engine;
use super::kept::Shelf;
use super::live::Live;
use super::write::{Terms, check_expect, synced};
use super::{ask, directory::Directory, stream};
use crate::core::{Core, Input, Key, Keys, refused};
use crate::{Error, ErrorKind, api};
use recount_events::{BlockId, Body, Digest, Event, Forked, Millis, Seq, Text};
use recount_projections::{Map, State};
use recount_wal::{RecordDigest, StreamId};
use std::sync::{Arc, PoisonError};

/// What a fork begins with.
struct Origin {
    cut: Seq,
    state: State,
    digest: RecordDigest,
    counts: Vec<Map<BlockId, u64>>,
    injects: Vec<Seq>,
    /// Where the parent's cold events are read.
    shelf: Option<Arc<Shelf>>,
}

impl Engine {
    /// Continues a session under a new name, from a cut on.
    ///
    /// # Errors
    /// `conflict` when the name is taken, `not_found`; else as [`Engine::append`].
    pub fn fork(&self, ask: &api::Fork) -> Result<api::Forked, Error> {
        let dir = &*self.inner;
        if ask.session == ask.new {
            return Err(taken(&ask.new));
        }
        let key = ask.key.as_ref().map(|key| fork_key(dir, key, ask));
        let _stays = dir.forking.read().unwrap_or_else(PoisonError::into_inner);
        // One is let go before the other is held: no two sessions are held at once. The child is asked first, since a repeat is answered
        // as before whatever became of its parent, and once more behind the look at the parent.
        let slot = dir.slot(&ask.new)?;
        if let Some(done) = again(dir, &mut slot.hold(), ask, key)? {
            return Ok(done);
        }
        let origin = origin(dir, ask)?;
        let mut child = slot.hold();
        if let Some(done) = again(dir, &mut child, ask, key)? {
            return Ok(done);
        }
        let done = begin(dir, &mut child, ask, origin, key);
        if done.is_err() {
            child.forget();
        }
        done
    }
}

/// Makes the fork in the place of a session that is held; the parent is another one.
pub(super) fn under(dir: &Directory, child: &mut Held<'_>, ask: &api::Fork) -> Result<(), Error> {
    let _stays = dir.forking.read().unwrap_or_else(PoisonError::into_inner);
    let done = origin(dir, ask).and_then(|origin| begin(dir, child, ask, origin, None));
    if done.is_err() {
        child.forget();
    }
    done.map(|_| ())
}

fn fork_key(dir: &Directory, key: &str, ask: &api::Fork) -> Key {
    let at = serde_json::to_vec(&ask.at).unwrap_or_default();
    Key::new(
        &dir.key,
        key,
        [b"fork".as_slice(), ask.session.as_bytes(), &at],
    )
}

fn taken(name: &str) -> Error {
    let shown: String = name.chars().take(100).collect();
    Error::new(
        ErrorKind::Conflict,
        format!("a session of that name is there; session={shown:?}"),
    )
    .with_field("new")
    .with_next("choose another name")
}

/// A fork that is there already: the same request under its key repeats, anything else is a conflict. None where there is none.
fn again(
    dir: &Directory,
    child: &mut Held<'_>,
    ask: &api::Fork,
    key: Option<Key>,
) -> Result<Option<api::Forked>, Error> {
    let done = match dir.live(child) {
        Ok(live) => live.done_before(key)?,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let repeat = done.ok_or_else(|| taken(&ask.new))?;
    synced(dir, child.slot.stream, repeat)?;
    Ok(Some(api::Forked {
        session: ask.new.clone(),
        head: repeat.last.0,
    }))
}

fn origin(dir: &Directory, ask: &api::Fork) -> Result<Origin, Error> {
    let slot = dir.slot(&ask.session)?;
    let mut held = slot.hold();
    let live = dir.live(&mut held)?;
    check_expect(live, ask.expect)?;
    let (cut, mut state) = dir.ask(&mut held, |live| {
        let cut = ask::cut(&live.core, &ask.at)?;
        let state = live.core.state.fork(cut);
        Ok((cut, state.map_err(|misfit| refused(&misfit, None))?))
    })?;
    let live = dir.live(&mut held)?;
    let shelf = if state.is_whole() {
        None
    } else {
        Some(dir.shelf(slot.stream)?)
    };
    if let Some(shelf) = &shelf {
        state.reads_from(Arc::clone(shelf) as _);
    }
    let injects = live.core.session_injects.iter().copied();
    let injects = injects.filter(|seq| *seq <= cut).collect();
    let digest = digest_at(dir, slot.stream, cut)?;
    let mut counts = live.core.counting.inherited.clone();
    counts.push(live.core.state.ledger().counts.clone());
    // A fork must never outlive what it continues.
    dir.log()?
        .sync(slot.stream, cut.0.max(first_own(dir, slot.stream)?))
        .map_err(|cause| super::write::refusal(&cause))?;
    Ok(Origin {
        cut,
        state,
        digest,
        counts,
        injects,
        shelf,
    })
}

fn first_own(dir: &Directory, stream: StreamId) -> Result<u64, Error> {
    let log = dir.log()?;
    Ok(stream::origin(dir, &log, stream)?.map_or(0, |(_, inherited)| inherited.saturating_add(1)))
}

/// The record digest at a position, which may be a parent's.
pub(super) fn digest_at(
    dir: &Directory,
    stream: StreamId,
    seq: Seq,
) -> Result<RecordDigest, Error> {
    let log = dir.log()?;
    let mut found = None;
    stream::visit(dir, &log, stream, seq.0, seq.0, &mut |read| {
        match read {
            super::read::Read::Event(_, record) | super::read::Read::Unreadable(record) => {
                found = Some(record.digest)
            }
            super::read::Read::Gap(_) => {}
        }
        Ok(())
    })?;
    found.ok_or_else(|| {
        Error::new(
            ErrorKind::Damaged,
            format!("the record at the cut is damaged; seq={seq}"),
        )
    })
}

fn begin(
    dir: &Directory,
    child: &mut Held<'_>,
    ask: &api::Fork,
    origin: Origin,
    key: Option<Key>,
) -> Result<api::Forked, Error> {
    let now = ask.now.map_or_else(|| dir.options.clock.now(), Millis);
    let forked = Forked {
        session: Text::plain(&ask.new),
        from: Text::plain(&ask.session),
        seq: origin.cut,
        digest: Digest(origin.digest.0),
    };
    let event = Event {
        at: now,
        body: Body::Forked(forked),
        because: None,
        extra: None,
    };
    let core = Core::thawed(origin.state, Keys::default(), origin.injects, origin.counts);
    let live = child.put(Live::fresh(core, origin.digest));
    live.kept.shelf = origin.shelf;
    let decision = live
        .core
        .handle(now, Input::Own(vec![event]), &mut dir.salts())?;
    let receipt = dir.write(
        child,
        decision,
        Terms {
            key,
            class: None,
            origin: Some(origin.digest),
        },
    )?;
    Ok(api::Forked {
        session: ask.new.clone(),
        head: receipt.last,
    })
}
