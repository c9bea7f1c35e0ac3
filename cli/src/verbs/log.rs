//! `log`: the events, one JSON object a line.

use crate::Answer;
use crate::args::{Cli, Log};
use crate::print::line;
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Log) -> crate::Outcome {
    let reach = Reach::existing(cli)?;
    let mut from = args.from;
    let mut left = args.limit.unwrap_or(u64::MAX);
    while left > 0 {
        let ask = api::Log {
            session: args.session.clone(),
            from: Some(from),
            limit: Some(left.min(1000)),
        };
        if cli.json {
            let raw = reach.raw(
                "v1.session.log",
                &api::Log {
                    limit: args.limit,
                    ..ask
                },
            )?;
            line(raw.get());
            return Ok(Answer::Yes);
        }
        let page: api::LogPage = reach.ask("v1.session.log", &ask)?;
        page.events
            .iter()
            .for_each(|event| line(&visible(event.get())));
        left = left.saturating_sub(page.events.len() as u64);
        let Some(next) = page.next else { break };
        from = next;
    }
    Ok(Answer::Yes)
}

/// JSON has no raw control characters except white space between its tokens, but may hold others that move a cursor.
fn visible(event: &str) -> String {
    crate::print::clean(event)
}
