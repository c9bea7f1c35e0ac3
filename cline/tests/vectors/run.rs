//! One recorded operation run again: arguments in, result out, both JSON.

use recount_cline::{
    Begin, Block, Edits, Helper, Keep, Malformed, Message, Overlaid, Range, Task, UiMessage,
    Window, is_full, is_next_generation, pair, render, replace_reads, to_json,
};
use recount_events::raw;
use serde_json::{Value, json};

/// Runs an operation; none when its name is not known.
pub(crate) fn run(op: &str, input: &str) -> Option<Value> {
    Some(match op {
        "getContextWindowInfo" => window_info(input),
        "shouldCompactContextWindow" => should_compact(input),
        "subagentShouldCompact" => helper_should_compact(input),
        "getNextTruncationRange" => next_range(input),
        "getTruncatedMessages" => truncated(input),
        "ensureToolResultsFollowToolUse" => paired(input),
        "applyContextOptimizations" => optimized(input),
        "attemptFileReadOptimizationInMemory" => attempted(input),
        "truncateContextHistory" => rolled_back(input),
        "triggerApplyStandardContextTruncationNoticeChange" => noticed(input),
        "getNewContextMessagesAndMetadata" => turned(input),
        "subagentCompact" => helper_compacted(input),
        "subagentSession" => json!({ "steps": helper_session(input) }),
        "session" => json!({ "steps": session(input) }),
        _ => return None,
    })
}

fn member<'a>(input: &'a str, key: &str) -> &'a str {
    raw::member(input, key).unwrap_or("null")
}

fn number(input: &str, key: &str) -> Option<f64> {
    member(input, key).parse().ok()
}

fn time(input: &str, key: &str) -> f64 {
    number(input, key).unwrap_or_default()
}

fn flag(input: &str, key: &str) -> bool {
    member(input, key) == "true"
}

fn words(input: &str, key: &str) -> String {
    raw::words(member(input, key))
        .unwrap_or_default()
        .into_owned()
}

fn messages(input: &str) -> Vec<Message> {
    Message::list(member(input, "messages")).unwrap_or_default()
}

fn range(input: &str, key: &str) -> Option<Range> {
    Range::from_json(member(input, key))
}

fn edits(input: &str) -> Edits {
    Edits::from_json(member(input, "contextHistory")).unwrap_or_default()
}

fn window(input: &str) -> Window {
    Window::of(
        number(input, "contextWindow"),
        &words(input, "modelId"),
        flag(input, "openAiCompatible"),
    )
}

fn ui_messages(input: &str) -> Vec<UiMessage> {
    let messages = raw::elements(member(input, "clineMessages"));
    messages
        .into_iter()
        .flatten()
        .map(UiMessage::from_json)
        .collect()
}

fn value(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|why| json!({ "not JSON": why.to_string() }))
}

fn of_messages(messages: &[Message]) -> Value {
    value(&to_json(messages))
}

fn of_edits(edits: &Edits) -> Value {
    value(&edits.to_json())
}

fn of_range(range: Option<Range>) -> Value {
    range.map_or(Value::Null, |range| value(&range.to_json()))
}

fn window_info(input: &str) -> Value {
    let window = window(input);
    json!({ "contextWindow": window.size, "maxAllowedSize": window.allowed })
}

fn should_compact(input: &str) -> Value {
    let index = number(input, "previousApiReqIndex").unwrap_or(-1.0) as i64;
    let share = number(input, "thresholdPercentage");
    json!({ "shouldCompact": is_full(&ui_messages(input), index, window(input), share) })
}

fn helper_should_compact(input: &str) -> Value {
    let summarises = flag(input, "useAutoCondense") && is_next_generation(&words(input, "modelId"));
    let threshold = window(input).helper_threshold(summarises);
    json!({ "shouldCompact": time(input, "totalTokens") >= threshold })
}

fn next_range(input: &str) -> Value {
    let keep = match words(input, "keep").as_str() {
        "none" => Keep::None,
        "lastTwo" => Keep::LastTwo,
        "half" => Keep::Half,
        _ => Keep::Quarter,
    };
    let next = Range::next(&messages(input), range(input, "currentRange"), keep);
    json!({ "range": of_range(Some(next)) })
}

fn truncated(input: &str) -> Value {
    let rendered = render(&messages(input), range(input, "range"), &edits(input));
    json!({ "messages": of_messages(&rendered.messages) })
}

fn paired(input: &str) -> Value {
    json!({ "messages": of_messages(&pair(messages(input)).messages) })
}

fn optimized(input: &str) -> Value {
    let mut edits = edits(input);
    let start = number(input, "startFromIndex").unwrap_or(2.0) as i64;
    let replaced = replace_reads(
        &mut edits,
        &messages(input),
        start,
        time(input, "timestamp"),
    );
    json!({ "didUpdate": replaced.any(), "updatedIndices": replaced.messages, "contextHistory": of_edits(&edits) })
}

fn attempted(input: &str) -> Value {
    let (history, mut edits) = (messages(input), edits(input));
    let overlaid = Overlaid {
        history: &history,
        range: range(input, "range"),
    };
    let attempt = overlaid.replace(&mut edits, time(input, "timestamp"));
    let sent = if attempt.replaced.any() {
        overlaid.render(&edits).messages
    } else {
        history.clone()
    };
    json!({
        "anyContextUpdates": attempt.replaced.any(),
        "needToTruncate": attempt.needs_truncation(),
        "percentSaved": attempt.savings.map(|savings| savings.share()),
        "messages": of_messages(&sent),
        "contextHistory": of_edits(&edits),
    })
}

fn rolled_back(input: &str) -> Value {
    let mut edits = edits(input);
    edits.truncate(time(input, "timestamp"));
    json!({ "contextHistory": of_edits(&edits), "diskText": edits.to_json() })
}

fn noticed(input: &str) -> Value {
    let mut edits = edits(input);
    let saved = edits.note_both(&messages(input), time(input, "timestamp"));
    json!({ "contextHistory": of_edits(&edits), "saved": saved })
}

fn turned(input: &str) -> Value {
    let (history, mut edits) = (messages(input), edits(input));
    let overlaid = Overlaid {
        history: &history,
        range: range(input, "range"),
    };
    let index = number(input, "previousApiReqIndex").unwrap_or(-1.0) as i64;
    let turn = overlaid.turn(
        &mut edits,
        &ui_messages(input),
        index,
        window(input),
        flag(input, "useAutoCondense"),
    );
    match turn {
        Err(Malformed) => json!({ "throws": "SyntaxError" }),
        Ok(turn) => json!({
            "range": of_range(turn.range),
            "updatedRange": turn.moved,
            "messages": of_messages(&turn.rendered.messages),
            "contextHistory": of_edits(&edits),
            "savedToDisk": turn.edited,
        }),
    }
}

fn of_helper(helper: &mut Helper, now: f64) -> Value {
    let compacted = helper.compact(now);
    let sent = helper.render();
    json!({
        "didCompact": compacted,
        "range": of_range(helper.range),
        "conversation": of_messages(&helper.conversation),
        "messages": of_messages(&sent),
        "contextHistory": of_edits(&helper.edits),
    })
}

fn helper_compacted(input: &str) -> Value {
    let mut helper = Helper {
        conversation: messages(input),
        range: range(input, "range"),
        edits: edits(input),
    };
    of_helper(&mut helper, time(input, "now"))
}

fn steps(input: &str) -> impl Iterator<Item = &str> {
    raw::elements(member(input, "steps")).into_iter().flatten()
}

fn helper_session(input: &str) -> Vec<Value> {
    let mut helper = Helper::default();
    let mut step = |step: &str| match words(step, "do").as_str() {
        "append" => {
            helper.conversation.extend(messages(step));
            Value::Null
        }
        _ => of_helper(&mut helper, time(step, "now")),
    };
    steps(input).map(&mut step).collect()
}

fn session(input: &str) -> Vec<Value> {
    let mut task = Task::default();
    steps(input)
        .map(|step| session_step(&mut task, step))
        .collect()
}

fn session_step(task: &mut Task, step: &str) -> Value {
    let at = time(step, "ts");
    let now = time(step, "now");
    let own = match words(step, "do").as_str() {
        "append" => {
            task.append(messages(step));
            return Value::Null;
        }
        "endTurn" => {
            task.end(
                member(step, "usage"),
                Message::from_json(member(step, "assistant")),
            );
            return Value::Null;
        }
        "say" => {
            let said = task.say(UiMessage::from_json(member(step, "message")));
            return json!({
                "conversationHistoryIndex": said.history,
                "conversationHistoryDeletedRange": of_range(said.range),
            });
        }
        "beginTurn" => begin(task, step),
        "optimize" => {
            let replaced = task.replace_reads(at);
            json!({ "didUpdate": replaced.any(), "updatedIndices": replaced.messages })
        }
        "truncateContextHistory" => {
            task.truncate_edits(at);
            json!({})
        }
        "overflow" => {
            task.overflowed(now);
            json!({})
        }
        "condenseAccepted" => {
            task.condensed(now);
            json!({})
        }
        "summarizeTask" => {
            task.summarized(now);
            json!({ "currentlySummarizing": task.summarizing })
        }
        "restoreTask" => {
            let offset = number(step, "offset").unwrap_or_default() as usize;
            let cancelled = task.restore(at, offset, now);
            let disk = task.files.edits.as_deref().map_or(Value::Null, value);
            json!({ "cancelled": cancelled, "diskAfterRestore": disk })
        }
        "reload" => {
            task.reload();
            json!({})
        }
        "render" => json!({ "rendered": of_messages(&task.render()) }),
        other => json!({ "unknown step": other }),
    };
    with_tail(own, task)
}

fn begin(task: &mut Task, step: &str) -> Value {
    let content: Vec<Block> = raw::elements(member(step, "userContent"))
        .into_iter()
        .flatten()
        .map(Block::from_json)
        .collect();
    let begin = Begin {
        at: time(step, "ts"),
        window: Window::of(number(step, "contextWindow"), "", false),
        condenses: flag(step, "autoCondense"),
        content: &content,
        environment: &Block::from_json(member(step, "environmentBlock")),
        summary_request: &Block::from_json(member(step, "compactPromptBlock")),
    };
    match task.begin(&begin) {
        Err(Malformed) => json!({ "throws": "SyntaxError" }),
        Ok(begun) => json!({
            "previousApiReqIndex": begun.previous,
            "shouldCompact": begun.compacts,
            "updatedRange": begun.turn.moved,
            "rendered": of_messages(&begun.turn.rendered.messages),
        }),
    }
}

fn with_tail(mut own: Value, task: &Task) -> Value {
    let memory = task.edits.to_json();
    let disk = match &task.files.edits {
        None => json!("absent"),
        Some(disk) if *disk == memory => json!("same"),
        Some(disk) => value(disk),
    };
    own["deletedRange"] = of_range(task.range);
    own["historyLength"] = json!(task.history.len());
    own["contextHistory"] = value(&memory);
    own["disk"] = disk;
    own
}
