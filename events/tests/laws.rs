//! What holds for every event of every kind, and for bytes that are none.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail tests"
)]

use proptest::prelude::*;
use recount_events::arbitrary::{block, event, event_of, json, salts};
use recount_events::raw::{elements, is_json, members, words};
use recount_events::*;
use std::sync::Arc;

fn sealed(mut event: Event) -> Event {
    event.seal(&mut *salts());
    event
}

/// The contents as a log gives them back: what it holds, what it lost, what it overwrote.
fn found(event: &Event, encoded: &Encoded) -> Vec<Found> {
    let texts = event.texts();
    let pairs = texts.iter().zip(&encoded.contents);
    pairs
        .map(|(text, (salt, bytes))| match text.held {
            Held::Here(_) => Found::Here {
                salt: *salt,
                bytes: Arc::clone(bytes),
            },
            Held::Lost => Found::Lost,
            Held::Erased => Found::Erased,
        })
        .collect()
}

/// Without seals, but for opaque events, whose bodies fix them.
fn plain(mut event: Event) -> Event {
    if !matches!(event.body, Body::Newer(_)) {
        event.unseal();
    }
    event
}

fn check_codec(event: Event) {
    let event = sealed(event);
    let encoded = event.encode().unwrap();
    let contents = found(&event, &encoded);
    let back = Event::decode(encoded.kind, encoded.schema, &encoded.body, contents).unwrap();
    assert_eq!(back, event);
    assert_eq!(back.encode().unwrap(), encoded);
}

fn check_json(event: Event) {
    let line = event.to_json(Seq(4), Some(&Digest([7; 32])));
    assert!(is_json(&line) && !line.contains(['\n', '\r']), "{line}");
    let read = Event::from_log_json(&line).unwrap_or_else(|refusal| panic!("{refusal}: {line}"));
    assert_eq!(
        read,
        Logged {
            seq: Some(Seq(4)),
            digest: Some(Digest([7; 32])),
            event
        },
        "{line}"
    );
    assert_eq!(read.event.to_json(Seq(4), Some(&Digest([7; 32]))), line);
}

#[test]
fn every_kind_is_written_and_read() {
    let mut runner = proptest::test_runner::TestRunner::default();
    for (kind, name) in KINDS {
        let events = event_of(*kind);
        for _ in 0..24 {
            let event = events.new_tree(&mut runner).unwrap().current();
            assert_eq!((event.body.kind(), event.body.name()), (*kind, *name));
            check_codec(event.clone());
            check_json(event);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn decode_undoes_encode(event in event()) {
        check_codec(event);
    }

    #[test]
    fn a_line_reads_back(event in event()) {
        check_json(plain(event));
    }

    #[test]
    fn texts_are_as_many_as_contents(event in event()) {
        let mut event = sealed(event);
        let count = event.texts().len();
        prop_assert_eq!(count, event.texts_mut().len());
        let encoded = event.encode().unwrap();
        prop_assert_eq!(count, encoded.contents.len());
        // Without its words an event still is the same event, and says so in the same bytes.
        let bare = Event::decode(encoded.kind, encoded.schema, &encoded.body, vec![]).unwrap();
        prop_assert_eq!(bare.body.kind(), event.body.kind());
        prop_assert_eq!(&bare.encode().unwrap().body, &encoded.body);
    }

    #[test]
    fn no_words_in_a_body(event in event_of(9)) {
        let event = sealed(event);
        let body = event.encode().unwrap().body;
        for text in event.texts() {
            let bytes = text.bytes().unwrap_or_default();
            prop_assert!(bytes.len() < 6 || !body.windows(bytes.len()).any(|part| part == bytes));
        }
    }

    #[test]
    fn junk_is_no_event(kind in 0..40_u16, schema in 0..3_u16, body in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(event) = Event::decode(kind, schema, &body, vec![Found::Lost]) {
            let line = event.to_json(Seq(0), None);
            prop_assert!(is_json(&line));
            let _ = event.encode();
        }
    }

    #[test]
    fn a_damaged_body_is_no_panic(event in event(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let event = sealed(event);
        let mut encoded = event.encode().unwrap();
        if encoded.body.is_empty() {
            return Ok(());
        }
        let at = at.index(encoded.body.len());
        encoded.body[at] = byte;
        let contents = found(&event, &encoded);
        if let Ok(back) = Event::decode(encoded.kind, encoded.schema, &encoded.body, contents) {
            prop_assert!(is_json(&back.to_json(Seq(0), None)));
        }
    }

    #[test]
    fn junk_is_no_json_event(raw in ".{0,60}", value in json()) {
        let _ = Event::from_json(&raw, Millis(0));
        let _ = Event::from_log_json(&value);
        let _ = Draft::from_json(&value, Millis(0));
        let kept = Event::keep(&raw, Millis(0));
        prop_assert_eq!(Event::from_log_json(&kept.to_json(Seq(0), None)).unwrap().event, kept);
    }

    #[test]
    fn a_host_line_with_fields_of_all_kinds_is_read_or_refused(place in 0..KINDS.len(), value in arbitrary::object()) {
        let raw = format!("{{\"type\":\"{}\",{}", KINDS[place].1, &value[1..]);
        if let Ok(event) = Event::from_json(&raw, Millis(0)) {
            check_json(event);
        }
    }

    #[test]
    fn readers_never_panic(raw in ".{0,40}") {
        let _ = members(&raw).map(Iterator::count);
        let _ = elements(&raw).map(Iterator::count);
        let _ = words(&raw);
        let _ = sanitize(&raw);
        for format in [Format::Anthropic, Format::OpenaiChat, Format::OpenaiResponses, Format::Gemini] {
            let block = Block::from_raw(format, &raw);
            let _ = (block.call(format), block.result(format), block.images(format), block.words());
        }
    }

    #[test]
    fn facts_of_any_block(block in block(Format::Anthropic)) {
        prop_assert_eq!(block.call(Format::Anthropic).is_some(), block.kind == BlockKind::Call && block.raw.bytes().is_some());
    }

    #[test]
    fn sanitize_is_valid_and_done_once(raw in json()) {
        let clean = sanitize(&raw);
        prop_assert!(is_json(&clean));
        prop_assert_eq!(sanitize(&clean), clean.clone());
        // What no half of a pair and no NUL is in, a strict reader of Unicode accepts.
        let value: serde_json::Value = serde_json::from_str(&clean).unwrap();
        prop_assert!(!value.to_string().contains("\\u0000"));
    }

    #[test]
    fn escape_agrees_with_another_writer(words_in in any::<String>()) {
        prop_assert_eq!(escape(&words_in), serde_json::to_string(&words_in).unwrap());
        let token = escape(&words_in);
        prop_assert_eq!(&*words(&token).unwrap(), words_in.as_str());
    }

    #[test]
    fn bytes_make_valid_tokens(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        let token = bytes_to_token(&bytes);
        let read: String = serde_json::from_str(&token).unwrap();
        prop_assert!(!read.contains('\0'));
        prop_assert_eq!(sanitize(&token), token.as_str());
    }

    #[test]
    fn members_agree_with_another_reader(raw in arbitrary::object()) {
        let clean = sanitize(&raw).into_owned();
        let all: Vec<_> = members(&clean).unwrap().collect();
        if let Ok(value) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&clean) {
            for one in &all {
                let expected = &value[&*one.key()];
                prop_assert_eq!(&serde_json::from_str::<serde_json::Value>(one.value).unwrap(), expected);
            }
            prop_assert_eq!(all.len(), value.len());
        }
    }
}
