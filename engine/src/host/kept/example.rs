//! The example of `FORMAT-STATE.md`, so that document and code cannot drift apart; and that no changed byte is believed.

use super::Place;
use super::file::{Body, understood, written};
use recount_events::{Event, Millis, Seq};
use recount_projections::State;
use recount_wal::{RecordDigest, StreamId};
use std::fmt::Write;

const DOCUMENT: &str = include_str!("../../../FORMAT-STATE.md");
const SECRET: [u8; 32] = [7; 32];

fn example() -> (Place, Body) {
    let mut state = State::new();
    let events = [
        r#"{"type":"opened","session":"s","at":1}"#,
        r#"{"type":"message","role":"user","content":"hello","at":2}"#,
        r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"hm"}],"at":3}"#,
    ];
    for event in events {
        let event = Event::from_json(event, Millis(0)).unwrap();
        let admitted = state.admit(event).unwrap();
        state.apply(admitted);
    }
    let place = Place {
        stream: StreamId([2; 16]),
        seq: 2,
        digest: RecordDigest([9; 32]),
    };
    let body = Body {
        frozen: state.freeze().unwrap(),
        injects: Vec::new(),
        inherited: Vec::new(),
        keys: vec![([4; 16], [5; 16], Seq(1), Seq(1))],
        read_only: None,
    };
    (place, body)
}

fn hex(bytes: &[u8]) -> String {
    bytes.chunks(32).fold(String::new(), |mut text, line| {
        for byte in line {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
        text
    })
}

#[test]
fn the_document_shows_these_bytes() {
    let (place, body) = example();
    let bytes = written(&place, &body, &SECRET);
    let hex = hex(&bytes);
    assert!(DOCUMENT.contains(&hex), "not in the document:\n{hex}");
    assert_eq!(understood(&bytes, &SECRET), Some((place, body)));
}

#[test]
fn no_changed_byte_is_believed() {
    let (place, body) = example();
    let bytes = written(&place, &body, &SECRET);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut changed = bytes.clone();
            if let Some(byte) = changed.get_mut(at) {
                *byte ^= 1 << bit;
            }
            assert_eq!(understood(&changed, &SECRET), None, "byte {at} bit {bit}");
        }
        assert_eq!(understood(&bytes[..at], &SECRET), None, "cut at {at}");
    }
    println!(
        "state checkpoint: bytes={} flips={} cuts={}",
        bytes.len(),
        bytes.len() * 8,
        bytes.len()
    );
    assert_eq!(understood(&bytes, &[8; 32]), None, "of another directory");
}
