//! `verify`: whether everything is there and whole.

use crate::Answer;
use crate::args::{Cli, Verify};
use crate::print::{Progress, clean, count, green, line, red, short, yellow};
use crate::reach::Reach;
use recount::{Error, api};
use serde_json::json;

pub(crate) fn run(cli: &Cli, args: &Verify) -> crate::Outcome {
    let reach = Reach::open(cli)?;
    match &args.session {
        Some(session) => {
            let ask = api::Verify {
                session: session.clone(),
            };
            let people = |verified: &api::Verified| {
                print(verified);
                verdict(verified.state)
            };
            reach.tell(
                "v1.session.verify",
                &ask,
                people,
                |verified: &api::Verified| verdict(verified.state),
            )
        }
        None => whole(cli, &reach),
    }
}

/// The whole directory; in this process with a progress bar.
fn whole(cli: &Cli, reach: &Reach) -> crate::Outcome {
    let verified: api::DirectoryVerified = match reach.handle().local() {
        None => reach.ask("v1.verify", &json!({}))?,
        Some(engine) => {
            let bar = Progress::new("verify");
            engine.verify_with(&mut |done, all| bar.at(done, all))?
        }
    };
    if cli.json {
        line(
            &serde_json::to_string(&verified).map_err(|cause| {
                Error::invalid(format!("the answer cannot be written: {cause}"))
            })?,
        );
    } else {
        verified.sessions.iter().for_each(print);
        verified
            .problems
            .iter()
            .for_each(|problem| line(&red(&clean(problem))));
        line(&format!("directory: {}", state(verified.state)));
    }
    Ok(verdict(verified.state))
}

fn verdict(state: api::State) -> Answer {
    if matches!(state, api::State::Clean | api::State::Erased) {
        Answer::Yes
    } else {
        Answer::No
    }
}

fn state(state: api::State) -> String {
    match state {
        api::State::Clean => green("clean"),
        api::State::Erased => green("erased with receipts"),
        api::State::Torn => yellow("torn"),
        api::State::Truncated => red("truncated"),
        api::State::Damaged => red("damaged"),
    }
}

fn print(verified: &api::Verified) {
    line(&format!(
        "{}: {}; {} events, {} contents, {} prompts checked, digest {}",
        clean(&verified.session),
        state(verified.state),
        count(verified.events),
        count(verified.contents),
        count(verified.prompts),
        short(&verified.digest)
    ));
    for damaged in &verified.damaged {
        line(&red(&format!(
            "  events {}–{}: {} bytes of segment {} from byte {}",
            damaged.first, damaged.last, damaged.bytes, damaged.segment, damaged.offset
        )));
    }
    for skipped in &verified.skipped {
        line(&yellow(&format!(
            "  event {} is skipped: {}",
            skipped.seq,
            clean(&skipped.why)
        )));
    }
    for problem in &verified.problems {
        line(&red(&format!("  {}", clean(problem))));
    }
}
