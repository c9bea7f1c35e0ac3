//! A prompt as people read it: who says what; `->` is a call, `<-` its result.

use super::print::words;
use super::world::World;
use serde_json::Value;

/// The outcome, the prompt's letter, and the body block by block.
pub(crate) fn projected(world: &mut World, result: &Value) -> String {
    let digest = words(&result["digest"]);
    let mut out = format!("{}: prompt {}\n", outcome(result), world.letter(&digest));
    if let Some(body) = result["request"]["body"].as_str() {
        let body = serde_json::from_str(body).expect("a body is JSON");
        out += &shown(&body);
    }
    for repair in items(&result["repairs"]) {
        out += &format!(
            "  repaired event {}: {}\n",
            repair["event"],
            words(&repair["kind"])
        );
    }
    out
}

fn outcome(result: &Value) -> String {
    let outcome = words(&result["outcome"]);
    let (waiting, impossible) = (&result["waiting"], &result["impossible"]);
    if !waiting.is_null() {
        let calls: Vec<String> = items(&waiting["calls"])
            .map(|call| format!(" {}/{}", call[0], call[1]))
            .collect();
        return format!("{outcome} for {}{}", words(&waiting["for"]), calls.concat());
    }
    if !impossible.is_null() {
        let (floor, limit) = (&impossible["floor"], &impossible["limit"]);
        let unit = words(&impossible["unit"]);
        return format!("{outcome}, {floor} of {limit} {unit}");
    }
    outcome
}

fn shown(body: &Value) -> String {
    let mut out = String::new();
    for tool in items(&body["tools"]) {
        out += &format!("  tool       {}\n", words(&tool["name"]));
    }
    for block in items(&body["system"]) {
        out += &format!("  system     {}\n", words(&block["text"]));
    }
    for message in items(&body["messages"]) {
        let role = words(&message["role"]);
        for block in items(&message["content"]) {
            out += &format!("  {role:<10} {}\n", said(block));
        }
    }
    out
}

fn said(block: &Value) -> String {
    match block["type"].as_str() {
        Some("text") => words(&block["text"]).replace('\n', "\\n"),
        Some("tool_use") => format!("-> {} {}", words(&block["id"]), words(&block["name"])),
        Some("tool_result") => {
            let bad = if block["is_error"] == true {
                " (error)"
            } else {
                ""
            };
            format!(
                "<- {}{bad} {}",
                words(&block["tool_use_id"]),
                words(&block["content"])
            )
        }
        _ => block.to_string(),
    }
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
