//! A recorded digest commits to nothing without the salts of what was shown.

use crate::desk::Desk;
use recount_events::{Event, Millis, Wire};

/// A session in which every kind of piece stands, its texts sealed with salts from this byte on.
fn sealed(first: u8) -> Desk {
    let mut desk = Desk::new();
    let mut salt = first;
    for json in [
        r#"{"type":"tools","tools":[{"name":"look","input_schema":{"type":"object"}}]}"#,
        r#"{"type":"system","content":"be brief"}"#,
        r#"{"type":"message","role":"user","content":"hello"}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"I look"},{"type":"tool_use","id":"t1","name":"look","input":{}}]}"#,
        r#"{"type":"tool_result","call":"t1","content":"seen"}"#,
        r#"{"type":"inject","slot":"clock","content":"noon","lifetime":"once"}"#,
        r#"{"type":"message","role":"user","content":"and now?"}"#,
    ] {
        let mut event = Event::from_json(json, Millis(0)).unwrap();
        event.seal(&mut || {
            salt = salt.wrapping_add(1);
            [salt; 16]
        });
        desk.apply(event);
    }
    desk
}

#[test]
fn equal_words_under_other_salts_have_other_digests_and_equal_bytes() {
    let (one, again, other) = (
        sealed(0).project(Wire::Anthropic),
        sealed(0).project(Wire::Anthropic),
        sealed(100).project(Wire::Anthropic),
    );
    assert_eq!(one.digest, again.digest);
    assert_eq!(one.body(), other.body());
    assert!(one.pieces.len() >= 8, "{} pieces", one.pieces.len());
    for (here, there) in one.pieces.iter().zip(&other.pieces) {
        assert_eq!(here.bytes, there.bytes);
        assert_ne!(
            here.digest,
            there.digest,
            "the digest of {:?} can be guessed",
            String::from_utf8_lossy(&here.bytes)
        );
    }
}
