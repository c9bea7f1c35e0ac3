//! The envelope of JSON-RPC 2.0: what a line asks, and how its answer is written.

use crate::Error;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A request, still raw.
#[derive(Debug, Deserialize)]
pub(super) struct Ask<'a> {
    #[serde(borrow)]
    pub(super) jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub(super) params: Option<&'a RawValue>,
}

/// `id: null` is an id that was given; a missing one is a notification.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The id's raw JSON when it may be one: a string, a number or null.
pub(super) fn id_of(ask: &Ask<'_>) -> Option<String> {
    let raw = ask.id?.get();
    let fits = !raw.starts_with(['{', '[', 't', 'f']);
    fits.then(|| raw.to_owned())
}

/// The line that answers with a result.
pub(super) fn result_line(id: &str, result: &RawValue) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, result.get())
}

/// The line that answers with an error.
pub(crate) fn error_line(id: Option<&str>, error: &Error) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{},"error":{}}}"#,
        id.unwrap_or("null"),
        error.to_json()
    )
}

#[derive(Deserialize)]
struct Peek<'a> {
    #[serde(borrow)]
    params: Option<PeekParams<'a>>,
}

#[derive(Deserialize)]
struct PeekParams<'a> {
    #[serde(borrow, alias = "session_id")]
    session: Option<Cow<'a, str>>,
}

/// The session that a request line names: requests of one session are answered in order.
#[must_use]
pub fn session_of(line: &str) -> Option<String> {
    let peek: Peek<'_> = serde_json::from_str(line).ok()?;
    peek.params?.session.map(Cow::into_owned)
}
