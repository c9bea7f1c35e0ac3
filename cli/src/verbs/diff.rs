//! `diff`: two prompts of a session.

use crate::Answer;
use crate::args::{Cli, Diff};
use crate::print::{Table, count, green, line, red, short, yellow};
use crate::reach::{Reach, profile};
use recount::{Error, api};

pub(crate) fn run(cli: &Cli, args: &Diff) -> crate::Outcome {
    let side = |typed: &str, policy: Option<&String>| -> Result<api::Side, Error> {
        Ok(api::Side {
            at: cut(typed)?,
            profile: profile(args.profile.as_ref())?,
            wire: args.wire.clone(),
            policy: profile(policy)?,
        })
    };
    let ask = api::Diff {
        session: args.session.clone(),
        a: side(&args.a, None)?,
        b: side(&args.b, args.policy.as_ref())?,
    };
    let answer = |diff: &api::Differed| if diff.equal { Answer::Yes } else { Answer::No };
    let people = |diff: &api::Differed| {
        print(diff);
        answer(diff)
    };
    Reach::existing(cli)?.tell("v1.session.diff", &ask, people, answer)
}

/// `head`, a position, `@LABEL`, or a time.
fn cut(typed: &str) -> Result<api::At, Error> {
    if typed == "head" {
        return Ok(api::At::Head);
    }
    if let Some(label) = typed.strip_prefix('@') {
        return Ok(api::At::Checkpoint(label.to_owned()));
    }
    if let Ok(seq) = typed.parse() {
        return Ok(api::At::Seq(seq));
    }
    crate::print::parse_time(typed)
        .map(api::At::Time)
        .map_err(|_| {
            Error::invalid(format!(
                "a cut is head, a position, @LABEL or a time; cut={typed:?}"
            ))
        })
}

fn print(diff: &api::Differed) {
    line(&format!("a {}   b {}", short(&diff.a), short(&diff.b)));
    if diff.equal {
        line("equal");
        return;
    }
    if let Some(first) = &diff.first {
        let event = first
            .event
            .map_or_else(|| "–".to_owned(), |event| event.to_string());
        line(&format!(
            "first difference: byte {} of the body, piece {}, event {event}",
            count(first.byte),
            first.piece
        ));
    }
    let mut table = Table::new(&["", "piece", "event", "role", "tokens"], &[1, 2, 4]);
    for (mark, rows) in [
        (red("-"), &diff.removed),
        (green("+"), &diff.added),
        (yellow("~"), &diff.changed),
    ] {
        for row in rows {
            let event = row
                .event
                .map_or_else(String::new, |event| event.to_string());
            table.row(vec![
                mark.clone(),
                row.piece.to_string(),
                event,
                row.role.clone(),
                count(row.tokens),
            ]);
        }
    }
    table.print();
}
