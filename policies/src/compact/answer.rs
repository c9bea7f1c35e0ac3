//! What of a model's answer becomes the summary (A4, A14): nothing of an answer that called a tool, was cut, is empty, or lacks what was
//! asked for.

use super::instruction::asks_for_tags;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::CompactPlan;

/// Why an answer is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// In words.
    pub why: &'static str,
    /// Asking once more may help.
    pub retry: bool,
}

/// What of an answer becomes the summary. `stop`: why the model stopped, in any provider's words.
///
/// # Errors
/// The answer is not one.
pub fn answer(plan: &CompactPlan, text: &str, stop: Option<&str>) -> Result<String, Fault> {
    if let Some(fault) = stop.and_then(stopped) {
        return Err(fault);
    }
    let asked = plan.instruction.as_ref().and_then(|text| text.words());
    let summary = if asked.is_some_and(|asked| asks_for_tags(&asked)) {
        between_tags(text)?
    } else {
        let text = without(text, "<analysis>", "</analysis>");
        inside(&text).unwrap_or_else(|| text.trim().to_owned())
    };
    if summary.is_empty() {
        return Err(fault("the answer is empty", true));
    }
    Ok(summary)
}

const fn fault(why: &'static str, retry: bool) -> Fault {
    Fault { why, retry }
}

/// Stop reasons of Anthropic, OpenAI and Gemini after which the text is no whole answer.
fn stopped(stop: &str) -> Option<Fault> {
    let stop = stop.to_ascii_lowercase();
    Some(match stop.as_str() {
        "tool_use" | "tool_calls" | "function_call" | "pause_turn" => {
            fault("the answer calls a tool", true)
        }
        "malformed_function_call" | "unexpected_tool_call" => {
            fault("the answer calls a tool", true)
        }
        "max_tokens" | "length" | "max_output_tokens" | "incomplete" => {
            fault("the answer was cut at its limit", true)
        }
        "model_context_window_exceeded" | "window_exceeded" => {
            fault("the window was full before the answer was done", false)
        }
        "refusal" | "content_filter" | "safety" | "prohibited_content" | "blocklist"
        | "recitation" | "spii" => fault("the model refused", false),
        "interrupted" | "cancelled" | "error" => fault("the answer was interrupted", true),
        _ => return None,
    })
}

fn between_tags(text: &str) -> Result<String, Fault> {
    if text.trim().is_empty() {
        return Err(fault("the answer is empty", true));
    }
    let text = without(text, "<analysis>", "</analysis>");
    let missing = fault("the answer has no <summary>", true);
    inside(&text).ok_or(missing)
}

const OPEN: &str = "<summary>";
const CLOSE: &str = "</summary>";

/// What stands between the summary's tags; where a model wrote several pairs, what stands in each, without what stands between them. A
/// summary may speak of the tags: a pair ends at the last closing tag before the next opening one, and an opening tag before any
/// closing one begins no pair of its own.
fn inside(text: &str) -> Option<String> {
    let mut found: Vec<&str> = Vec::new();
    let mut rest = text.split_once(OPEN)?.1;
    loop {
        let closing = rest.find(CLOSE)?;
        let next = rest.get(closing..).and_then(|behind| behind.find(OPEN));
        let next = next.map(|next| closing.saturating_add(next));
        let part = rest.get(..next.unwrap_or(rest.len())).unwrap_or(rest);
        let end = part.rfind(CLOSE)?;
        found.push(part.get(..end)?.trim());
        // What is opened behind the last closing tag is no pair.
        let more = next.and_then(|next| rest.get(next.saturating_add(OPEN.len())..));
        match more.filter(|more| more.contains(CLOSE)) {
            Some(more) => rest = more,
            None => break,
        }
    }
    found.retain(|part| !part.is_empty());
    Some(found.join("\n\n"))
}

/// The text without what stands between two tags; without an end, nothing is taken out but the tag.
fn without(text: &str, open: &str, close: &str) -> String {
    let Some((before, rest)) = text.split_once(open) else {
        return text.to_owned();
    };
    // A scratchpad may speak of the tags themselves: it ends at the last closing one before the summary.
    let summary = rest.find(OPEN).unwrap_or(rest.len());
    let closing = rest.get(..summary).and_then(|part| part.rfind(close));
    let after = closing.or_else(|| rest.find(close)).map_or(rest, |end| {
        rest.get(end.saturating_add(close.len())..).unwrap_or("")
    });
    let mut all = before.to_owned();
    all.push_str(after);
    all
}
