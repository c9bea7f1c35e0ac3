//! `instruct`: an instruction file, or an agent's prompt.

use crate::args::{Cli, Instruct, InstructScope};
use crate::given;
use crate::print::{clean, line};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Instruct) -> crate::Outcome {
    let shown = args.path.to_string_lossy().into_owned();
    let ask = api::Instruct {
        session: args.session.clone(),
        path: args.as_path.clone().unwrap_or(shown),
        content: given::text(&args.path)?,
        scope: match args.scope {
            InstructScope::Root => api::InstructScope::Root,
            InstructScope::Nested => api::InstructScope::Nested,
            InstructScope::Agent => api::InstructScope::Agent,
        },
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        now: None,
    };
    Reach::existing(cli)?.say("v1.session.instruct", &ask, |done: &api::Instructed| {
        line(&match done.event {
            Some(event) => format!("{} from event {event} on", clean(&ask.path)),
            None => format!("{} is shown already", clean(&ask.path)),
        });
    })
}
