//! `prepare`: the next prompt, recorded as issued.

use crate::args::{Cli, Prompt};
use crate::print::line;
use crate::reach::{Reach, profile};
use crate::verbs::project;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Prompt) -> crate::Outcome {
    let ask = api::Prepare {
        session: args.session.clone(),
        at: (&args.cut).into(),
        wire: args.wire.clone(),
        profile: profile(args.profile.as_ref())?,
        pieces: args.pieces,
        heal: args.heal,
        ..Default::default()
    };
    let people = |prepared: &api::Prepared| {
        let answer = project::answer(args, &prepared.prompt);
        if let (Some(issued), false) = (prepared.issued, args.body) {
            line(&format!("issued as event {issued}"));
        }
        answer
    };
    Reach::existing(cli)?.tell(
        "v1.session.prepare",
        &ask,
        people,
        |prepared: &api::Prepared| project::verdict(&prepared.prompt),
    )
}
