//! `summarised`: a model's answer to a request of `compact`.

use crate::Answer;
use crate::args::{Cli, Summarised};
use crate::given;
use crate::print::{clean, count, line, yellow};
use crate::reach::Reach;
use recount::{Error, api};
use serde_json::value::{RawValue, to_raw_value};

pub(crate) fn run(cli: &Cli, args: &Summarised) -> crate::Outcome {
    let error = args.error.as_ref().map(to_raw_value).transpose();
    let error = error.map_err(|cause| Error::invalid(cause.to_string()))?;
    let ask = api::Summarised {
        session: args.session.clone(),
        compaction: args.compaction.clone(),
        chunk: args.chunk,
        text: match &error {
            Some(_) => None,
            None => Some(given::text(&args.text)?),
        },
        error,
        stop: args.stop.clone(),
        usage: usage(args.usage.as_deref())?,
        form: api::As::None,
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        now: None,
    };
    let people = |answer: &api::SummarisedAnswer| {
        print(args, answer);
        verdict(answer)
    };
    Reach::existing(cli)?.tell("v1.session.summarised", &ask, people, verdict)
}

fn usage(typed: Option<&str>) -> Result<Option<Box<RawValue>>, Error> {
    let Some(typed) = typed else { return Ok(None) };
    serde_json::from_str(typed)
        .map(Some)
        .map_err(|cause| Error::invalid(format!("the usage is not JSON: {cause}")))
}

/// Only what was taken is a yes.
fn verdict(answer: &api::SummarisedAnswer) -> Answer {
    match answer.outcome.as_str() {
        "committed" | "next" | "model_free" => Answer::Yes,
        _ => Answer::No,
    }
}

fn print(args: &Summarised, answer: &api::SummarisedAnswer) {
    let compaction = answer.compaction.as_deref().unwrap_or(&args.compaction);
    let compaction = clean(compaction);
    match answer.outcome.as_str() {
        "committed" | "model_free" => line(&format!(
            "{compaction}: {} tokens before, {} after (estimate)",
            count(answer.before),
            count(answer.after.unwrap_or(0))
        )),
        outcome => line(&format!("{compaction}: {}", clean(outcome))),
    }
    if let Some(why) = &answer.why {
        line(&yellow(&clean(why)));
    }
    for open in &answer.requests {
        line(&format!(
            "open: chunk {} (events {}–{}); print its request with: recount compact {} --chunk {}",
            open.chunk,
            open.first,
            open.last,
            clean(&args.session),
            open.chunk
        ));
    }
}
