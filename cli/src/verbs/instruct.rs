//! `instruct`: an instruction file, or an agent's prompt.

use crate::args::{Cli, Instruct, InstructScope};
use crate::print::{clean, line};
use crate::reach::Reach;
use recount::{Error, api};
use std::io::Read as _;

pub(crate) fn run(cli: &Cli, args: &Instruct) -> crate::Outcome {
    let shown = args.path.to_string_lossy().into_owned();
    let ask = api::Instruct {
        session: args.session.clone(),
        path: args.as_path.clone().unwrap_or(shown),
        content: read(args)?,
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

fn read(args: &Instruct) -> Result<String, Error> {
    let failed = |cause: std::io::Error| {
        Error::invalid(format!(
            "the file cannot be read: {cause}; file={}",
            args.path.display()
        ))
    };
    if args.path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(failed)?;
        return Ok(text);
    }
    std::fs::read_to_string(&args.path).map_err(failed)
}
