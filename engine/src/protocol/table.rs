//! The flat table: a method's name, and the function that answers it.

use super::halves;
use crate::{Engine, Error, api};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// Answers one method: from the parameters' JSON to the result's.
pub(super) type Answer = fn(&Engine, &str) -> Result<Box<RawValue>, Error>;

/// Names of the methods, in the order of the protocol.
pub const METHODS: &[&str] = &[
    "v1.hello",
    "v1.session.open",
    "v1.session.append",
    "v1.session.sync",
    "v1.session.project",
    "v1.session.prepare",
    "v1.session.interrupt",
    "v1.session.instruct",
    "v1.session.overflowed",
    "v1.session.compact",
    "v1.session.summarised",
    "v1.session.abandon",
    "v1.session.done",
    "v1.session.checkpoint",
    "v1.session.rollback",
    "v1.session.undo",
    "v1.session.fork",
    "v1.session.status",
    "v1.session.explain",
    "v1.session.diff",
    "v1.session.log",
    "v1.session.actions",
    "v1.session.verify",
    "v1.verify",
    "v1.heads",
    "v1.session.export",
    "v1.import",
    "v1.sessions.list",
    "v1.stats",
    "v1.prune",
    "v1.doctor",
];

/// The function of a method.
pub(super) fn find(method: &str) -> Option<Answer> {
    Some(match method {
        "v1.hello" => |engine, ask| bare(ask, || engine.hello()),
        "v1.session.open" => |engine, ask| run(ask, |ask: api::Open| engine.open_session(&ask)),
        "v1.session.append" => |engine, ask| run(ask, |ask: api::Append| engine.append(&ask)),
        "v1.session.sync" => |engine, ask| run(ask, |ask: api::Sync| engine.sync(&ask)),
        "v1.session.project" => |engine, ask| run(ask, |ask: api::Project| engine.project(&ask)),
        "v1.session.prepare" => |engine, ask| run(ask, |ask: api::Prepare| engine.prepare(&ask)),
        "v1.session.interrupt" => {
            |engine, ask| run(ask, |ask: api::Interrupt| engine.interrupt(&ask))
        }
        "v1.session.instruct" => |engine, ask| run(ask, |ask: api::Instruct| engine.instruct(&ask)),
        "v1.session.overflowed" => {
            |engine, ask| run(ask, |ask: api::Overflowed| engine.overflowed(&ask))
        }
        "v1.session.compact" => |engine, ask| run(ask, |ask: api::Compact| engine.compact(&ask)),
        "v1.session.summarised" => {
            |engine, ask| run(ask, |ask: api::Summarised| engine.summarised(&ask))
        }
        "v1.session.abandon" => |engine, ask| run(ask, |ask: api::Abandon| engine.abandon(&ask)),
        "v1.session.done" => |engine, ask| run(ask, |ask: api::Done| engine.done(&ask)),
        "v1.session.checkpoint" => {
            |engine, ask| run(ask, |ask: api::Checkpoint| engine.checkpoint(&ask))
        }
        "v1.session.rollback" => |engine, ask| run(ask, |ask: api::Rollback| engine.rollback(&ask)),
        "v1.session.undo" => |engine, ask| run(ask, |ask: api::Undo| engine.undo(&ask)),
        "v1.session.fork" => |engine, ask| run(ask, |ask: api::Fork| engine.fork(&ask)),
        "v1.session.status" => |engine, ask| run(ask, |ask: api::Status| engine.status(&ask)),
        "v1.session.explain" => |engine, ask| run(ask, |ask: api::Explain| engine.explain(&ask)),
        "v1.session.diff" => |engine, ask| run(ask, |ask: api::Diff| engine.diff(&ask)),
        "v1.session.log" => |engine, ask| run(ask, |ask: api::Log| engine.log(&ask)),
        "v1.session.actions" => |engine, ask| run(ask, |ask: api::Actions| engine.actions(&ask)),
        "v1.session.verify" => {
            |engine, ask| run(ask, |ask: api::Verify| engine.verify_session(&ask))
        }
        "v1.verify" => |engine, ask| {
            run(ask, |ask: api::VerifyAll| {
                engine.verify_with(&ask, &mut |_, _| {})
            })
        },
        "v1.heads" => |engine, ask| run(ask, |ask: api::Heads| engine.heads(&ask)),
        "v1.session.export" => |engine, ask| run(ask, |ask: api::Export| engine.export(&ask)),
        "v1.import" => |engine, ask| run(ask, |ask: api::Import| engine.import(&ask)),
        "v1.sessions.list" => |engine, ask| run(ask, |ask: api::List| engine.list(&ask)),
        "v1.stats" => |engine, ask| run(ask, |ask: api::Stats| engine.stats(&ask)),
        "v1.prune" => |engine, ask| run(ask, |ask: api::Prune| engine.prune(&ask)),
        "v1.doctor" => |engine, ask| run(ask, |ask: api::Doctor| Ok(engine.doctor(&ask))),
        _ => return None,
    })
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

fn run<P: DeserializeOwned, R: Serialize>(
    ask: &str,
    answer: impl FnOnce(P) -> Result<R, Error>,
) -> Result<Box<RawValue>, Error> {
    let whole = halves::mended(ask);
    let ask = serde_json::from_str(&whole)
        .map_err(|cause| Error::invalid(format!("parameters do not fit: {cause}")))?;
    write(&answer(ask)?)
}

fn bare<R: Serialize>(
    ask: &str,
    answer: impl FnOnce() -> Result<R, Error>,
) -> Result<Box<RawValue>, Error> {
    run(ask, |_: Nothing| answer())
}

fn write<R: Serialize>(result: &R) -> Result<Box<RawValue>, Error> {
    serde_json::value::to_raw_value(result)
        .map_err(|cause| Error::invalid(format!("result cannot be written: {cause}")))
}
