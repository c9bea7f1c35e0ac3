//! `status`: how full a session is.

use crate::args::{Cli, One};
use crate::print::{Table, bytes, clean, count, line, yellow};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &One) -> crate::Outcome {
    let ask = api::Status {
        session: args.session.clone(),
    };
    Reach::existing(cli)?.say("v1.session.status", &ask, print)
}

fn print(status: &api::StatusReport) {
    let model = status
        .model
        .as_deref()
        .map_or_else(|| "no profile".to_owned(), clean);
    line(&format!(
        "{}: head {}, {model}",
        clean(&status.session),
        status.head
    ));
    let window = status
        .window
        .map_or_else(String::new, |window| format!(" of {}", count(window)));
    line(&format!(
        "{} tokens{window}, {}, {} turns",
        count(status.tokens.total),
        status.source,
        count(status.turns)
    ));
    let by = &status.tokens.by;
    let mut table = Table::new(
        &[
            "tools",
            "system",
            "messages",
            "results",
            "summaries",
            "injections",
        ],
        &[0, 1, 2, 3, 4, 5],
    );
    table.row(
        [
            by.tools,
            by.system,
            by.messages,
            by.results,
            by.summaries,
            by.injections,
        ]
        .map(count)
        .to_vec(),
    );
    table.print();
    let spent = &status.usage;
    line(&format!(
        "{} requests: {} in, {} out, {} read from the cache, {} written",
        count(spent.requests),
        count(spent.input),
        count(spent.output),
        count(spent.cache_read),
        count(spent.cache_write)
    ));
    line(&format!(
        "{}, {} pictures",
        bytes(status.bytes),
        count(status.images)
    ));
    if status.open_calls > 0 {
        line(&yellow(&format!("{} open calls", status.open_calls)));
    }
    if let Some(since) = status.not_durable_since {
        line(&yellow(&format!("not on disk yet: from event {since} on")));
    }
}
