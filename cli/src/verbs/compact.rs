//! `compact`: the request for a model on standard output, to the byte; or a summary at once, without a model.

use crate::Answer;
use crate::args::{Cli, Compact};
use crate::print::{aside, clean, count, exact, line};
use crate::reach::Reach;
use crate::verbs::project::body;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Compact) -> crate::Outcome {
    let reach = Reach::existing(cli)?;
    if let Some(chunk) = args.chunk {
        return again(&reach, args, chunk);
    }
    let ask = api::Compact {
        session: args.session.clone(),
        custom_instruction: args.instruction.clone(),
        from: args.from,
        up_to: args.up_to,
        model_free: args.model_free,
        key: args.writing.key.clone(),
        expect: args.writing.expect,
        ..Default::default()
    };
    reach.say("v1.session.compact", &ask, |done: &api::Compacted| {
        let open = done.requests.first();
        match open.filter(|_| done.outcome != "committed") {
            Some(open) => request(args, &done.compaction, open, done.requests.len()),
            None => committed(&args.session, done),
        }
    })
}

/// Prints a request of the compaction that waits.
fn again(reach: &Reach, args: &Compact, chunk: u32) -> crate::Outcome {
    let ask = api::Actions {
        session: args.session.clone(),
        form: api::As::Text,
    };
    let people = |list: &api::ActionList| {
        let mut open = list.actions.iter().filter_map(summary);
        let count = open.clone().count();
        match open.find(|(_, open)| open.chunk == chunk) {
            Some((compaction, open)) => {
                request(args, &compaction, &open, count);
                Answer::Yes
            }
            None => {
                aside(
                    "no compaction waits for that chunk; `recount actions` lists what is pending",
                );
                Answer::No
            }
        }
    };
    reach.tell("v1.session.actions", &ask, people, |_| Answer::Yes)
}

fn summary(action: &api::Action) -> Option<(String, api::ChunkRequest)> {
    let open = api::ChunkRequest {
        chunk: action.chunk?,
        request: action.request.clone()?,
        first: action.first?,
        last: action.last?,
    };
    Some((action.compaction.clone()?, open))
}

fn committed(session: &str, done: &api::Compacted) {
    line(&format!(
        "{}: {} tokens before, {} after (estimate), by event {}",
        clean(&done.compaction),
        count(done.before),
        count(done.after.unwrap_or(0)),
        done.head
    ));
    line(&format!(
        "`recount explain {}` says what is hidden and how to bring it back",
        clean(session)
    ));
}

/// Prints the body of one request, and on standard error what to do with it.
fn request(args: &Compact, compaction: &str, open: &api::ChunkRequest, count: usize) {
    exact(&body(&open.request));
    let (session, compaction) = (clean(&args.session), clean(compaction));
    aside(&format!(
        "this is the request of {compaction}, chunk {} (events {}–{}), {count} open; nothing is compacted yet",
        open.chunk, open.first, open.last
    ));
    aside(&format!(
        "next: … | your-model | recount summarised {session} {compaction} --chunk {} -",
        open.chunk
    ));
}
