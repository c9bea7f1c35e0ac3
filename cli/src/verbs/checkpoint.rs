//! `checkpoint`: a name for the head.

use crate::args::{Checkpoint, Cli};
use crate::print::{clean, line};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Checkpoint) -> crate::Outcome {
    let ask = api::Checkpoint {
        session: args.session.clone(),
        label: args.label.clone(),
        workspace: args.workspace.clone(),
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        at: None,
    };
    Reach::existing(cli)?.say("v1.session.checkpoint", &ask, |done: &api::Checkpointed| {
        line(&format!(
            "checkpoint {:?} at {}",
            clean(&args.label),
            done.seq
        ));
    })
}
