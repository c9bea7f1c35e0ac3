//! Events from bytes and from JSON: read or refused, and what was read is written and read again as it was.
//!
//! - Bytes that begin with `{` are an event's JSON; others are `kind schema contents body`, two bytes of kind, one each of the next two.

use super::lines::{found, salts};
use recount_events::raw::is_json;
use recount_events::{Body, Draft, Event, Found, Millis, Seq};

/// Reads an event from its stored bytes or its JSON.
pub fn decode_event(data: &[u8]) {
    match data {
        [b'{', ..] => json(data),
        [low, high, schema, contents, body @ ..] => {
            let kind = u16::from_le_bytes([*low, *high]);
            stored(kind, u16::from(*schema), *contents, body);
        }
        _ => {}
    }
}

fn stored(kind: u16, schema: u16, contents: u8, body: &[u8]) {
    let contents = vec![Found::Lost; usize::from(contents)];
    let Ok(event) = Event::decode(kind, schema, body, contents) else {
        return;
    };
    assert_eq!(
        (event.body.kind(), event.body.schema()),
        (kind, schema),
        "an event is of the kind that it was read as"
    );
    is_written_and_read(&event);
    is_a_line(&event, true);
}

fn json(data: &[u8]) {
    let Ok(raw) = str::from_utf8(data) else {
        return;
    };
    let _ = Draft::from_json(raw, Millis(1));
    // Between tokens a line break becomes a space: the line says the same, in other bytes.
    let exact = !raw.contains(['\n', '\r']);
    if let Ok(logged) = Event::from_log_json(raw) {
        assert!(is_json(raw), "only JSON is an event");
        is_a_line(&logged.event, exact);
    }
    if let Ok(event) = Event::from_json(raw, Millis(1)) {
        assert!(is_json(raw), "only JSON is an event");
        is_a_line(&event, exact);
        is_written_and_read(&event);
    }
    let kept = Event::keep(raw, Millis(1));
    is_a_line(&kept, exact);
    is_written_and_read(&kept);
}

/// What is stored comes back equal. An event that cannot be stored says so.
fn is_written_and_read(event: &Event) {
    let mut event = event.clone();
    event.seal(&mut salts());
    let Ok(encoded) = event.encode() else { return };
    let contents = found(&event, &encoded);
    let back = Event::decode(encoded.kind, encoded.schema, &encoded.body, contents)
        .expect("what was written can be read");
    assert_eq!(back, event, "decode undoes encode");
    assert_eq!(
        back.encode().as_ref(),
        Ok(&encoded),
        "the same event, the same bytes"
    );
}

/// A line of the log is JSON on one line and reads back equal, seals aside.
fn is_a_line(event: &Event, exact: bool) {
    let mut event = event.clone();
    if !matches!(event.body, Body::Newer(_)) {
        event.unseal();
    }
    let line = event.to_json(Seq(4), None);
    assert!(
        is_json(&line) && !line.contains(['\n', '\r']),
        "one line of JSON: {line}"
    );
    let read = Event::from_log_json(&line)
        .unwrap_or_else(|refusal| panic!("a line reads back: {refusal}: {line}"));
    if exact {
        assert_eq!(read.event, event, "{line}");
    }
    assert_eq!(read.event.to_json(Seq(4), None), line, "written again");
    assert_eq!(read.seq, Some(Seq(4)));
}
