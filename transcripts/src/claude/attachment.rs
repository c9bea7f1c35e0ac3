//! Attachments: what the host put before the model beside the conversation.
//!
//! - The recording holds what an attachment is about, seldom its exact words; only what can be told word for word is
//!   injected, the rest is kept.

use super::envelope;
use super::record::Record;
use super::session::Session;
use super::timeline::Sort;
use crate::json::{self, Members};
use crate::{Problem, Report, blocks};
use recount_events::{
    BlockId, Body, Content, Format, Inject, Lifetime, Message, Replace, Role, Seq, Text,
};

impl<'a> Session<'a> {
    /// An attachment.
    pub(super) fn attachment(&mut self, record: &Record<'a>, report: &mut Report) {
        let attachment = record.members.members("attachment").unwrap_or_default();
        let Some(body) = body(&attachment) else {
            return self.beside(record, report);
        };
        let place = self.place(record, report);
        if !self.current(place) {
            self.doubt(record, Problem::LateAttachment, String::new(), report);
            self.stand(record, self.timeline.at(place));
            self.keep(record, report);
            return;
        }
        let event = self.push(body, record.source.clone(), Some(envelope::whole(record)));
        let unit = self.timeline.unit(None);
        let node = self.timeline.grow(event, event, unit, Sort::Aside);
        self.stand(record, Some(node));
    }

    /// Results whose content gave way to a shorter one.
    pub(super) fn replacements(&mut self, record: &Record<'a>, report: &mut Report) {
        let items = record.members.items("replacements").unwrap_or_default();
        let found: Vec<Replace> = items
            .iter()
            .filter_map(|raw| self.replacement(raw))
            .collect();
        if found.len() < items.len() || items.is_empty() {
            let text = format!("found={} listed={}", found.len(), items.len());
            self.doubt(record, Problem::UnknownReference, text, report);
            self.keep(record, report);
        }
        for replace in found {
            self.push(
                Body::Replace(replace),
                record.source.clone(),
                Some(envelope::whole(record)),
            );
        }
        // No link of the chain, although it has a uuid.
        self.stand(record, self.timeline.tip());
    }

    fn replacement(&self, raw: &str) -> Option<Replace> {
        let item = Members::parse(raw)?;
        let id = ["toolUseId", "tool_use_id", "id"]
            .iter()
            .find_map(|key| item.text(key))?;
        let with = ["replacement", "content", "text"]
            .iter()
            .find_map(|key| item.raw(key))?;
        let (event, index) = *self.results.get(&id)?;
        Some(Replace {
            blocks: vec![BlockId {
                seq: Seq(event as u64),
                index,
            }],
            with: blocks::content(Some(with), Format::Anthropic)?,
            cause: Some(Text::plain("claude-code/content-replacement")),
        })
    }
}

/// The event of an attachment whose words can be told.
fn body(attachment: &Members<'_>) -> Option<Body> {
    let kind = attachment.text("type")?;
    if kind == "queued_command" {
        return queued(attachment);
    }
    let content = words(&kind, attachment)?;
    let slot = Text::plain(&format!("claude-code/{kind}"));
    Some(Body::Inject(Inject {
        slot,
        content,
        lifetime: Lifetime::Once,
        supersede: false,
    }))
}

/// What the person typed while the model was at work, or a notice that took the same way.
fn queued(attachment: &Members<'_>) -> Option<Body> {
    let content = blocks::content(attachment.raw("prompt"), Format::Anthropic)
        .filter(|content| !content.blocks.is_empty())?;
    let origin = attachment
        .members("origin")
        .and_then(|origin| origin.text("kind"));
    let mode = attachment.text("commandMode");
    let notice = [mode, origin]
        .iter()
        .any(|kind| kind.as_deref() == Some("task-notification"));
    Some(Body::Message(Message {
        authored: notice.then_some(false),
        ..Message::of(Role::User, content)
    }))
}

/// The words of an attachment, by its type.
fn words(kind: &str, attachment: &Members<'_>) -> Option<Content> {
    let raw = match kind {
        "file" => attachment
            .members("content")?
            .members("file")?
            .raw("content"),
        "nested_memory" => attachment.members("content")?.raw("content"),
        "hook_blocking_error" => attachment.members("blockingError")?.raw("blockingError"),
        "hook_additional_context" | "hook_success" | "skill_listing" | "selected_lines_in_ide" => {
            attachment.raw("content")
        }
        "edited_text_file" => attachment.raw("snippet"),
        "mcp_instructions_delta" => attachment.raw("addedBlocks"),
        "deferred_tools_delta" | "agent_listing_delta" => attachment.raw("addedLines"),
        "total_tokens_reminder" | "batching_reminder_sent" | "silent_turn_reminder" => {
            attachment.raw("text")
        }
        _ => None,
    }?;
    let joined = match json::items(raw) {
        Some(lines) => json::escape(
            &lines
                .into_iter()
                .map(json::unescape)
                .collect::<Option<Vec<_>>>()?
                .join("\n"),
        ),
        None => raw.to_owned(),
    };
    let text = json::unescape(&joined)?;
    (!text.trim().is_empty()).then(|| Content::string(&joined))
}
