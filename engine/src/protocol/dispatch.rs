//! From a line to its answer.

use super::envelope::{Ask, error_line, id_of, result_line};
use super::table;
use crate::{Engine, Error, ErrorKind};
use serde_json::value::RawValue;

/// The longest line that is read: 64 MiB.
pub const MAX_LINE: usize = 64 << 20;

/// Answers JSON-RPC lines from an engine. Clone is cheap; Send and Sync; calls may run concurrently.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    engine: Engine,
}

impl Dispatcher {
    /// A dispatcher over an engine.
    #[must_use]
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Answers a line; a blank one has no answer.
    #[must_use]
    pub fn call(&self, line: &str) -> Option<String> {
        self.call_bytes(line.as_bytes())
    }

    /// Answers a line of any bytes; a blank one has no answer.
    #[must_use]
    pub fn call_bytes(&self, line: &[u8]) -> Option<String> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        Some(self.answer(line))
    }

    /// Answers a method directly: from the parameters' JSON (none: `{}`) to the result's.
    ///
    /// # Errors
    /// Those of the method; `invalid` with code -32601 for a method that is not there.
    pub fn invoke(&self, method: &str, params: Option<&str>) -> Result<Box<RawValue>, Error> {
        let answer = table::find(method).ok_or_else(|| no_method(method))?;
        answer(&self.engine, params.unwrap_or("{}"))
    }

    fn answer(&self, line: &[u8]) -> String {
        match read(line) {
            Err(error) => error_line(None, &error),
            Ok(ask) => self.answer_ask(&ask),
        }
    }

    fn answer_ask(&self, ask: &Ask<'_>) -> String {
        let id = id_of(ask);
        match self.perform(ask, id.is_some()) {
            Ok(result) => result_line(id.as_deref().unwrap_or("null"), &result),
            Err(error) => error_line(id.as_deref(), &error),
        }
    }

    fn perform(&self, ask: &Ask<'_>, has_id: bool) -> Result<Box<RawValue>, Error> {
        if ask.jsonrpc.as_deref() != Some("2.0") {
            return Err(refused("the member jsonrpc must be the string 2.0"));
        }
        let method = ask
            .method
            .as_deref()
            .ok_or_else(|| refused("the member method is missing"))?;
        if !has_id {
            return Err(refused(
                "a request needs an id: a string or a number; notifications are not answered for",
            ));
        }
        self.invoke(method, ask.params.map(RawValue::get))
    }
}

fn read(line: &[u8]) -> Result<Ask<'_>, Error> {
    if line.len() > MAX_LINE {
        return Err(too_long(line.len()));
    }
    let text = std::str::from_utf8(line).map_err(|_| unreadable("the line is not UTF-8"))?;
    if text.trim_start().starts_with('[') {
        return Err(match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => refused("batches are not answered; send one request a line"),
            Err(_) => unreadable("the line is not json"),
        });
    }
    serde_json::from_str::<&RawValue>(text)
        .map_err(|cause| unreadable(&format!("the line is not json: {cause}")))?;
    serde_json::from_str(text).map_err(|cause| refused(&format!("not a request: {cause}")))
}

/// A line of so many bytes is not taken.
pub(crate) fn too_long(bytes: usize) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        format!("line too long; bytes={bytes} limit={MAX_LINE}"),
    )
}

fn unreadable(message: &str) -> Error {
    Error::invalid(message)
        .with_code(-32700)
        .with_next("send one JSON object a line, in UTF-8")
}

fn refused(message: &str) -> Error {
    Error::invalid(message)
        .with_code(-32600)
        .with_next("send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"v1.hello\"}")
}

fn no_method(method: &str) -> Error {
    let method: String = method.chars().take(100).collect();
    Error::invalid(format!("there is no such method; method={method:?}"))
        .with_code(-32601)
        .with_next("v1.hello lists the methods there are")
}
