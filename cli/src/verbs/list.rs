//! `list`: the sessions.

use crate::args::{Cli, List};
use crate::print::{Table, clean, first_line, line, time};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &List) -> crate::Outcome {
    let prefix = Some(args.prefix.clone()).filter(|prefix| !prefix.is_empty());
    let ask = api::List {
        prefix,
        limit: args.limit,
    };
    if !crate::reach::is_there(cli)? {
        // Nothing is there to be listed, and listing makes nothing.
        line(if cli.json {
            r#"{"sessions":[]}"#
        } else {
            "no sessions"
        });
        return Ok(crate::Answer::Yes);
    }
    Reach::open(cli)?.say("v1.sessions.list", &ask, |listed: &api::Listed| {
        if listed.sessions.is_empty() {
            line("no sessions");
            return;
        }
        let mut table = Table::new(&["session", "head", "last event", "title"], &[1]);
        for session in &listed.sessions {
            let title = session
                .title
                .as_deref()
                .map_or_else(String::new, |title| first_line(title, 60));
            table.row(vec![
                clean(&session.session),
                session.head.to_string(),
                time(session.at),
                title,
            ]);
        }
        table.print();
    })
}
