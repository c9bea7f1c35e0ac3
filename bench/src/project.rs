//! What a session's length costs: appending and projecting, rolling back and undoing, at few and at many messages.

use crate::measure::{heading, interleaved, line};
use crate::{Failure, Size, session};
use recount::{Engine, Options, Session, api};
use std::cell::{Cell, RefCell};

pub(crate) fn run(size: Size) -> Result<(), Failure> {
    let scratch = tempfile::tempdir()?;
    let engine = Engine::open(scratch.path(), Options::default())?;
    let small = session::filled(&engine, "small", size.small)?;
    let large = session::filled(&engine, "large", size.large)?;
    appending(size, &small, &large)?;
    travelling(size, &small, &large)
}

/// Appends one message, projects; `number` goes on from the session's length.
fn append_and_project(session: &Session, number: &Cell<usize>) -> Result<(), Failure> {
    session.append(&[&session::event(number.get() * 4)])?;
    number.set(number.get() + 1);
    session::project(session)?;
    Ok(())
}

/// Rolls back half of the session's turns, projects, undoes that, projects.
fn there_and_back(session: &Session, to: u64) -> Result<(), Failure> {
    let rolled = session.rollback(api::To::Seq(to))?;
    session::project(session)?;
    session.undo(rolled.event)?;
    session::project(session)?;
    Ok(())
}

fn appending(size: Size, small: &Session, large: &Session) -> Result<(), Failure> {
    let (few, many) = (Cell::new(size.small), Cell::new(size.large));
    session::project(small)?;
    session::project(large)?;
    let [at_few, at_many] = pair(
        size.rounds,
        || append_and_project(small, &few),
        || append_and_project(large, &many),
    )?;
    heading("append one message (durable) and project, × the short session");
    line(&format!("at {} messages", size.small), at_few, at_few);
    line(&format!("at {} messages", size.large), at_many, at_few);
    let [at_few, at_many] = pair(
        size.rounds,
        || accept_and_project(small, &few),
        || accept_and_project(large, &many),
    )?;
    heading("the same without waiting for the disk (an answer without calls is written behind)");
    line(&format!("at {} messages", size.small), at_few, at_few);
    line(&format!("at {} messages", size.large), at_many, at_few);
    Ok(())
}

/// Appends an answer, which is accepted at once and written in order behind, and projects.
fn accept_and_project(session: &Session, number: &Cell<usize>) -> Result<(), Failure> {
    session.append(&[&session::event(number.get() * 4 + 3)])?;
    number.set(number.get() + 1);
    session::project(session)?;
    Ok(())
}

fn travelling(size: Size, small: &Session, large: &Session) -> Result<(), Failure> {
    let rounds = size.rounds.min(50);
    let [at_few, at_many] = pair(
        rounds,
        || there_and_back(small, size.small as u64 / 2),
        || there_and_back(large, size.large as u64 / 2),
    )?;
    heading(
        "roll half of the session back, project, undo, project (2 durable appends), × the short session",
    );
    line(&format!("at {} messages", size.small), at_few, at_few);
    line(&format!("at {} messages", size.large), at_many, at_few);
    Ok(())
}

/// Two cases in turn; the first failure ends it.
fn pair(
    rounds: usize,
    mut one: impl FnMut() -> Result<(), Failure>,
    mut other: impl FnMut() -> Result<(), Failure>,
) -> Result<[std::time::Duration; 2], Failure> {
    let failed = RefCell::new(None);
    let note = |outcome: Result<(), Failure>| {
        if let Err(cause) = outcome {
            failed.borrow_mut().get_or_insert(cause);
        }
    };
    let times = interleaved(rounds, &mut [&mut || note(one()), &mut || note(other())]);
    match (failed.into_inner(), times[..].try_into()) {
        (Some(cause), _) => Err(cause),
        (None, Ok(times)) => Ok(times),
        (None, Err(_)) => Err("two cases have two times".into()),
    }
}
