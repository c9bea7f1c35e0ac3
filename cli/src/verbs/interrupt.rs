//! `interrupt`: closes what is open.

use crate::args::{Cli, Interrupt};
use crate::print::{clean, line};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Interrupt) -> crate::Outcome {
    let ask = api::Interrupt {
        session: args.session.clone(),
        expect: args.writing.expect,
        key: args.writing.key.clone(),
        ..Default::default()
    };
    Reach::existing(cli)?.say("v1.session.interrupt", &ask, |done: &api::Interrupted| {
        if done.closed.is_empty() && !done.draft {
            line("nothing was open");
        }
        for call in &done.closed {
            line(&format!(
                "closed {} of {} as interrupted",
                clean(&call.tool),
                call.block.0
            ));
        }
    })
}
