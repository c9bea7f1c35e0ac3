//! `append`: events from a file or standard input.

use crate::args::{Append, Cli};
use crate::given;
use crate::print::line;
use crate::reach::Reach;
use recount::{Error, api};
use serde_json::value::RawValue;

pub(crate) fn run(cli: &Cli, args: &Append) -> crate::Outcome {
    let text = given::text(&args.events)?;
    let events = events(&text)?;
    if events.is_empty() {
        return Err(Error::invalid("there is no event to append"));
    }
    let reach = Reach::open(cli)?;
    if args.create {
        let ask = api::Open {
            session: args.session.clone(),
            create: true,
            ..Default::default()
        };
        reach.raw("v1.session.open", &ask)?;
    }
    let ask = api::Append {
        session: args.session.clone(),
        events,
        expect: args.writing.expect,
        key: args.writing.key.clone(),
        unknown: args.keep_unknown.then(|| "keep".to_owned()),
        ..Default::default()
    };
    reach.say("v1.session.append", &ask, |done: &api::Appended| {
        let again = if done.repeated {
            " (said before; nothing was added)"
        } else {
            ""
        };
        line(&format!("events {}–{}{again}", done.first, done.head));
    })
}

/// One event a line, or one JSON array of events.
fn events(text: &str) -> Result<Vec<Box<RawValue>>, Error> {
    let bad = |number: usize, cause: serde_json::Error| {
        Error::invalid(format!("event is not JSON: {cause}; line={number}"))
    };
    if text.trim_start().starts_with('[') {
        return serde_json::from_str(text).map_err(|cause| bad(cause.line(), cause));
    }
    let lines = text
        .split('\n')
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| serde_json::from_str(line).map_err(|cause| bad(number + 1, cause)))
        .collect()
}
