//! Sessions to measure on: made-up conversations, always the same.

use crate::Failure;
use recount::{Engine, Session, api};
use serde_json::json;

/// The n-th event of a conversation: a person's line, then a call, its result, an answer.
pub(crate) fn event(number: usize) -> String {
    let words = "the quick brown fox jumps over the lazy dog; ".repeat(6);
    let event = match number % 4 {
        0 => json!({"type": "message", "role": "user", "content": format!("{number}: {words}")}),
        1 => json!({"type": "message", "role": "assistant", "content": [
            {"type": "text", "text": format!("{number}: I will look.")},
            {"type": "tool_use", "id": format!("toolu_{number}"), "name": "read_file", "input": {"path": format!("src/{number}.rs")}}]}),
        2 => {
            json!({"type": "tool_result", "call": format!("toolu_{}", number - 1), "content": format!("{number}: {}", words.repeat(4))})
        }
        _ => {
            json!({"type": "message", "role": "assistant", "content": format!("{number}: {words}")})
        }
    };
    event.to_string()
}

/// A window that holds everything: what is measured is the engine, not the limit.
const PROFILE: &str = r#"{"provider":"openai","model":"bench","wire":"anthropic","window":100000000,"max_output":1000,"prefill":true}"#;

/// A session with so many events.
pub(crate) fn filled(engine: &Engine, name: &str, events: usize) -> Result<Session, Failure> {
    let profile = api::Spec::json(PROFILE).ok_or("the profile is JSON")?;
    let session = engine.create(name, Some(profile))?;
    let all: Vec<String> = (0..events).map(event).collect();
    for batch in all.chunks(500) {
        let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
        session.append(&batch)?;
    }
    session.sync()?;
    Ok(session)
}

/// Asks for the prompt without its body: what a host pays to know what it would send.
pub(crate) fn project(session: &Session) -> Result<api::Projected, Failure> {
    Ok(session.project(api::Project {
        form: api::As::None,
        ..Default::default()
    })?)
}
