//! One durable append: against a raw append into a zeroed file with `fdatasync`, and against SQLite (WAL, FULL).

use crate::measure::{heading, interleaved, line};
use crate::peers::{Raw, Sqlite};
use crate::{Failure, Size, session};
use recount::{Engine, Options};

pub(crate) fn run(size: Size) -> Result<(), Failure> {
    let scratch = tempfile::tempdir()?;
    let engine = Engine::open(scratch.path().join("recount"), Options::default())?;
    let durable = session::filled(&engine, "append", 0)?;
    let mut raw = Raw::create(&scratch.path().join("raw"), 64 << 20)?;
    let mut sqlite = Sqlite::create(&scratch.path().join("sqlite"))?;

    let mut number = 0;
    let mut next = || {
        number += 4;
        session::event(number)
    };
    let (for_raw, for_sqlite, for_recount) = (next(), next(), next());
    let mut failed: Vec<String> = Vec::new();
    let mut failures = [Vec::new(), Vec::new(), Vec::new()];
    let [raw_failed, sqlite_failed, recount_failed] = &mut failures;
    let times = interleaved(
        size.rounds,
        &mut [
            &mut || {
                raw_failed.extend(
                    raw.append(for_raw.as_bytes())
                        .err()
                        .map(|cause| cause.to_string()),
                )
            },
            &mut || {
                sqlite_failed.extend(
                    sqlite
                        .append(for_sqlite.as_bytes())
                        .err()
                        .map(|cause| cause.to_string()),
                )
            },
            &mut || {
                recount_failed.extend(
                    durable
                        .append(&[&for_recount])
                        .err()
                        .map(|cause| cause.to_string()),
                )
            },
        ],
    );
    failures.iter_mut().for_each(|list| failed.append(list));
    if let Some(cause) = failed.first() {
        return Err(cause.clone().into());
    }
    let [raw, sqlite, recount] = times[..] else {
        return Err("three cases have three times".into());
    };
    heading(&format!(
        "one durable append of {} bytes, × raw",
        for_recount.len()
    ));
    line("raw append into a zeroed file + fdatasync", raw, raw);
    line("SQLite, WAL, synchronous=FULL", sqlite, raw);
    line("Recount: admit, seal, append, durable", recount, raw);
    Ok(())
}
