//! `project`: the prompt at a cut.

use crate::Answer;
use crate::args::{Cli, Prompt};
use crate::print::{
    Table, aside, bold, bytes, clean, count, exact, green, line, red, short, yellow,
};
use crate::reach::{Reach, profile};
use recount::{Error, api};

pub(crate) fn run(cli: &Cli, args: &Prompt) -> crate::Outcome {
    let ask = ask(args)?;
    let people = |projected: &api::Projected| answer(args, projected);
    Reach::existing(cli)?.tell("v1.session.project", &ask, people, verdict)
}

fn ask(args: &Prompt) -> Result<api::Project, Error> {
    Ok(api::Project {
        session: args.session.clone(),
        at: (&args.cut).into(),
        wire: args.wire.clone(),
        profile: profile(args.profile.as_ref())?,
        pieces: args.pieces,
        heal: args.heal,
        since: None,
        form: api::As::Text,
    })
}

/// Prints a prompt, or its body alone.
pub(crate) fn answer(args: &Prompt, projected: &api::Projected) -> Answer {
    if args.body {
        if let Some(request) = &projected.request {
            exact(&body(request));
        } else {
            aside(&outcome(projected));
        }
    } else {
        print(projected);
    }
    verdict(projected)
}

/// Only a prompt that is ready is a yes.
pub(crate) fn verdict(projected: &api::Projected) -> Answer {
    if projected.outcome == api::Outcome::Ready {
        Answer::Yes
    } else {
        Answer::No
    }
}

/// The exact bytes of a body that travelled as text.
pub(crate) fn body(request: &api::Request) -> String {
    serde_json::from_str(request.body.get()).unwrap_or_else(|_| request.body.get().to_owned())
}

fn print(projected: &api::Projected) {
    line(&outcome(projected));
    line(&format!(
        "{} for {}, cut {}",
        projected.wire,
        clean(&projected.model),
        projected.cut
    ));
    line(&format!(
        "{} tokens (estimate), {}, digest {}",
        count(projected.tokens.total),
        bytes(projected.bytes),
        short(&projected.digest)
    ));
    for repair in &projected.repairs {
        let event = repair
            .event
            .map_or_else(String::new, |event| format!(" in event {event}"));
        line(&format!(
            "{} {}{event}",
            yellow("repaired:"),
            clean(&repair.kind)
        ));
    }
    for name in &projected.params_left_out {
        line(&format!(
            "{} parameter {}",
            yellow("left out:"),
            clean(name)
        ));
    }
    if let Some(pieces) = &projected.pieces {
        print_pieces(pieces);
    }
}

fn outcome(projected: &api::Projected) -> String {
    match projected.outcome {
        api::Outcome::Ready => green("ready"),
        api::Outcome::Waiting => {
            let whom = projected
                .waiting
                .as_ref()
                .map_or("", |waiting| waiting.whom.as_str());
            yellow(&format!("waiting for {whom}"))
        }
        api::Outcome::Blocked => red("blocked"),
        api::Outcome::Impossible => projected.impossible.as_ref().map_or_else(
            || red("impossible"),
            |numbers| {
                red(&format!(
                    "impossible: {} {} needed, {} allowed; {}",
                    count(numbers.floor),
                    numbers.unit,
                    count(numbers.limit),
                    clean(&numbers.next)
                ))
            },
        ),
    }
}

fn print_pieces(pieces: &[api::Piece]) {
    line("");
    line(&bold("pieces"));
    let mut table = Table::new(
        &["", "event", "block", "role", "why", "tokens", "size"],
        &[0, 1, 2, 5, 6],
    );
    for (number, piece) in pieces.iter().enumerate() {
        let event = piece
            .event
            .map_or_else(String::new, |event| event.to_string());
        let block = piece
            .block
            .map_or_else(String::new, |(_, index)| index.to_string());
        table.row(vec![
            number.to_string(),
            event,
            block,
            piece.role.clone(),
            clean(&piece.why),
            count(piece.tokens),
            bytes(piece.bytes),
        ]);
    }
    table.print();
}
