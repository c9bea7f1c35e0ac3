//! `overflowed`: a provider refused a prompt for its size.

use crate::Answer;
use crate::args::{Cli, Overflowed};
use crate::given;
use crate::print::{aside, clean, count, exact, line, yellow};
use crate::reach::Reach;
use crate::verbs::project::body;
use recount::{Error, api};
use serde_json::value::{RawValue, to_raw_value};
use std::path::Path;

pub(crate) fn run(cli: &Cli, args: &Overflowed) -> crate::Outcome {
    let ask = api::Overflowed {
        session: args.session.clone(),
        error: Some(error(args)?),
        issued: args.issued.clone(),
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        ..Default::default()
    };
    let people = |answer: &api::OverflowAnswer| {
        if args.body {
            only_body(answer);
        } else {
            print(&args.session, answer);
        }
        verdict(answer)
    };
    Reach::existing(cli)?.tell("v1.session.overflowed", &ask, people, verdict)
}

/// What the provider said: JSON as it is, else as words.
fn error(args: &Overflowed) -> Result<Box<RawValue>, Error> {
    let typed = if args.error == "-" {
        given::text(Path::new("-"))?
    } else {
        args.error.clone()
    };
    let typed = typed.trim();
    let written = match args.status {
        Some(status) => {
            let body = to_raw_value(typed).map_err(|cause| Error::invalid(cause.to_string()))?;
            RawValue::from_string(format!(r#"{{"status":{status},"body":{body}}}"#))
        }
        None if typed.starts_with('{') => RawValue::from_string(typed.to_owned()),
        None => to_raw_value(typed),
    };
    written.map_err(|cause| Error::invalid(format!("the error is not JSON: {cause}")))
}

/// Only an error that surfaces is a no.
fn verdict(answer: &api::OverflowAnswer) -> Answer {
    if answer.outcome == "surface" {
        Answer::No
    } else {
        Answer::Yes
    }
}

fn only_body(answer: &api::OverflowAnswer) {
    let retry = answer.retry.as_ref();
    let request = retry.and_then(|prepared| prepared.prompt.request.as_ref());
    let first = || answer.requests.first().map(|open| &open.request);
    match request.or_else(first) {
        Some(request) => exact(&body(request)),
        None => aside(&clean(answer.why.as_deref().unwrap_or("nothing to send"))),
    }
}

fn print(session: &str, answer: &api::OverflowAnswer) {
    let number = |number: Option<u64>| number.map_or_else(|| "?".to_owned(), count);
    if answer.refused_for != "none" {
        line(&format!(
            "refused for {}: {} of {} allowed",
            clean(&answer.refused_for),
            number(answer.actual),
            number(answer.limit)
        ));
    }
    for step in &answer.tiers {
        line(&format!(
            "{}: {}, {} tokens freed (estimate)",
            clean(&step.tier),
            clean(&step.did),
            count(step.freed)
        ));
    }
    let session = clean(session);
    match answer.outcome.as_str() {
        "retry" => {
            line("retry: a smaller prompt is ready");
            line(&format!("print it with: recount project {session} --body"));
        }
        "summarise" => {
            let compaction = clean(answer.compaction.as_deref().unwrap_or_default());
            line(&format!(
                "summarise: {compaction} waits for {} summaries, then: recount prepare {session}",
                answer.requests.len()
            ));
            line(&format!("`recount actions {session}` lists them"));
        }
        _ => {
            line(&yellow("surface: show the error"));
            if let Some(why) = &answer.why {
                line(&clean(why));
            }
        }
    }
}
