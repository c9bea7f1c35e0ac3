//! The public form: a parameter of the request.

use crate::Constants;
use crate::constants::CachedForm;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use recount_events::raw::{member, member_words};
use recount_events::{Body, Profile, Wire, escape};
use recount_projections::Timeline;

/// The beta that the parameter `context_management` needs, for the header `anthropic-beta`. Source: Anthropic, "Context editing".
pub const BETA: &str = "context-management-2025-06-27";

/// The strategy. Source: the same.
const STRATEGY: &str = "clear_tool_uses_20250919";

/// The value of the request's member `context_management`: the provider clears old results itself, and keeps those of tools that are state.
/// `None`: not this form, not this wire, or the host set the member itself.
#[must_use]
pub fn request_params(
    constants: &Constants,
    profile: &Profile,
    timeline: &Timeline,
) -> Option<String> {
    let micro = &constants.micro;
    if micro.cached != CachedForm::ContextManagement || profile.wire != Wire::Anthropic {
        return None;
    }
    let own = profile.params.as_ref().and_then(|params| params.as_str());
    if own.is_some_and(|own| member(own, "context_management").is_some()) {
        return None;
    }
    let excluded: Vec<String> = names(timeline)
        .iter()
        .filter(|name| !micro.tools.contains(name))
        .map(|name| escape(name))
        .collect();
    let excluded = if excluded.is_empty() {
        String::new()
    } else {
        format!(r#","exclude_tools":[{}]"#, excluded.join(","))
    };
    Some(format!(
        r#"{{"edits":[{{"type":"{STRATEGY}","trigger":{{"type":"tool_uses","value":{}}},"keep":{{"type":"tool_uses","value":{}}}{excluded}}}]}}"#,
        micro.cached_trigger.max(1),
        micro.cached_keep.max(1)
    ))
}

/// The names of the request's tools, in order.
fn names(timeline: &Timeline) -> BTreeSet<String> {
    let tools = timeline
        .header
        .tools
        .as_ref()
        .map(|logged| &logged.event.body);
    let Some(Body::Tools(tools)) = tools else {
        return BTreeSet::new();
    };
    let raws = tools.tools.iter().filter_map(|tool| tool.as_str());
    raws.filter_map(|raw| {
        let chat = member(raw, "function").and_then(|inner| member_words(inner, "name"));
        let name = member_words(raw, "name").or(chat)?;
        Some(name.into_owned())
    })
    .collect()
}
