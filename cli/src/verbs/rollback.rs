//! `rollback`: the timeline is that of an earlier position again.

use crate::args::{Cli, Rollback, To};
use crate::print::{clean, count, line, short, time, yellow};
use crate::reach::Reach;
use recount::{Error, api};

pub(crate) fn run(cli: &Cli, args: &Rollback) -> crate::Outcome {
    let ask = api::Rollback {
        session: args.session.clone(),
        to: target(&args.to)?,
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        at: None,
    };
    Reach::open(cli)?.say("v1.session.rollback", &ask, |done: &api::RolledBack| {
        print(&args.session, done)
    })
}

fn target(to: &To) -> Result<api::To, Error> {
    let turns = to.turns.map(api::To::Turns);
    let seq = to.seq.map(api::To::Seq);
    let time = to.time.map(api::To::Time);
    let label = to.checkpoint.clone().map(api::To::Checkpoint);
    turns
        .or(seq)
        .or(time)
        .or(label)
        .ok_or_else(|| Error::invalid("say where to: --turns, --seq, --time or --checkpoint"))
}

fn print(session: &str, done: &api::RolledBack) {
    line(&format!(
        "rolled back to {} ({}) by event {}",
        done.to,
        time(done.at),
        done.event
    ));
    if let (Some(tokens), Some(digest)) = (&done.tokens, &done.digest) {
        line(&format!(
            "{} tokens (estimate), digest {}",
            count(tokens.total),
            short(digest)
        ));
    }
    if let Some(why) = &done.why {
        line(&yellow(&clean(why)));
    }
    line(&format!(
        "take it back with: recount undo {} {}",
        clean(session),
        done.event
    ));
}
