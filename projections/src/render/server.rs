//! Calls that the provider answers itself: as they are while call, result and tool are all there, else as text.

use crate::render::RepairKind;
use crate::render::block::{Place, Setting, as_text, native, other, push_whole};
use crate::render::context::Context;
use crate::render::pen::Pen;
use crate::render::table::{complete, copy, known};
use crate::render::track::Ends;
use crate::render::view::{self, At};
use crate::{Map, Unit};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use recount_events::raw::member_words;
use recount_events::{Block, BlockKind, Format};

/// The ids of a unit's server calls that can stand as they are.
#[derive(Debug, Default)]
pub(crate) struct Server {
    whole: BTreeSet<String>,
}

/// What is known about a server call of the unit.
struct Facts {
    stands: bool,
    results: u32,
}

impl Server {
    /// `open`: the unit is paused and nothing stands behind it, so that a call may go without its result. `shown`: the ids of the
    /// server calls before it.
    pub(crate) fn new(
        context: &Context<'_>,
        unit: &Unit,
        open: bool,
        shown: &Map<String, ()>,
    ) -> Self {
        let mut calls: BTreeMap<String, Facts> = BTreeMap::new();
        for (raw, kind) in blocks(unit) {
            if kind == BlockKind::ServerCall {
                let id = member_words(raw, "id").unwrap_or_default().to_string();
                // An id that stands twice names no call.
                let first = !calls.contains_key(&id) && !shown.contains_key(&id);
                let stands = first
                    && is_server_id(&id)
                    && complete("server_tool_use", raw)
                    && has_tool(context, raw);
                calls.insert(id, Facts { stands, results: 0 });
            } else {
                let id = member_words(raw, "tool_use_id").unwrap_or_default();
                // A result before its call: the call cannot stand any more.
                let early = Facts {
                    stands: false,
                    results: 0,
                };
                let facts = calls.entry(id.to_string()).or_insert(early);
                facts.stands &= is_complete_result(raw);
                facts.results = facts.results.saturating_add(1);
            }
        }
        let stands =
            |facts: &Facts| facts.stands && (facts.results == 1 || (facts.results == 0 && open));
        Self {
            whole: calls
                .into_iter()
                .filter(|(_, facts)| stands(facts))
                .map(|(id, _)| id)
                .collect(),
        }
    }
}

/// The header has the tool of this call.
fn has_tool(context: &Context<'_>, raw: &str) -> bool {
    let name = member_words(raw, "name").unwrap_or_default();
    context.tools.contains(tool(&name)) || context.tools.contains(&*name)
}

fn is_complete_result(raw: &str) -> bool {
    let kind = member_words(raw, "type").unwrap_or_default();
    known(&kind).is_some() && complete(&kind, raw)
}

/// `srvtoolu_` and at least one letter, digit or underscore.
fn is_server_id(id: &str) -> bool {
    let rest = id.strip_prefix("srvtoolu_").unwrap_or_default();
    !rest.is_empty()
        && rest
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The tool of the header that brings a call of this name.
fn tool(name: &str) -> &str {
    match name {
        "bash_code_execution" | "text_editor_code_execution" => "code_execution",
        name => name,
    }
}

/// The unit's server blocks in order.
fn blocks(unit: &Unit) -> impl Iterator<Item = (&str, BlockKind)> {
    let contents = unit
        .parts
        .iter()
        .filter_map(|part| part.message())
        .map(|message| &message.content);
    let native = contents.filter(|content| content.format == Format::Anthropic);
    native
        .flat_map(|content| &content.blocks)
        .filter_map(|block| match (block.kind, view::at(block)) {
            (BlockKind::ServerCall | BlockKind::ServerResult, At::Json(raw)) => {
                Some((raw, block.kind))
            }
            _ => None,
        })
}

/// Writes a server call or its result.
pub(crate) fn show(pen: &mut Pen<'_, '_>, setting: Setting<'_>, block: &Block, raw: &str) {
    let kind = member_words(raw, "type").unwrap_or_default();
    let table = known(&kind);
    if table.is_none() && native(pen, setting.format) {
        return other(pen, setting, block, raw);
    }
    let id = if block.kind == BlockKind::ServerCall {
        "id"
    } else {
        "tool_use_id"
    };
    let (whole, paused) = match setting.place {
        Place::Unit(speech) if native(pen, setting.format) => {
            let id = member_words(raw, id).unwrap_or_default();
            (speech.server.whole.contains(&*id), speech.paused)
        }
        _ => (false, false),
    };
    if whole {
        if block.kind == BlockKind::ServerCall {
            let id = member_words(raw, "id").unwrap_or_default().to_string();
            pen.track.sums.servers.insert_mut(id, ());
        }
        let json = copy(pen, raw, table);
        push_whole(pen, setting, json, block);
        if paused {
            pen.track.sums.ends = Ends::Paused;
        }
        return;
    }
    as_text(pen, setting, raw, RepairKind::ServerTool);
}
