//! What opening a long session costs and how much it holds, with its state checkpoint and without.
//!
//! - All but the last turns are hidden by a compaction, as in a session that a host keeps within its window.

use crate::measure::{heading, interleaved, line};
use crate::{Failure, session};
use recount::{Engine, Options};
use std::cell::RefCell;
use std::path::Path;

/// Measures at these lengths.
pub(crate) fn run(lengths: &[usize], rounds: usize) -> Result<(), Failure> {
    for length in lengths {
        let scratch = tempfile::tempdir()?;
        fill(scratch.path(), *length)?;
        opening(scratch.path(), *length, rounds)?;
    }
    Ok(())
}

fn fill(path: &Path, length: usize) -> Result<(), Failure> {
    let engine = Engine::open(path, Options::default())?;
    let session = session::filled(&engine, "long", length)?;
    let last = session.status()?.head.saturating_sub(40);
    // The first position that may be kept is where a turn begins.
    let keep = last - last % 4 + 1;
    let commit =
        format!(r#"{{"type":"compact_commit","keep_from":{keep},"summary":"what was said"}}"#);
    session.append(&[&commit])?;
    let behind: Vec<String> = (length..length + 400)
        .map(|number| session::event(number - number % 4))
        .collect();
    let behind: Vec<&str> = behind.iter().map(String::as_str).collect();
    session.append(&behind)?;
    engine.close()?;
    Ok(())
}

fn once(path: &Path) -> Result<(), Failure> {
    let engine = Engine::open(path, Options::default())?;
    session::project(&engine.session("long")?)?;
    engine.close()?;
    Ok(())
}

fn opening(path: &Path, length: usize, rounds: usize) -> Result<(), Failure> {
    let states = path.join("states");
    let aside = path.join("states.aside");
    if !states.exists() {
        println!("  {length} events: no state checkpoint was written");
        return Ok(());
    }
    let bytes: u64 = std::fs::read_dir(&states)?
        .flatten()
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum();
    let failed = RefCell::new(None);
    let note = |outcome: Result<(), Failure>| {
        if let Err(cause) = outcome {
            failed.borrow_mut().get_or_insert(cause);
        }
    };
    let without = || -> Result<(), Failure> {
        std::fs::rename(&states, &aside)?;
        let opened = once(path);
        drop(std::fs::remove_dir_all(&states));
        std::fs::rename(&aside, &states)?;
        opened
    };
    let times = interleaved(
        rounds,
        &mut [&mut || note(once(path)), &mut || note(without())],
    );
    if let Some(cause) = failed.into_inner() {
        return Err(cause);
    }
    heading(&format!(
        "open a session of {length} events and project, × with its state checkpoint ({bytes} bytes)"
    ));
    let base = times.first().copied().unwrap_or_default();
    for (name, time) in ["with it", "without it: the log is folded"]
        .iter()
        .zip(&times)
    {
        line(name, *time, base);
    }
    Ok(())
}
