//! `undo`: one event's effect is taken back.

use crate::args::{Cli, Undo};
use crate::print::{count, line, short};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Undo) -> crate::Outcome {
    let ask = api::Undo {
        session: args.session.clone(),
        event: args.event,
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        at: None,
    };
    Reach::existing(cli)?.say("v1.session.undo", &ask, |done: &api::Undone| {
        line(&format!(
            "event {} is undone by event {}",
            args.event, done.event
        ));
        if let (Some(tokens), Some(digest)) = (&done.tokens, &done.digest) {
            line(&format!(
                "{} tokens (estimate), digest {}",
                count(tokens.total),
                short(digest)
            ));
        }
    })
}
