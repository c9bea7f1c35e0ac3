//! Forgetting whole sessions, for ever, by a policy.
//!
//! - What is given up is said first; a session that a fork continues stays while the fork does.
//! - Sessions that go are held while they go: nobody writes to them, forks them or imports into them meanwhile.
//! - The same request again finds nothing left to forget: `now` is an argument, and what was written later stays.

mod archive;
mod choose;

use super::directory::{Directory, Held, Slot};
use super::engine::Engine;
use super::stats;
use crate::core::Key;
use crate::lock::lock;
use crate::{Error, ErrorKind, api};
use choose::{Candidate, candidates, choose};
use recount_wal::{ForgetError, Forgotten, OnDamage, StreamId, Wal};
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

/// How often the choice is made again when sessions are written to meanwhile.
const TRIES: u32 = 8;
/// Answers that are remembered by their keys.
const REMEMBERED: usize = 64;
/// Places of damage that are told of.
const TOLD: usize = 100;

impl Engine {
    /// Forgets sessions for ever.
    ///
    /// # Errors
    /// `invalid` for a policy that names nothing, `damaged` when what would be written again is damaged, `not_durable`, `io`,
    /// `unknown` (ask again), `conflict` for an archive that would replace another file.
    pub fn prune(&self, ask: &api::Prune) -> Result<api::Pruned, Error> {
        let dir = &*self.inner;
        check(ask)?;
        let key = ask.key.as_ref().map(|key| key_of(dir, key, ask));
        if let Some(key) = key
            && let Some(done) = remembered(dir, key)?
        {
            return Ok(done);
        }
        let log = dir.log()?;
        let now = ask.now.unwrap_or_else(|| dir.options.clock.now().0);
        let done = if ask.dry_run {
            plan(dir, &log, ask, now)?
        } else {
            // No fork begins while sessions go: it could lose what it continues.
            let _alone = dir.forking.write().unwrap_or_else(PoisonError::into_inner);
            carry_out(dir, &log, ask, now)?
        };
        if let (Some(key), false) = (key, ask.dry_run) {
            let mut pruned = lock(&dir.pruned);
            if pruned.len() >= REMEMBERED {
                pruned.pop_front();
            }
            pruned.push_back((key.tag(), done.clone()));
        }
        Ok(done)
    }
}

/// A policy must say something, and must make sense.
fn check(ask: &api::Prune) -> Result<(), Error> {
    let says = ask.older_than.is_some()
        || ask.sessions.is_some()
        || ask.kinds.is_some()
        || ask.keep.is_some();
    if !says {
        return Err(Error::invalid("the policy names nothing")
            .with_next("name sessions, kinds, an age with older_than, or how many to keep"));
    }
    let known = |kind: &String| ["main", "sub", "side"].contains(&kind.as_str());
    if !ask.kinds.iter().flatten().all(known) {
        return Err(Error::invalid("a session's kind is main, sub or side").with_field("kinds"));
    }
    for name in ask.sessions.iter().flatten() {
        super::directory::check_name(name).map_err(|error| error.with_field("sessions"))?;
    }
    Ok(())
}

fn key_of(dir: &Directory, key: &str, ask: &api::Prune) -> Key {
    let print = serde_json::to_vec(ask).unwrap_or_default();
    Key::new(&dir.key, key, [b"prune".as_slice(), &print])
}

fn remembered(dir: &Directory, key: Key) -> Result<Option<api::Pruned>, Error> {
    let tag = key.tag();
    let pruned = lock(&dir.pruned);
    let Some((known, done)) = pruned.iter().find(|(known, _)| known[..16] == tag[..16]) else {
        return Ok(None);
    };
    if *known == tag {
        return Ok(Some(done.clone()));
    }
    Err(
        Error::new(ErrorKind::Conflict, "the key was used for another policy")
            .with_next("use another key for another request"),
    )
}

/// What would go, and what stands in the way.
fn plan(dir: &Directory, log: &Wal, ask: &api::Prune, now: u64) -> Result<api::Pruned, Error> {
    let all = candidates(dir, log)?;
    let choice = choose(dir, &all, ask, now, &BTreeSet::new());
    let mut done = told(log, &choice)?;
    done.damaged = in_the_way(log, &choice)?;
    done.dry_run = true;
    let disk = log.stats().stored;
    (done.disk_before, done.disk_after) = (disk, disk);
    Ok(done)
}

/// Damage anywhere in the log that is not the own of sessions that go: where nobody can say whose the bytes were, something of them
/// could stay, or something of others go.
fn in_the_way(log: &Wal, choice: &choose::Choice<'_>) -> Result<Vec<String>, Error> {
    let found = log.verify().map_err(|cause| {
        Error::new(
            ErrorKind::Io,
            format!("the segments cannot be read: {cause}"),
        )
    })?;
    let going = |stream: StreamId| choice.go.iter().any(|one| one.info.stream == stream);
    let damaged = found
        .damaged
        .iter()
        .filter(|damage| damage.bytes > 0 && damage.lost.is_none_or(|(stream, ..)| !going(stream)))
        .map(|damage| {
            format!(
                "damaged; segment={} offset={} bytes={}",
                damage.segment, damage.offset, damage.bytes
            )
        });
    Ok(damaged.take(TOLD).collect())
}

/// What is given up, in words and numbers.
fn told(log: &Wal, choice: &choose::Choice<'_>) -> Result<api::Pruned, Error> {
    let mut done = api::Pruned {
        kept: choice.kept.clone(),
        absent: choice.absent.clone(),
        ..api::Pruned::default()
    };
    for one in &choice.go {
        let size = stats::size(log, one.name.clone(), &one.info)?;
        let bytes = size.bodies.saturating_add(size.content_bytes);
        done.events = done.events.saturating_add(size.events);
        done.bytes = done.bytes.saturating_add(bytes);
        done.pruned.push(api::PrunedSession {
            session: one.name.clone(),
            kind: one.kind.to_owned(),
            head: one.info.heads.accepted,
            digest: one.info.heads.digest.to_string(),
            at: one.info.heads.time,
            events: size.events,
            bytes,
        });
    }
    Ok(done)
}

fn carry_out(dir: &Directory, log: &Wal, ask: &api::Prune, now: u64) -> Result<api::Pruned, Error> {
    let mut busy = BTreeSet::new();
    for _ in 0..TRIES {
        let all = candidates(dir, log)?;
        let choice = choose(dir, &all, ask, now, &busy);
        let slots = choice
            .go
            .iter()
            .map(|one| dir.slot(&one.name))
            .collect::<Result<Vec<Arc<Slot>>, Error>>()?;
        let mut held: Vec<Held<'_>> = slots.iter().map(|slot| slot.hold()).collect();
        let still = |one: &&Candidate| log.heads(one.info.stream) == Some(one.info.heads);
        let drafts: BTreeSet<StreamId> = held
            .iter_mut()
            .filter_map(|held| {
                let streaming = held.live().is_some_and(|live| !live.core.drafts.is_empty());
                streaming.then_some(held.slot.stream)
            })
            .collect();
        if !drafts.is_empty() {
            busy.extend(drafts);
            continue;
        }
        if choice.go.iter().all(still) {
            return forget(dir, log, ask, &choice, held);
        }
    }
    Err(Error::new(
        ErrorKind::Busy,
        "sessions that would go are being written to",
    ))
}

/// Writes the archive, forgets, and takes away what was derived. The sessions are held.
fn forget(
    dir: &Directory,
    log: &Wal,
    ask: &api::Prune,
    choice: &choose::Choice<'_>,
    held: Vec<Held<'_>>,
) -> Result<api::Pruned, Error> {
    let mut done = told(log, choice)?;
    if choice.go.is_empty() {
        let disk = log.stats().stored;
        (done.disk_before, done.disk_after) = (disk, disk);
        return Ok(done);
    }
    if !ask.give_up_damage {
        refuse(&in_the_way(log, choice)?)?;
    }
    if let Some(path) = &ask.archive {
        let names: Vec<&str> = choice.go.iter().map(|one| one.name.as_str()).collect();
        archive::write(dir, log, &names, path)?;
        done.archive = Some(path.clone());
    }
    let streams: Vec<StreamId> = choice.go.iter().map(|one| one.info.stream).collect();
    let on_damage = if ask.give_up_damage {
        OnDamage::GiveUp
    } else {
        OnDamage::Refuse
    };
    let forgotten = log.forget_with(&streams, on_damage);
    // Whatever came of it: what is in memory is read again from the log.
    for mut held in held {
        held.forget();
    }
    let Forgotten {
        disk_before,
        disk_after,
        left,
        ..
    } = forgotten.map_err(|cause| refusal(&cause))?;
    (done.disk_before, done.disk_after, done.left) = (disk_before, disk_after, left);
    for one in &choice.go {
        lock(&dir.names).remove(&one.info.stream);
        lock(&dir.slots).remove(&one.name);
        derived(dir, one.info.stream);
    }
    Ok(done)
}

/// Takes away what was made from a session: its state checkpoint, its prompts and results that were written to files
/// in the directory. A spill root of the host's is the host's.
fn derived(dir: &Directory, stream: StreamId) {
    // Both are made again, or are of no use: what cannot be removed is told of by the doctor.
    let _ = dir.states.remove(stream);
    if dir.options.disk.is_some() {
        return;
    }
    for folder in ["out", "spills"] {
        let _ = std::fs::remove_dir_all(dir.path.join(folder).join(stream.to_string()));
    }
}

/// The log is damaged: nothing is forgotten before somebody looked at it.
fn refuse(damaged: &[String]) -> Result<(), Error> {
    if damaged.is_empty() {
        return Ok(());
    }
    let places: Vec<&str> = damaged.iter().take(3).map(String::as_str).collect();
    let message = format!(
        "the log is damaged, nothing was forgotten; places={} {}",
        damaged.len(),
        places.join("; ")
    );
    Err(Error::new(ErrorKind::Damaged, message).with_next(
        "look at it with `recount doctor`; what nobody can read goes too with give_up_damage",
    ))
}

fn refusal(cause: &ForgetError) -> Error {
    let error = |kind| Error::new(kind, cause.to_string());
    match cause {
        ForgetError::Damaged { damaged } => {
            let places: Vec<String> = damaged
                .iter()
                .take(3)
                .map(|damage| {
                    format!(
                        "segment={} offset={} bytes={}",
                        damage.segment, damage.offset, damage.bytes
                    )
                })
                .collect();
            Error::new(
                ErrorKind::Damaged,
                format!("{cause}; {}", places.join("; ")),
            )
            .with_next("run doctor and save what is whole, then prune with give_up_damage")
        }
        ForgetError::Io { .. } => error(ErrorKind::Io),
        ForgetError::Unknown { .. } => {
            error(ErrorKind::Unknown).with_next("send the same request again")
        }
        ForgetError::NotDurable => error(ErrorKind::NotDurable),
        ForgetError::Poisoned => error(ErrorKind::Poisoned),
        _ => error(ErrorKind::Busy),
    }
}
