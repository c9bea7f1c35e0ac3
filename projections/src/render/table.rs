//! Which members each kind of block has on the Anthropic wire (`docs/rendering.md`, section 3).

use crate::render::RepairKind;
use crate::render::json::{Object, is_object, is_string, unique};
use crate::render::pen::Pen;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::raw::{member, members};

/// The members of this type of block; `None` for a type that the table does not know.
pub(crate) fn known(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "text" => &["type", "text", "citations"],
        "image" => &["type", "source"],
        "document" => &["type", "source", "title", "context", "citations"],
        "search_result" => &["type", "source", "title", "content", "citations"],
        "tool_use" | "server_tool_use" => &["type", "id", "name", "input", "caller"],
        "tool_result" => &["type", "tool_use_id", "content", "is_error"],
        "thinking" => &["type", "thinking", "signature"],
        "redacted_thinking" => &["type", "data"],
        "web_search_tool_result" | "web_fetch_tool_result" => {
            &["type", "tool_use_id", "content", "caller"]
        }
        "code_execution_tool_result"
        | "bash_code_execution_tool_result"
        | "text_editor_code_execution_tool_result"
        | "tool_search_tool_result" => &["type", "tool_use_id", "content"],
        "container_upload" => &["type", "file_id"],
        _ => return None,
    })
}

/// The block has all members without which it is refused.
pub(crate) fn complete(name: &str, raw: &str) -> bool {
    let has = |key: &str| member(raw, key).is_some();
    let has_object = |key: &str| member(raw, key).is_some_and(is_object);
    match name {
        "text" => member(raw, "text").is_some_and(is_string),
        "search_result" => has("source") && has("title") && has("content"),
        "container_upload" => has("file_id"),
        "server_tool_use" => has("id") && has("name") && has_object("input"),
        name if name.ends_with("_tool_result") => has("tool_use_id") && has("content"),
        _ => true,
    }
}

/// The members of a raw object that a wire has; the others are listed as repairs. `None`: all but the cache marker.
pub(crate) fn kept<'r>(
    pen: &mut Pen<'_, '_>,
    raw: &'r str,
    keep: Option<&[&str]>,
) -> Vec<(Cow<'r, str>, &'r str)> {
    let mut kept = unique(raw);
    if kept.len() < members(raw).into_iter().flatten().count() {
        pen.mend(RepairKind::Keys);
    }
    kept.retain(|(key, _)| {
        let other = match &**key {
            "cache_control" => Some(RepairKind::CacheControl),
            key => keep
                .is_some_and(|keep| !keep.contains(&key))
                .then_some(RepairKind::Keys),
        };
        other.into_iter().for_each(|kind| pen.mend(kind));
        other.is_none()
    });
    kept
}

/// The same object with only the members that a wire has.
pub(crate) fn copy(pen: &mut Pen<'_, '_>, raw: &str, keep: Option<&[&str]>) -> String {
    let mut object = Object::new();
    for (key, value) in kept(pen, raw, keep) {
        object.raw(&key, value);
    }
    object.finish()
}
