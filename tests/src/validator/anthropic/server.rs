//! Calls that the provider answers itself.

use super::super::Rule;
use super::super::request::{Block, Found, Request, Turn, found, list};

pub(super) const RULES: &[Rule] = &[
    ("server-id", server_id),
    ("server-result-missing", missing),
    ("server-result-orphan", orphan),
    ("server-tool", tool),
];

/// The result kinds of server calls end so; the host's own result does not.
fn is_result(block: &Block<'_>) -> bool {
    block.kind.ends_with("_tool_result") && block.kind != "mcp_tool_result"
}

fn calls<'a, 'r>(turn: &'r Turn<'a>) -> impl Iterator<Item = &'r Block<'a>> {
    turn.blocks
        .iter()
        .filter(|block| block.kind == "server_tool_use")
}

/// `srvtoolu_…`: pattern in the published API description.
fn server_id(request: &Request<'_>) -> Vec<Found> {
    let fits = |id: &str| {
        let rest = id.strip_prefix("srvtoolu_");
        rest.is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_'))
    };
    let calls = request.messages.iter().flat_map(calls);
    calls
        .filter(|call| !fits(call.text("id")))
        .map(|call| found(&call.path, format!("id={:?}", call.text("id"))))
        .collect()
}

/// Its result stands in the same message, except that of a paused response at the end, or before a message of results only.
fn missing(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter().enumerate();
    turns
        .filter(|(index, _)| !may_wait(request.messages.get(index + 1)))
        .flat_map(|(_, turn)| calls(turn).filter(|call| !answered(turn, call)))
        .map(|call| {
            found(
                &call.path,
                format!("without a result id={}", call.text("id")),
            )
        })
        .collect()
}

fn may_wait(next: Option<&Turn<'_>>) -> bool {
    next.is_none_or(|turn| {
        !turn.blocks.is_empty() && turn.blocks.iter().all(|block| block.kind == "tool_result")
    })
}

fn answered(turn: &Turn<'_>, call: &Block<'_>) -> bool {
    let behind = turn
        .blocks
        .iter()
        .skip_while(|block| block.path != call.path);
    behind
        .filter(|block| is_result(block))
        .any(|result| result.text("tool_use_id") == call.text("id"))
}

fn orphan(request: &Request<'_>) -> Vec<Found> {
    let turns = request.messages.iter();
    turns
        .flat_map(|turn| {
            turn.blocks
                .iter()
                .filter(|block| is_result(block))
                .map(move |block| (turn, block))
        })
        .filter(|(turn, result)| !asked(turn, result))
        .map(|(_, result)| {
            found(
                &result.path,
                format!("without its call id={}", result.text("tool_use_id")),
            )
        })
        .collect()
}

fn asked(turn: &Turn<'_>, result: &Block<'_>) -> bool {
    let before = turn
        .blocks
        .iter()
        .take_while(|block| block.path != result.path);
    before
        .filter(|block| block.kind == "server_tool_use")
        .any(|call| call.text("id") == result.text("tool_use_id"))
}

/// The tool that a call belongs to: code execution has several calls.
fn offering(call: &str) -> &str {
    match call {
        "bash_code_execution" | "text_editor_code_execution" => "code_execution",
        other => other,
    }
}

/// The tool of a call without a result has to be in the request; for one with a result the same is asked, to be safe.
fn tool(request: &Request<'_>) -> Vec<Found> {
    let offered: Vec<&str> = list(&request.body["tools"])
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let calls = request.messages.iter().flat_map(calls);
    calls
        .filter(|call| !offered.contains(&offering(call.text("name"))))
        .map(|call| {
            found(
                &call.path,
                format!("no such tool was provided name={}", call.text("name")),
            )
        })
        .collect()
}
