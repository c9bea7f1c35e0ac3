//! `show`: a session as people read it, and what of it the prompt does not show.

use crate::Answer;
use crate::args::{Cli, Show};
use crate::print::{bold, clean, dim, first_line, line, lines};
use crate::reach::Reach;
use recount::api;
use serde_json::Value;
use std::collections::BTreeMap;

/// Longest beginning of a text that is not shown in full, in characters.
const WIDTH: usize = 100;

/// What a line says of an event that the prompt does not show.
type Hidden = BTreeMap<u64, String>;

pub(crate) fn run(cli: &Cli, args: &Show) -> crate::Outcome {
    let reach = Reach::existing(cli)?;
    if cli.json {
        let raw = reach.raw(
            "v1.session.log",
            &api::Log {
                session: args.session.clone(),
                ..Default::default()
            },
        )?;
        line(raw.get());
        return Ok(Answer::Yes);
    }
    let hidden = hidden(&reach, args)?;
    let mut passed = 0;
    let mut from = 0;
    loop {
        let page: api::LogPage = reach.ask(
            "v1.session.log",
            &api::Log {
                session: args.session.clone(),
                from: Some(from),
                limit: Some(1000),
            },
        )?;
        for event in &page.events {
            let event: Value = serde_json::from_str(event.get()).unwrap_or_default();
            passed = print(args, &hidden, &event, passed);
        }
        let Some(next) = page.next else { break };
        from = next;
    }
    passed_over(passed);
    Ok(Answer::Yes)
}

/// Events that the prompt does not show, with their cause. Without a profile nothing can be projected, so nothing is hidden.
fn hidden(reach: &Reach, args: &Show) -> Result<Hidden, recount::Error> {
    let ask = api::Explain {
        session: args.session.clone(),
        ..Default::default()
    };
    let explained: api::Explained = match reach.ask("v1.session.explain", &ask) {
        Ok(explained) => explained,
        Err(error) if error.kind() == recount::ErrorKind::Invalid => return Ok(Hidden::new()),
        Err(error) => return Err(error),
    };
    let cause = |absent: &api::Absent| {
        absent.by.map_or_else(
            || absent.cause.clone(),
            |by| format!("{} by event {by}", absent.cause),
        )
    };
    Ok(explained
        .absent
        .iter()
        .map(|absent| (absent.event, cause(absent)))
        .collect())
}

/// Prints an event, or passes it over; answers how many were passed over since the last one printed.
fn print(args: &Show, hidden: &Hidden, event: &Value, passed: u64) -> u64 {
    let seq = event["seq"].as_u64().unwrap_or_default();
    let lines = describe(event, args.full);
    let cause = hidden.get(&seq);
    if lines.is_empty() {
        return passed;
    }
    if cause.is_some() && !args.all {
        return passed + 1;
    }
    passed_over(passed);
    for (number, text) in lines.iter().enumerate() {
        let place = if number == 0 {
            format!("{seq:>6}  ")
        } else {
            " ".repeat(8)
        };
        let shown = format!("{place}{text}");
        line(&cause.map_or_else(
            || shown.clone(),
            |cause| dim(&format!("{shown}   ({})", clean(cause))),
        ));
    }
    0
}

fn passed_over(passed: u64) {
    if passed > 0 {
        line(&dim(&format!(
            "        … {passed} not shown to the model (--all lists them)"
        )));
    }
}

/// The lines of an event; none for what only the engine needs.
fn describe(event: &Value, full: bool) -> Vec<String> {
    let text = |value: &Value| words(value, full);
    match event["type"].as_str().unwrap_or_default() {
        "message" => message(event, full),
        "tool_result" => vec![format!("{} {}", bold("result"), text(&event["content"]))],
        "inject" => vec![format!("{} {}", bold("injected"), text(&event["content"]))],
        "compact_commit" | "collapse_commit" => {
            vec![format!("{} {}", bold("summary"), text(&event["summary"]))]
        }
        "rollback" => vec![format!("{} to {}", bold("rolled back"), event["to"])],
        "undo" => vec![format!("{} event {}", bold("undid"), event["event"])],
        "checkpoint" => vec![format!("{} {}", bold("checkpoint"), text(&event["label"]))],
        "delete_range" | "snip" | "replace" => {
            vec![bold(event["type"].as_str().unwrap_or_default())]
        }
        "opened" | "forked" | "closed" => vec![dim(event["type"].as_str().unwrap_or_default())],
        _ => Vec::new(),
    }
}

fn message(event: &Value, full: bool) -> Vec<String> {
    let role = bold(&clean(event["role"].as_str().unwrap_or("?")));
    match event["content"].as_array() {
        None => vec![format!("{role} {}", words(&event["content"], full))],
        Some(blocks) => blocks
            .iter()
            .map(|block| format!("{role} {}", block_line(block, full)))
            .collect(),
    }
}

fn block_line(block: &Value, full: bool) -> String {
    match block["type"].as_str().unwrap_or_default() {
        "text" => words(&block["text"], full),
        "thinking" => dim(&format!("thinks {}", words(&block["thinking"], full))),
        "tool_use" => format!(
            "calls {} {}",
            bold(&words(&block["name"], full)),
            words(&block["input"], full)
        ),
        "tool_result" => format!("result {}", words(&block["content"], full)),
        other => format!("[{}]", clean(other)),
    }
}

/// A JSON value as words, cut unless `full`.
fn words(value: &Value, full: bool) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect::<Vec<_>>()
            .join("\n"),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    if full {
        lines(&text)
    } else {
        first_line(&text, WIDTH)
    }
}
