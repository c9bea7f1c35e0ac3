//! Messages by role, and their parts.

use super::super::Rule;
use super::super::keys;
use super::super::request::{Block, Found, Request, Turn, blank, found, strangers};
use serde_json::Value;

pub(super) const RULES: &[Rule] = &[
    ("role", role),
    ("message-keys", message_keys),
    ("content-shape", content_shape),
    ("content-empty", content_empty),
    ("part-kind", part_kind),
    ("part-keys", part_keys),
    ("text-blank", text_blank),
    ("prefill", prefill),
    ("prefill-space", prefill_space),
    ("user-missing", user_missing),
];

fn content<'a>(turn: &Turn<'a>) -> &'a Value {
    turn.object.get("content").unwrap_or(&Value::Null)
}

fn role(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter();
    turns
        .filter(|turn| {
            !keys::CHAT_MESSAGE
                .iter()
                .any(|(role, _)| *role == turn.role)
        })
        .map(|turn| found(format!("{}.role", turn.path), format!("role={}", turn.role)))
        .collect()
}

fn message_keys(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter();
    turns
        .filter_map(|turn| {
            Some((
                turn,
                keys::CHAT_MESSAGE
                    .iter()
                    .find(|(role, _)| *role == turn.role)?,
            ))
        })
        .flat_map(|(turn, (_, allowed))| {
            strangers(&turn.path, &Value::Object(turn.object.clone()), allowed)
        })
        .collect()
}

/// A string or a list of parts; null or nothing for the assistant with calls only.
fn content_shape(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter();
    turns
        .filter(|turn| match content(turn) {
            Value::String(_) => false,
            Value::Array(parts) => !parts.iter().all(Value::is_object),
            Value::Null => turn.role != "assistant" || turn.object.get("tool_calls").is_none(),
            _ => true,
        })
        .map(|turn| {
            found(
                &turn.path,
                "content is neither a string nor a list of parts",
            )
        })
        .collect()
}

/// An empty list is refused by all, an empty string by strict ones.
fn content_empty(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter();
    turns
        .filter(|turn| match content(turn) {
            Value::String(text) => text.is_empty(),
            Value::Array(parts) => parts.is_empty(),
            _ => false,
        })
        .map(|turn| found(&turn.path, "empty content"))
        .collect()
}

fn parts<'a, 'r>(request: &'r Request<'a>) -> impl Iterator<Item = (&'r Turn<'a>, &'r Block<'a>)> {
    request
        .messages
        .iter()
        .flat_map(|turn| turn.blocks.iter().map(move |block| (turn, block)))
}

fn part_kind(request: &Request<'_>) -> Vec<Found> {
    parts(request)
        .filter(|(turn, part)| {
            !keys::CHAT_PART
                .iter()
                .any(|(kind, _, roles)| *kind == part.kind && roles.contains(&turn.role))
        })
        .map(|(turn, part)| {
            found(
                &part.path,
                format!("type={} in role={}", part.kind, turn.role),
            )
        })
        .collect()
}

fn part_keys(request: &Request<'_>) -> Vec<Found> {
    parts(request)
        .flat_map(|(_, part)| wrong_keys(part))
        .collect()
}

fn wrong_keys(part: &Block<'_>) -> Vec<Found> {
    let Some((_, member, _)) = keys::CHAT_PART
        .iter()
        .find(|(kind, _, _)| *kind == part.kind)
    else {
        return Vec::new();
    };
    let mut wrong = strangers(
        &part.path,
        part.value,
        &["type", member, "prompt_cache_breakpoint"],
    );
    let fits = match part.kind {
        "text" | "refusal" => part.value[*member].is_string(),
        _ => part.value[*member].is_object(),
    };
    if !fits {
        wrong.push(found(
            &part.path,
            format!("missing or of another type key={member}"),
        ));
    }
    if part.kind == "image_url" {
        wrong.extend(strangers(
            &format!("{}.image_url", part.path),
            &part.value["image_url"],
            &["url", "detail"],
        ));
    }
    wrong
}

fn text_blank(request: &Request<'_>) -> Vec<Found> {
    let texts = parts(request)
        .filter(|(_, part)| part.kind == "text" && part.value["text"].as_str().is_some_and(blank));
    texts
        .map(|(_, part)| found(&part.path, "blank text"))
        .collect()
}

fn prefill(request: &Request<'_>) -> Vec<Found> {
    let last = request.messages.last();
    last.filter(|turn| turn.role == "assistant" && !request.facts.prefill)
        .map(|turn| found(&turn.path, "the conversation ends with the assistant"))
        .into_iter()
        .collect()
}

fn prefill_space(request: &Request<'_>) -> Vec<Found> {
    let last = request
        .messages
        .last()
        .filter(|turn| turn.role == "assistant" && turn.object.get("tool_calls").is_none());
    let ends = last.and_then(|turn| match content(turn) {
        Value::String(text) => Some(text.as_str()),
        _ => turn.blocks.last().map(|block| block.text("text")),
    });
    let open = ends.is_some_and(|text| text.ends_with(char::is_whitespace));
    if open {
        vec![found(
            "messages",
            "the final assistant content ends with white space",
        )]
    } else {
        Vec::new()
    }
}

/// A prompt of nothing but instructions asks nothing.
fn user_missing(request: &Request<'_>) -> Vec<Found> {
    let asked = request
        .messages
        .iter()
        .any(|turn| matches!(turn.role, "user" | "tool"));
    if asked || request.messages.is_empty() {
        Vec::new()
    } else {
        vec![found("messages", "no message of the user")]
    }
}
