//! Which sessions a policy names, and which of them stay all the same.

use crate::host::directory::Directory;
use crate::host::read::{Read, read};
use crate::host::{list, stream};
use crate::{Error, api};
use recount_events::{Body, SessionKind};
use recount_wal::{StreamId, StreamInfo, Wal};
use std::collections::{BTreeMap, BTreeSet};

/// How far forks of forks are followed for a kind.
const DEPTH: usize = 10_000;

/// A session as it stands.
pub(super) struct Candidate {
    pub(super) name: String,
    pub(super) info: StreamInfo,
    pub(super) kind: &'static str,
    /// What it continues.
    parent: Option<StreamId>,
}

/// What a policy comes to.
pub(super) struct Choice<'a> {
    /// What goes, by name.
    pub(super) go: Vec<&'a Candidate>,
    pub(super) kept: Vec<api::KeptSession>,
    pub(super) absent: Vec<String>,
}

/// Every session of the log. One whose name cannot be read is none: nobody can say what would be given up with it.
pub(super) fn candidates(dir: &Directory, log: &Wal) -> Result<Vec<Candidate>, Error> {
    let mut found = Vec::new();
    for info in log.streams() {
        let Some(named) = list::named(dir, log, info.stream)? else {
            continue;
        };
        found.push(Candidate {
            name: named.name,
            kind: own_kind(log, info.stream)?,
            parent: stream::origin(dir, log, info.stream)?.map(|(parent, _)| parent),
            info,
        });
    }
    inherit_kinds(&mut found);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}

fn own_kind(log: &Wal, stream: StreamId) -> Result<&'static str, Error> {
    let first = read(log, stream, 0, u64::MAX).next().transpose()?;
    let Some(Read::Event(event, _)) = first else {
        return Ok("main");
    };
    Ok(match &event.body {
        Body::Opened(opened) => match opened.kind {
            SessionKind::Main => "main",
            SessionKind::Sub => "sub",
            SessionKind::Side => "side",
        },
        _ => "main",
    })
}

/// A fork is of the kind of what it continues.
fn inherit_kinds(found: &mut [Candidate]) {
    let known: BTreeMap<StreamId, (Option<StreamId>, &'static str)> = found
        .iter()
        .map(|one| (one.info.stream, (one.parent, one.kind)))
        .collect();
    for one in found {
        let mut at = one.info.stream;
        for _ in 0..DEPTH {
            match known.get(&at) {
                Some((Some(parent), _)) if known.contains_key(parent) => at = *parent,
                Some((_, kind)) => {
                    one.kind = kind;
                    break;
                }
                None => break,
            }
        }
    }
}

/// What goes and what stays. `busy`: sessions in which a response is being written.
pub(super) fn choose<'a>(
    dir: &Directory,
    all: &'a [Candidate],
    ask: &api::Prune,
    now: u64,
    busy: &BTreeSet<StreamId>,
) -> Choice<'a> {
    let mut kept = Vec::new();
    let mut keep = |one: &Candidate, why: String| {
        kept.push(api::KeptSession {
            session: one.name.clone(),
            why,
        });
    };
    let mut named: Vec<&Candidate> = all.iter().filter(|one| is_named(one, ask, now)).collect();
    newest_first(&mut named);
    let spared = usize::try_from(ask.keep.unwrap_or(0)).unwrap_or(usize::MAX);
    let mut go: BTreeMap<StreamId, &Candidate> = BTreeMap::new();
    for (place, one) in named.into_iter().enumerate() {
        if place < spared {
            keep(one, format!("one of the {spared} newest"));
        } else if busy.contains(&one.info.stream) {
            keep(one, "a response is being written".to_owned());
        } else {
            go.insert(one.info.stream, one);
        }
    }
    // What a session that stays continues, stays; and what that continues.
    for one in all {
        let mut child = one;
        while !go.contains_key(&child.info.stream) {
            let Some(parent) = child.parent else { break };
            if let Some(saved) = go.remove(&parent) {
                keep(saved, format!("the fork {:?} continues it", child.name));
            }
            let Some(next) = all.iter().find(|next| next.info.stream == parent) else {
                break;
            };
            child = next;
        }
    }
    let mut go: Vec<&Candidate> = go.into_values().collect();
    go.sort_by(|one, other| one.name.cmp(&other.name));
    let absent = ask.sessions.iter().flatten().filter(|name| {
        let stream = dir.stream(name);
        all.iter().all(|one| one.info.stream != stream)
    });
    Choice {
        go,
        kept,
        absent: absent.cloned().collect(),
    }
}

fn is_named(one: &Candidate, ask: &api::Prune, now: u64) -> bool {
    let at = one.info.heads.time;
    let old = match ask.older_than {
        Some(age) => now.saturating_sub(at) > age,
        None => true,
    };
    let listed = |list: &Option<Vec<String>>, what: &str| {
        list.as_ref()
            .is_none_or(|list| list.iter().any(|one| one == what))
    };
    // What was written to after `now` is not what the policy was made for.
    let meant = ask.sessions.is_some() || at <= now;
    old && meant && listed(&ask.sessions, &one.name) && listed(&ask.kinds, one.kind)
}

fn newest_first(sessions: &mut [&Candidate]) {
    sessions.sort_by(|one, other| {
        let time = other.info.heads.time.cmp(&one.info.heads.time);
        time.then_with(|| one.name.cmp(&other.name))
    });
}
