//! One crash, judged as a host would: open, look at every session, go on, open twice more.

use std::collections::BTreeMap;

use recount::disk::{SimulatedDisk, Survival};
use recount::{Engine, ErrorKind, api};

use crate::world::{DIRECTORY, Facts, Truth, digest, keyed, open, says};

type Verdict<T> = Result<T, String>;

/// What is found of a session: its events, the prompt now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) head: u64,
    events: Vec<String>,
    digest: Option<String>,
}

pub(crate) type Shown = BTreeMap<String, Found>;

/// Opens what a crash left, and goes on; answers what was found at first.
pub(crate) fn recover(disk: &SimulatedDisk, facts: &Facts) -> Verdict<Shown> {
    let engine = open(disk).map_err(|error| format!("does not open: {error}"))?;
    let shown = look(&engine, disk, facts)?;
    let survived = disk.crashed(Survival::Lost);
    let again = open(&survived).map_err(|error| error.to_string())?;
    let durable = look(&again, &survived, facts)?;
    same("what was shown was not durable", &shown, &durable)?;
    drop(again);
    go_on(&engine, &shown)?;
    repeat(&engine, facts)?;
    let more = look(&engine, disk, facts)?;
    let lost_power = disk.crashed(Survival::Lost);
    drop(engine);
    for what in ["the second opening differs", "the third opening differs"] {
        let engine = open(&lost_power).map_err(|error| error.to_string())?;
        same(what, &more, &look(&engine, &lost_power, facts)?)?;
        verify(&engine, &more)?;
        engine.close().map_err(|error| error.to_string())?;
    }
    Ok(shown)
}

fn look(engine: &Engine, disk: &SimulatedDisk, facts: &Facts) -> Verdict<Shown> {
    let mut shown = Shown::new();
    for name in facts.truth.keys() {
        let session = match engine.session(name) {
            Ok(session) => session,
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(format!("{name} is not found: {error}")),
        };
        let said = |error| format!("{name}: {error}");
        let status = session.status().map_err(said)?;
        if status.durable != Some(status.head) {
            return Err(format!(
                "{name}: shown up to {} and durable up to {:?}",
                status.head, status.durable
            ));
        }
        let page = session.log(0, 1_000).map_err(said)?;
        let found = Found {
            head: status.head,
            events: page
                .events
                .iter()
                .map(|event| event.get().to_owned())
                .collect(),
            digest: digest(engine, name, api::At::Head),
        };
        files(&found.events, disk, facts).map_err(|why| format!("{name}: {why}"))?;
        shown.insert(name.clone(), found);
    }
    Ok(shown)
}

/// An event that names a file of a result: once its session is open the file is there, whole.
fn files(events: &[String], disk: &SimulatedDisk, facts: &Facts) -> Verdict<()> {
    for (file, bytes) in &facts.spilled {
        let path = format!("{DIRECTORY}/{file}");
        let named = events.iter().any(|event| event.contains(&path));
        let found = disk.bytes(file);
        if named && found.as_ref() != Some(bytes) {
            let found = found.map(|found| found.len());
            return Err(format!(
                "{file} is named and not whole: {found:?} of {} bytes",
                bytes.len()
            ));
        }
    }
    Ok(())
}

fn same(what: &str, expected: &Shown, found: &Shown) -> Verdict<()> {
    if expected == found {
        return Ok(());
    }
    let heads = |shown: &Shown| {
        let heads = shown.iter().map(|(name, found)| (name.clone(), found.head));
        heads.collect::<Vec<_>>()
    };
    Err(format!(
        "{what}: {:?} instead of {:?}",
        heads(found),
        heads(expected)
    ))
}

fn go_on(engine: &Engine, shown: &Shown) -> Verdict<()> {
    for (name, found) in shown {
        let session = engine.session(name).map_err(|error| error.to_string())?;
        for turn in 1..=3 {
            let receipt = session
                .append(&[&says(&format!("after {turn}"))])
                .map_err(|error| format!("{name} does not go on: {error}"))?;
            if receipt.head != found.head + turn || receipt.durable != Some(receipt.head) {
                return Err(format!("{name} goes on wrongly: {receipt:?}"));
            }
        }
    }
    Ok(())
}

/// A host that does not know what became of its append repeats it: it stands there once.
fn repeat(engine: &Engine, facts: &Facts) -> Verdict<()> {
    let Some((name, text, key)) = &facts.repeated else {
        return Ok(());
    };
    let session = engine.session(name).map_err(|error| error.to_string())?;
    session
        .append_with(keyed(text, key))
        .map_err(|error| format!("the repeated append: {error}"))?;
    let log = session.log(0, 1_000).map_err(|error| error.to_string())?;
    let times = log
        .events
        .iter()
        .filter(|event| event.get().contains(text.as_str()));
    match times.count() {
        1 => Ok(()),
        times => Err(format!("what was repeated stands there {times} times")),
    }
}

fn verify(engine: &Engine, shown: &Shown) -> Verdict<()> {
    for name in shown.keys() {
        let verified = engine
            .session(name)
            .and_then(|session| session.verify())
            .map_err(|error| format!("{name} does not verify: {error}"))?;
        if !verified.problems.is_empty()
            || !verified.damaged.is_empty()
            || !verified.skipped.is_empty()
        {
            return Err(format!("{name} does not verify: {verified:?}"));
        }
    }
    Ok(())
}

/// Holds what was found against the run that went through, and what had been promised by a moment.
pub(crate) fn judge(facts: &Facts, moment: usize, shown: &Shown) -> Verdict<()> {
    let pruned = |name: &str| facts.pruned.iter().find(|(pruned, ..)| pruned == name);
    let promised = facts.durable.iter().filter(|(since, ..)| *since <= moment);
    for (since, name, durable) in promised {
        // In between a session is gone whole, or there whole.
        match pruned(name) {
            Some((_, _, done)) if *done <= moment => continue,
            Some((_, asked, _)) if *asked <= moment && !shown.contains_key(name) => continue,
            _ => {}
        }
        let head = shown.get(name).map(|found| found.head);
        if head.is_none_or(|head| head < *durable) {
            return Err(format!(
                "lost: {durable} of {name} was promised at {since}, found {head:?}"
            ));
        }
    }
    shown.iter().try_for_each(|(name, found)| {
        if pruned(name).is_some_and(|(_, _, done)| *done <= moment) {
            return Err(format!("{name} was forgotten and is there"));
        }
        let truth = facts.truth.get(name).ok_or("a session that never was")?;
        prefix(name, truth, found)
    })
}

fn prefix(name: &str, truth: &Truth, found: &Found) -> Verdict<()> {
    let Some(events) = truth.events.get(..found.events.len()) else {
        return Err(format!("{name} has more than was done"));
    };
    if events != found.events {
        return Err(format!("{name} is no prefix of what was done"));
    }
    let cut = usize::try_from(found.head).unwrap_or(usize::MAX);
    match truth.digests.get(cut) {
        Some(digest) if *digest == found.digest => Ok(()),
        digest => Err(format!(
            "{name} at {cut} shows {:?} and not {digest:?}",
            found.digest
        )),
    }
}
