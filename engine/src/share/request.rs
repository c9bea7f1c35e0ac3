//! What a client must know of a line that it passes on.

use crate::protocol::error_line;
use crate::{Error, ErrorKind};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    key: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Methods that change nothing.
const READING: &[&str] = &[
    "v1.hello",
    "v1.session.sync",
    "v1.session.project",
    "v1.session.status",
    "v1.session.explain",
    "v1.session.diff",
    "v1.session.log",
    "v1.session.verify",
    "v1.verify",
    "v1.heads",
    "v1.sessions.list",
    "v1.stats",
    "v1.doctor",
];

/// The line may be sent again after its holder died: it changes nothing, carries a key, or does the same twice.
pub(super) fn may_repeat(line: &[u8]) -> bool {
    let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else {
        return true;
    };
    let keyed = line.params.is_some_and(|params| params.key.is_some());
    let method = line.method.unwrap_or_default();
    keyed || READING.contains(&method.as_ref()) || method == "v1.import"
}

/// A request's line.
pub(super) fn line(method: &str, params: &str) -> String {
    let method = serde_json::to_string(method).unwrap_or_else(|_| "\"\"".to_owned());
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":{method},"params":{params}}}"#)
}

/// The result or the error of an answer's line.
pub(super) fn open(answer: &str) -> Result<Box<RawValue>, Error> {
    let unreadable = || Error::invalid("the holder's answer cannot be read");
    let answer: Answer<'_> = serde_json::from_str(answer).map_err(|_| unreadable())?;
    match (answer.result, answer.error) {
        (Some(result), _) => Ok(result.to_owned()),
        (None, Some(error)) => Err(Error::from_json(error.get())),
        (None, None) => Err(unreadable()),
    }
}

/// The line that answers a line with an error of our own.
pub(super) fn refuse(line: &[u8], error: &Error) -> String {
    let id = serde_json::from_slice::<Line<'_>>(line)
        .ok()
        .and_then(|line| line.id.map(|id| id.get().to_owned()));
    error_line(id.as_deref(), error)
}

/// Says that the holder is closing and did not carry the request out.
const CLOSING: i64 = -32020;

/// The answer of a holder that is closing.
pub(super) fn closing(line: &[u8]) -> String {
    refuse(
        line,
        &Error::new(
            ErrorKind::Cancelled,
            "the holder is closing; nothing was done",
        )
        .with_code(CLOSING),
    )
}

/// The answer is that of a holder that is closing.
pub(super) fn is_closing(answer: &str) -> bool {
    #[derive(Deserialize)]
    struct Closing {
        error: Code,
    }
    #[derive(Deserialize)]
    struct Code {
        code: i64,
    }
    // The code is looked for before the line is parsed: answers may be large.
    answer.len() < 1024
        && serde_json::from_str::<Closing>(answer)
            .is_ok_and(|closing| closing.error.code == CLOSING)
}
