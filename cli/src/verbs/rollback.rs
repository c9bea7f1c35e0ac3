//! `rollback`: the timeline is that of an earlier position again.

use crate::args::{Cli, Rollback};
use crate::print::{clean, count, line, short, time, yellow};
use crate::reach::Reach;
use recount::{Error, api};

pub(crate) fn run(cli: &Cli, args: &Rollback) -> crate::Outcome {
    let ask = api::Rollback {
        session: args.session.clone(),
        to: target(args)?,
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        at: None,
    };
    Reach::existing(cli)?.say("v1.session.rollback", &ask, |done: &api::RolledBack| {
        print(&args.session, done)
    })
}

fn target(args: &Rollback) -> Result<api::To, Error> {
    if let Some(turns) = args.turns {
        return Ok(api::To::Turns(turns));
    }
    match api::At::from(&args.cut) {
        api::At::Seq(seq) => Ok(api::To::Seq(seq)),
        api::At::Time(time) => Ok(api::To::Time(time)),
        api::At::Checkpoint(label) => Ok(api::To::Checkpoint(label)),
        api::At::Head => Err(Error::invalid(
            "say where to: --turns, --seq, --time or --checkpoint",
        )),
    }
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
