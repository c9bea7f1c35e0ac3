//! What is compared: Recount, one SQLite table, one file of lines a session; a few turns at a time, durable before the next.
//!
//! - Recount prepares a prompt before the last answer of each append, as a host does, and hides nothing: the prompt is the whole session.

use super::words::Words;
use crate::{Failure, session};
use recount::{Options, api};
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// How many sessions are filled.
pub(crate) const SESSIONS: u64 = 100;
/// The first session takes one part in so many of all bytes.
pub(crate) const LONG_SHARE: u64 = 10;

/// Says how many bytes something was about, and that it is done.
pub(crate) type Say<'a> = dyn FnMut(u64) + 'a;

/// An engine: fills a folder with so many bytes; opens it and makes the prompt of a session.
#[derive(Clone, Copy)]
pub(crate) struct Engine {
    pub(crate) fill: fn(&Path, u64, &mut Say<'_>) -> Result<(), Failure>,
    pub(crate) first: fn(&Path, u64, &mut Say<'_>) -> Result<(), Failure>,
}

/// All of them; the last one is the base of the ratios.
pub(crate) const ENGINES: [(&str, Engine); 3] = [
    (
        "Recount",
        Engine {
            fill: fill_recount,
            first: first_recount,
        },
    ),
    (
        "JSONL",
        Engine {
            fill: fill_lines,
            first: first_lines,
        },
    ),
    (
        "SQLite",
        Engine {
            fill: fill_sqlite,
            first: first_sqlite,
        },
    ),
];

/// Turns that are appended at once.
const AT_ONCE: usize = 10;

/// Hands out a session's next events, until so many bytes were given.
fn turns(
    bytes: u64,
    mut take: impl FnMut(u64, &[String]) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let mut words = Words(0x9e37_79b9_7f4a_7c15);
    let (mut given, mut long, mut short, mut number) = (0, 0, 0, 0);
    while given < bytes {
        let events: Vec<String> = (0..AT_ONCE)
            .flat_map(|turn| words.turn(number, turn))
            .collect();
        let size: u64 = events.iter().map(|event| event.len() as u64).sum();
        let session = if long <= given / LONG_SHARE {
            long += size;
            0
        } else {
            // One short session after the other: what was worked on last is what is worked on next.
            short = (1 + given.saturating_mul(SESSIONS - 1) / bytes).min(short + 1);
            short
        };
        take(session, &events)?;
        given += size;
        number += 1;
    }
    Ok(given)
}

fn name(session: u64) -> String {
    format!("session-{session}")
}

fn fill_recount(folder: &Path, bytes: u64, say: &mut Say<'_>) -> Result<(), Failure> {
    let engine = recount::Engine::open(folder, Options::default())?;
    let sessions = (0..SESSIONS)
        .map(|number| session::filled(&engine, &name(number), 0))
        .collect::<Result<Vec<_>, _>>()?;
    let given = turns(bytes, |session, turn| {
        let session = sessions.get(session as usize).ok_or("a session")?;
        let turn: Vec<&str> = turn.iter().map(String::as_str).collect();
        let (answer, asked) = turn.split_last().ok_or("a turn has an answer")?;
        session.append(asked)?;
        session.prepare(api::Prepare {
            form: api::As::None,
            ..Default::default()
        })?;
        session.append(&[answer])?;
        Ok(())
    })?;
    for session in &sessions {
        session.sync()?;
    }
    say(given);
    Ok(())
}

fn first_recount(folder: &Path, session: u64, say: &mut Say<'_>) -> Result<(), Failure> {
    let engine = recount::Engine::open(folder, Options::default())?;
    let prompt = session::project(&engine.session(&name(session))?)?;
    say(prompt.bytes);
    Ok(())
}

fn fill_sqlite(folder: &Path, bytes: u64, say: &mut Say<'_>) -> Result<(), Failure> {
    let mut connection = sqlite(folder)?;
    connection.execute_batch("CREATE TABLE event (session TEXT NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (session, seq))")?;
    let mut seq = 0_i64;
    let given = turns(bytes, |session, turn| {
        let group = connection.transaction()?;
        for event in turn {
            group
                .prepare_cached("INSERT INTO event VALUES (?1, ?2, ?3)")?
                .execute((name(session), seq, event.as_bytes()))?;
            seq += 1;
        }
        Ok(group.commit()?)
    })?;
    say(given);
    Ok(())
}

fn sqlite(folder: &Path) -> Result<rusqlite::Connection, Failure> {
    let connection = rusqlite::Connection::open(folder.join("events.db"))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    Ok(connection)
}

fn first_sqlite(folder: &Path, session: u64, say: &mut Say<'_>) -> Result<(), Failure> {
    let connection = sqlite(folder)?;
    let mut rows = connection.prepare("SELECT body FROM event WHERE session = ?1 ORDER BY seq")?;
    let mut prompt = Vec::new();
    for body in rows.query_map([name(session)], |row| row.get::<_, Vec<u8>>(0))? {
        take(&mut prompt, &body?)?;
    }
    say(prompt.len() as u64);
    Ok(())
}

fn fill_lines(folder: &Path, bytes: u64, say: &mut Say<'_>) -> Result<(), Failure> {
    let given = turns(bytes, |session, turn| {
        let mut file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(folder.join(name(session)))?;
        file.write_all(format!("{}\n", turn.join("\n")).as_bytes())?;
        Ok(file.sync_data()?)
    })?;
    say(given);
    Ok(())
}

fn first_lines(folder: &Path, session: u64, say: &mut Say<'_>) -> Result<(), Failure> {
    let file = std::fs::read(folder.join(name(session)))?;
    let mut prompt = Vec::new();
    for line in file
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        take(&mut prompt, line)?;
    }
    say(prompt.len() as u64);
    Ok(())
}

/// What a peer does to make a prompt: an event is read as JSON and put behind the others.
fn take(prompt: &mut Vec<u8>, event: &[u8]) -> Result<(), Failure> {
    serde_json::from_slice::<serde_json::Value>(event)?;
    prompt.extend_from_slice(event);
    prompt.push(b',');
    Ok(())
}
