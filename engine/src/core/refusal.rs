//! From a misfit to the error that the caller sees.

use crate::{Error, ErrorKind};
use recount_projections::{Misfit, MisfitKind, Suggest};
use serde_json::value::RawValue;

/// The error of an event that does not fit; `index` is its place in the batch.
pub(crate) fn refused(misfit: &Misfit, index: Option<u64>) -> Error {
    let error = Error::new(kind(misfit.kind), misfit.problem.to_string());
    let error = match index {
        Some(index) => error.with_index(index),
        None => error,
    };
    match misfit.suggest.as_ref().and_then(suggestion) {
        Some(raw) => error
            .with_suggest(raw)
            .with_next("nothing was changed; the suggestion would fit"),
        None => error,
    }
}

fn kind(kind: MisfitKind) -> ErrorKind {
    match kind {
        MisfitKind::Rejected => ErrorKind::Rejected,
        MisfitKind::NotFound => ErrorKind::NotFound,
        MisfitKind::Invalid => ErrorKind::Invalid,
        MisfitKind::Conflict => ErrorKind::Conflict,
        // The next request reads the session wholly.
        MisfitKind::Cold => ErrorKind::Busy,
    }
}

/// The fields of the refused event, as a JSON object.
fn suggestion(suggest: &Suggest) -> Option<Box<RawValue>> {
    let json = match suggest {
        Suggest::Range { first, last } => format!(r#"{{"first":{first},"last":{last}}}"#),
        Suggest::KeepFrom(seq) => format!(r#"{{"keep_from":{seq}}}"#),
        Suggest::Undos(undos) => format!(r#"{{"undos":{}}}"#, serde_json::to_string(undos).ok()?),
        Suggest::Rollback(seq) => format!(r#"{{"rollback":{{"seq":{seq}}}}}"#),
        Suggest::Seq(seq) => format!(r#"{{"seq":{seq}}}"#),
        Suggest::Messages(list) => {
            format!(r#"{{"messages":{}}}"#, serde_json::to_string(list).ok()?)
        }
    };
    RawValue::from_string(json).ok()
}
