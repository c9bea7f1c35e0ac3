//! `open`: a session, what was found of it, its open calls.

use crate::args::{Cli, Open};
use crate::print::{clean, line, yellow};
use crate::reach::{Reach, profile};
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Open) -> crate::Outcome {
    let ask = api::Open {
        session: args.session.clone(),
        profile: profile(args.profile.as_ref())?,
        policy: profile(args.policy.as_ref())?,
        kind: args.kind.clone(),
        create: args.create,
        ..Default::default()
    };
    Reach::open(cli)?.say("v1.session.open", &ask, print)
}

fn print(opened: &api::Opened) {
    let made = if opened.created { "made" } else { "opened" };
    line(&format!(
        "{} {made}, head {}",
        clean(&opened.session),
        opened.head
    ));
    if opened.recovered.state != api::State::Clean {
        line(&yellow(
            &format!("{:?}", opened.recovered.state).to_lowercase(),
        ));
    }
    for damaged in &opened.recovered.damaged {
        line(&yellow(&format!(
            "events {}–{} are damaged: segment {}, byte {}",
            damaged.first, damaged.last, damaged.segment, damaged.offset
        )));
    }
    for skipped in &opened.recovered.skipped {
        line(&yellow(&format!(
            "event {} was skipped: {}",
            skipped.seq,
            clean(&skipped.why)
        )));
    }
    for call in &opened.open_calls {
        line(&format!(
            "open call: {} in event {}",
            clean(&call.tool),
            call.block.0
        ));
    }
}
