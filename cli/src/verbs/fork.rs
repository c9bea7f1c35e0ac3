//! `fork`: a session goes on under a new name.

use crate::args::{Cli, Fork};
use crate::print::{clean, line};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Fork) -> crate::Outcome {
    let ask = api::Fork {
        session: args.session.clone(),
        at: (&args.cut).into(),
        new: args.new.clone(),
        ..Default::default()
    };
    Reach::existing(cli)?.say("v1.session.fork", &ask, |done: &api::Forked| {
        line(&format!("{} begins at {}", clean(&done.session), done.head));
    })
}
