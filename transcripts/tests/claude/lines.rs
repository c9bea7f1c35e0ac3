//! Made-up lines of a recording, and how they are read.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panics")]

use crate::common::{assert_accounted, assert_lossless, assert_sound, sketch};
use recount_transcripts::{FormatName, Import, NoFiles, Problem, read};

pub(crate) fn import(lines: &[String]) -> Import {
    let bytes = (lines.join("\n") + "\n").into_bytes();
    let import = read(&bytes, Some(FormatName::ClaudeCode), "s", &NoFiles).unwrap();
    assert_accounted(&bytes, &import);
    assert_lossless(&bytes, &import);
    assert_sound(&import);
    import
}

pub(crate) fn problems(import: &Import) -> Vec<Problem> {
    import
        .report
        .doubted
        .iter()
        .map(|doubt| doubt.problem)
        .collect()
}

pub(crate) fn parent(of: &str) -> String {
    if of.is_empty() {
        "null".to_owned()
    } else {
        format!("\"{of}\"")
    }
}

/// A prompt.
pub(crate) fn user(uuid: &str, follows: &str, said: &str) -> String {
    let parent = parent(follows);
    format!(
        r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"timestamp":"2026-01-01T00:00:00.000Z","message":{{"role":"user","content":"{said}"}}}}"#
    )
}

/// A line of a response without usage; `block` is a raw block.
pub(crate) fn model(uuid: &str, follows: &str, id: &str, block: &str) -> String {
    let parent = parent(follows);
    format!(
        r#"{{"parentUuid":{parent},"message":{{"id":"{id}","role":"assistant","content":[{block}]}},"type":"assistant","uuid":"{uuid}"}}"#
    )
}

pub(crate) fn text(said: &str) -> String {
    format!(r#"{{"type":"text","text":"{said}"}}"#)
}

pub(crate) fn call(id: &str) -> String {
    format!(r#"{{"type":"tool_use","id":"{id}","name":"Bash","input":{{}}}}"#)
}

pub(crate) fn result(uuid: &str, follows: &str, id: &str) -> String {
    let parent = parent(follows);
    format!(
        r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":"out"}}]}}}}"#
    )
}

pub(crate) fn replaced(id: &str) -> String {
    format!(
        r#"{{"type":"content-replacement","uuid":"x{id}","replacements":[{{"kind":"tool-result","toolUseId":"{id}","replacement":"short"}}]}}"#
    )
}

pub(crate) fn other(kind: &str, uuid: &str, follows: &str, rest: &str) -> String {
    let parent = parent(follows);
    format!(r#"{{"type":"{kind}","uuid":"{uuid}","parentUuid":{parent}{rest}}}"#)
}

pub(crate) fn rollbacks(import: &Import) -> Vec<String> {
    sketch(&import.sessions[0])
        .into_iter()
        .filter(|line| line.starts_with("rollback"))
        .collect()
}

pub(crate) fn side(line: &str) -> String {
    line.replace(
        "\"type\":\"user\",\"uuid\"",
        "\"isSidechain\":true,\"type\":\"user\",\"uuid\"",
    )
    .replace(
        "\"type\":\"assistant\"",
        "\"isSidechain\":true,\"type\":\"assistant\"",
    )
}
