//! `actions`: what only the host can do.

use crate::args::{Cli, One};
use crate::print::{Table, bytes, clean, count, line, lines};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &One) -> crate::Outcome {
    let ask = api::Actions {
        session: args.session.clone(),
        form: if cli.json {
            api::As::Text
        } else {
            api::As::None
        },
    };
    Reach::existing(cli)?.say("v1.session.actions", &ask, |list: &api::ActionList| {
        print(&args.session, &list.actions);
    })
}

fn print(session: &str, actions: &[api::Action]) {
    if actions.is_empty() {
        line("nothing is pending");
        return;
    }
    let mut table = Table::new(&["action", "kind", "what"], &[]);
    for action in actions {
        table.row(vec![
            clean(&action.id),
            clean(&action.kind),
            what(session, action),
        ]);
    }
    table.print();
}

fn what(session: &str, action: &api::Action) -> String {
    match action.kind.as_str() {
        "summarise" => format!(
            "events {}–{} of {}; `recount compact {} --chunk {}` prints the request",
            action.first.unwrap_or(0),
            action.last.unwrap_or(0),
            clean(action.compaction.as_deref().unwrap_or_default()),
            clean(session),
            action.chunk.unwrap_or(0)
        ),
        "resize" => {
            let (seq, index) = action.block.unwrap_or_default();
            format!("picture {seq}.{index}: {}", limits(action))
        }
        _ => lines(action.text.as_deref().unwrap_or_default()),
    }
}

fn limits(action: &api::Action) -> String {
    let pixels = action.pixels.filter(|pixels| *pixels > 0);
    let size = action.bytes.filter(|size| *size > 0);
    let said: Vec<String> = [
        pixels.map(|pixels| format!("at most {} pixels a side", count(pixels))),
        size.map(|size| format!("at most {}", bytes(size))),
    ]
    .into_iter()
    .flatten()
    .collect();
    said.join(", ")
}
