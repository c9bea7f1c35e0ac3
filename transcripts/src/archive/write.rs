//! Writing an archive, line by line. Each line ends in `\n`.

use super::{Entry, Header, Trailer, VERSION, hex};
use crate::json::escape;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use recount_events::Found;

/// The first line.
#[must_use]
pub fn header(header: &Header) -> String {
    let Header { session, first } = header;
    format!(
        "{{\"recount_archive\":{VERSION},\"session\":{},\"first\":{first}}}\n",
        escape(session)
    )
}

/// The line of an event. `event` is its readable twin, one JSON value for people: readers do not look at it. One that
/// is no JSON is left out.
#[must_use]
pub fn line(entry: &Entry, event: Option<&str>) -> String {
    let Entry {
        seq,
        digest,
        kind,
        schema,
        body,
        contents,
    } = entry;
    let contents: Vec<String> = contents.iter().map(content).collect();
    let event = event.filter(|event| {
        serde_json::from_str::<serde::de::IgnoredAny>(event).is_ok() && !event.contains('\n')
    });
    let event = event.map_or(String::new(), |event| format!(",\"event\":{event}"));
    format!(
        "{{\"seq\":{seq},\"digest\":\"{digest}\",\"kind\":{kind},\"schema\":{schema},\"body\":\"{}\",\"contents\":[{}]{event}}}\n",
        STANDARD.encode(body),
        contents.join(",")
    )
}

/// The last line.
#[must_use]
pub fn trailer(trailer: &Trailer) -> String {
    let head = trailer
        .head
        .map_or("null".to_owned(), |head| format!("\"{head}\""));
    format!(
        "{{\"recount_archive_end\":{VERSION},\"count\":{},\"head\":{head}}}\n",
        trailer.count
    )
}

fn content(found: &Found) -> String {
    match found {
        Found::Here { salt, bytes } => {
            let salt = hex::encode(salt);
            match std::str::from_utf8(bytes) {
                Ok(text) => format!("{{\"salt\":\"{salt}\",\"text\":{}}}", escape(text)),
                Err(_) => format!(
                    "{{\"salt\":\"{salt}\",\"bytes\":\"{}\"}}",
                    STANDARD.encode(bytes)
                ),
            }
        }
        Found::Lost => "{\"lost\":true}".to_owned(),
        Found::Erased => "{\"erased\":true}".to_owned(),
    }
}
