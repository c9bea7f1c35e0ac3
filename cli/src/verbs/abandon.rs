//! `abandon`: a compaction is given up.

use crate::args::{Abandon, Cli};
use crate::print::{clean, line};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Abandon) -> crate::Outcome {
    let ask = api::Abandon {
        session: args.session.clone(),
        compaction: args.compaction.clone(),
        reason: args.reason.clone(),
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        now: None,
    };
    Reach::existing(cli)?.say("v1.session.abandon", &ask, |done: &api::Noted| {
        line(&format!(
            "{} is given up, by event {}",
            clean(&args.compaction),
            done.head
        ));
    })
}
