//! `done`: an action was carried out, or could not be.

use crate::args::{Cli, Done};
use crate::print::{clean, line};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Done) -> crate::Outcome {
    let ask = api::Done {
        session: args.session.clone(),
        action: args.action.clone(),
        error: args.error.clone(),
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        now: None,
    };
    Reach::existing(cli)?.say("v1.session.done", &ask, |_: &api::Noted| {
        line(&format!("{} is answered", clean(&args.action)));
    })
}
