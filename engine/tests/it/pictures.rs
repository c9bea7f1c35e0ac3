//! What pictures cost: by their pixels, wherever they stand.

use crate::common::Fixture;
use base64::Engine as _;
use recount::{Session, api};
use serde_json::{Value, json};

const PROFILE: &str = r#"{"provider":"anthropic","model":"claude-sonnet-4-5","wire":"anthropic","window":200000,"max_output":8000}"#;

/// A picture of 500 × 500 pixels in so many bytes: enough for who reads sizes.
fn picture(bytes: usize) -> Value {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    png.extend(500_u32.to_be_bytes());
    png.extend(500_u32.to_be_bytes());
    png.extend((0..bytes).map(|at| (at * at % 251) as u8));
    let data = base64::engine::general_purpose::STANDARD.encode(png);
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

/// A session in which a tool was called.
fn called(fixture: &Fixture) -> Session {
    let session = fixture
        .engine()
        .create("s", api::Spec::json(PROFILE))
        .unwrap();
    session
        .append(&[
            r#"{"type":"message","role":"user","content":"look"}"#,
            r#"{"type":"message","role":"assistant","stop":"tool_use","content":[{"type":"tool_use","id":"t","name":"Shot","input":{}}]}"#,
        ])
        .unwrap();
    session
}

/// Tokens of the prompt after an event more.
fn cost(event: &Value) -> u64 {
    let fixture = Fixture::new();
    let session = called(&fixture);
    session.append(&[&event.to_string()]).unwrap();
    tokens(&session)
}

fn tokens(session: &Session) -> u64 {
    let prompt = session.prepare(api::Prepare::default()).unwrap().prompt;
    assert_eq!(prompt.outcome, api::Outcome::Ready);
    prompt.tokens.total
}

fn result(content: Value) -> Value {
    json!({"type": "tool_result", "call": "t", "content": content})
}

#[test]
fn a_picture_costs_its_pixels_wherever_it_stands() {
    let here = json!({"type": "text", "text": "here"});
    let none = cost(&result(json!([here])));
    let picture = picture(100_000);
    let block = |content: Value| {
        json!({"type": "message", "role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t", "content": content}]})
    };
    let beside = json!({"type": "message", "role": "user", "content": [
        {"type": "tool_result", "tool_use_id": "t", "content": "here"}, picture]});
    let places = [
        ("in a message", cost(&beside)),
        ("alone in a result", cost(&result(json!([picture])))),
        ("behind a text", cost(&result(json!([here, picture])))),
        ("before a text", cost(&result(json!([picture, here])))),
        ("in a block", cost(&block(json!([here, picture])))),
    ];
    for (place, tokens) in places {
        // 500 × 500 / 750 is 334.
        let own = tokens.saturating_sub(none);
        assert!((300..450).contains(&own), "{place}: {own}");
    }
    let one = cost(&result(json!([here, picture])));
    let two = cost(&result(json!([here, picture, picture])));
    assert!(
        (one - none).abs_diff(two - one) < 100,
        "{none} {one} {two}: each picture counts"
    );
}

#[test]
fn pictures_that_stand_in_the_place_of_a_result_cost_their_pixels() {
    let fixture = Fixture::new();
    let session = called(&fixture);
    session
        .append(&[&result(json!("here")).to_string()])
        .unwrap();
    let seq = session.status().unwrap().head;
    let before = tokens(&session);
    let with = json!([{"type": "text", "text": "here"}, picture(100_000)]);
    let replace = json!({"type": "replace", "block": [seq, 0], "with": with});
    session.append(&[&replace.to_string()]).unwrap();
    let own = tokens(&session).saturating_sub(before);
    assert!((300..450).contains(&own), "{own}");
}

#[test]
fn a_document_beside_a_picture_still_costs() {
    let data = base64::engine::general_purpose::STANDARD.encode(vec![7_u8; 90_000]);
    let document = json!({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": data}});
    let picture = picture(100_000);
    let one = cost(&result(json!([picture])));
    let both = cost(&result(json!([picture, document])));
    // 120,000 characters of data, a twelfth of them.
    assert!((9_900..10_200).contains(&(both - one)), "{one} {both}");
}
