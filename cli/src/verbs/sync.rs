//! `sync`: waits for the disk.

use crate::args::{Cli, One};
use crate::print::line;
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &One) -> crate::Outcome {
    let ask = api::Sync {
        session: args.session.clone(),
        seq: None,
    };
    Reach::existing(cli)?.say("v1.session.sync", &ask, |done: &api::Synced| {
        line(&done.durable.map_or_else(
            || "nothing to sync".to_owned(),
            |durable| format!("on disk up to {durable}"),
        ));
    })
}
