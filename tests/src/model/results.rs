//! Messages and results: calls, bindings, parts of a response.

use super::blocks::{What, blocks, clean_surrogates};
use super::fold::{Call, Fold, place};
use super::{Bind, Got, Model, Place, Refused, invalid, rejected};
use serde_json::Value;

/// A message.
///
/// # Errors
/// A result in it has no call.
pub(crate) fn message(model: &Model, fold: &Fold<'_>, event: &Value) -> Result<Got, Refused> {
    let all = blocks(event);
    let assistant = event["role"] == "assistant";
    let of = |what: What| {
        all.iter()
            .enumerate()
            .filter(move |(_, block)| block.what == what)
            .map(|(i, _)| i)
    };
    let mut got = Got::default();
    if assistant {
        let mut ids: Vec<String> = earlier_ids(model);
        for index in of(What::Call) {
            let id = all
                .get(index)
                .map(super::blocks::Block::id)
                .unwrap_or_default();
            got.calls.push((index, travels(&id) && !ids.contains(&id)));
            ids.push(id);
        }
        got.joins = joins(fold, event);
    }
    if event["role"] == "user" {
        for index in of(What::Result) {
            let Some(block) = all.get(index) else {
                continue;
            };
            let content = block.value.get("content").unwrap_or(&Value::Null);
            let closes = true;
            let taken: Vec<Place> = got
                .binds
                .iter()
                .filter_map(|(_, bind)| bound_to(*bind))
                .collect();
            let bind =
                by_id(fold, &block.answers(), closes, content, &taken).or_else(|refused| {
                    same_message(&all, &got.binds, &block.answers(), content).ok_or(refused)
                })?;
            got.binds.push((index, bind));
        }
    }
    let others = all.iter().any(|block| block.what != What::Result);
    got.authored = event["authored"]
        .as_bool()
        .unwrap_or(event["role"] == "user" && others);
    Ok(got)
}

fn bound_to(bind: Bind) -> Option<Place> {
    match bind {
        Bind::To(place) => Some(place),
        Bind::Repeats(_) => None,
    }
}

/// A second result of one id in one message repeats the first when it says the same.
fn same_message(
    all: &[super::blocks::Block],
    binds: &[(usize, Bind)],
    id: &str,
    content: &Value,
) -> Option<Bind> {
    let mut earlier = binds
        .iter()
        .rev()
        .filter_map(|(index, bind)| Some((all.get(*index)?, *bind)));
    let (block, bind) = earlier.find(|(block, _)| block.answers() == id)?;
    let equal = block.value.get("content").unwrap_or(&Value::Null) == content;
    match bind {
        Bind::To(place) | Bind::Repeats(place) if equal => Some(Bind::Repeats(place)),
        _ => None,
    }
}

/// A `tool_result`.
///
/// # Errors
/// It has no call, or its call has another result.
pub(crate) fn result(model: &Model, fold: &Fold<'_>, event: &Value) -> Result<Got, Refused> {
    let closes = event["status"] != "interim";
    let content = &brought(event);
    let bind = match (
        event.get("block").and_then(place),
        event["call"].as_str().map(clean_surrogates),
    ) {
        (Some(block), _) => {
            let call = fold
                .call(block)
                .ok_or_else(|| elsewhere(model, |call| call.place == block))?;
            answer(fold, &call, closes, content)?
        }
        (None, Some(id)) => {
            by_id(fold, &id, closes, content, &[]).map_err(|refused| match refused.why {
                "no call" => elsewhere(model, |call| call.id == id),
                _ => refused,
            })?
        }
        (None, None) => return Err(invalid("neither call nor block")),
    };
    Ok(Got {
        binds: vec![(0, bind)],
        ..Got::default()
    })
}

fn elsewhere(model: &Model, same: impl Fn(&Call) -> bool) -> Refused {
    let heads = 0..model.len();
    let ever = heads.into_iter().any(|at| {
        model
            .fold_at(Some(at))
            .units()
            .into_iter()
            .flat_map(|unit| unit.calls)
            .any(|call| same(&call))
    });
    if ever {
        rejected("its call is on another branch")
    } else {
        rejected("no call")
    }
}

/// The latest message with an open call of that id, in it the first open one; else the newest closed one, to repeat it.
fn by_id(
    fold: &Fold<'_>,
    id: &str,
    closes: bool,
    content: &Value,
    taken: &[Place],
) -> Result<Bind, Refused> {
    let calls: Vec<Call> = fold
        .units()
        .into_iter()
        .flat_map(|unit| unit.calls)
        .filter(|call| call.id == id)
        .collect();
    let open: Vec<&Call> = calls
        .iter()
        .filter(|call| call.open() && !taken.contains(&call.place))
        .collect();
    let newest = open.iter().map(|call| call.place.0).max();
    if let Some(call) = open.iter().find(|call| Some(call.place.0) == newest) {
        return Ok(Bind::To(call.place));
    }
    let closed = calls
        .iter()
        .filter(|call| !taken.contains(&call.place))
        .max_by_key(|call| call.place);
    answer(fold, closed.ok_or(rejected("no call"))?, closes, content)
}

/// What a result for this very call is.
fn answer(fold: &Fold<'_>, call: &Call, closes: bool, content: &Value) -> Result<Bind, Refused> {
    if call.open() {
        return Ok(Bind::To(call.place));
    }
    let said = call.answer().map(|(place, _)| content_of(fold, *place));
    if closes && said.as_ref() == Some(content) {
        Ok(Bind::Repeats(call.place))
    } else {
        Err(rejected("call is closed"))
    }
}

/// What a `tool_result` brings; nothing and no bytes are the same.
fn brought(event: &Value) -> Value {
    let bytes = event.get("bytes").filter(|bytes| *bytes != "");
    event
        .get("content")
        .or(bytes)
        .cloned()
        .unwrap_or(Value::Null)
}

/// The content of a result.
fn content_of(fold: &Fold<'_>, place: Place) -> Value {
    let Some(entry) = fold.get(place.0) else {
        return Value::Null;
    };
    if entry.event["type"] == "tool_result" {
        return brought(&entry.event);
    }
    fold.block(place)
        .map(|block| block.value["content"].clone())
        .unwrap_or(Value::Null)
}

/// Ids of all calls that were ever logged, on any branch.
fn earlier_ids(model: &Model) -> Vec<String> {
    let mut ids = Vec::new();
    for entry in &model.log {
        let all = blocks(&entry.event);
        ids.extend(
            entry
                .got
                .calls
                .iter()
                .filter_map(|(index, _)| Some(all.get(*index)?.id())),
        );
    }
    ids
}

/// 1 to 40 of `[a-zA-Z0-9_-]`, and not the shape of a made-up id.
fn travels(id: &str) -> bool {
    let word = (1..=40).contains(&id.len())
        && id
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    word && !made_up(id)
}

/// `call_<digits>_<digits>`.
fn made_up(id: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let rest = id
        .strip_prefix("call_")
        .and_then(|rest| rest.split_once('_'));
    rest.is_some_and(|(a, b)| digits(a) && digits(b))
}

/// The first part of the response that a message continues: visible, and only its own results came in between.
pub(crate) fn joins(fold: &Fold<'_>, event: &Value) -> Option<usize> {
    let response = event["response"].as_str()?;
    let unit = fold.units().into_iter().last()?;
    let first = *unit.parts.first()?;
    let same = fold.get(first)?.event["response"].as_str() == Some(response);
    let mine = fold.positions(&unit);
    let between = fold
        .contents()
        .into_iter()
        .filter(|p| *p > first)
        .all(|p| mine.contains(&p) && only_results(fold, &unit.parts, p));
    (same && fold.visible(first) && between).then_some(first)
}

/// A part, or nothing but results of this response.
fn only_results(fold: &Fold<'_>, parts: &[usize], seq: usize) -> bool {
    let Some(entry) = fold.get(seq) else {
        return false;
    };
    let mine = entry.got.binds.iter().all(|(_, bind)| {
        let (Bind::To((message, _)) | Bind::Repeats((message, _))) = bind;
        parts.contains(message)
    });
    let bare = entry.event["type"] == "tool_result"
        || blocks(&entry.event).iter().all(|b| b.what == What::Result);
    parts.contains(&seq) || mine && bare
}
