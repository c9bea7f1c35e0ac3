//! One message of a list: by its role a message, a result, the header, or something kept.

use super::{Reader, source};
use crate::json::{self, Members};
use crate::lines::Piece;
use crate::{Doubt, Problem, blocks, time};
use recount_events::{
    Block, Body, Content, Format, Kept, Message, Role, Status, System, Text, ToolResult,
};

impl Reader {
    /// Takes the message of that index.
    pub(super) fn message(&mut self, index: usize, piece: &Piece<'_>) {
        self.report.read += 1;
        let raw = piece.record().unwrap_or_default();
        let message = Members::parse(raw).unwrap_or_default();
        let role = message.text("role").unwrap_or_else(|| "none".to_owned());
        *self.report.types.entry(role.clone()).or_default() += 1;
        self.at = message
            .raw("timestamp")
            .and_then(time::parse)
            .unwrap_or(self.at);
        let Some(content) = self.content(&message) else {
            return self.keep(&role, raw, piece, Problem::Malformed);
        };
        let body = match role.as_str() {
            "system" | "developer" if index == 0 => Body::System(System { content }),
            "system" | "developer" => Body::Message(Message::of(Role::System, content)),
            "user" => Body::Message(Message::of(Role::User, content)),
            "assistant" => Body::Message(answer(&message, content)),
            "tool" => Body::ToolResult(result(&message, content)),
            // The result of a call in the form before tools: it names no call.
            "function" => Body::Message(Message {
                authored: Some(false),
                ..Message::of(Role::User, content)
            }),
            _ => return self.keep(&role, raw, piece, Problem::UnknownType),
        };
        self.push(body, source(piece), besides(&message));
    }

    /// Content blocks, then the calls.
    fn content(&self, message: &Members<'_>) -> Option<Content> {
        let mut content = blocks::content(message.raw("content"), self.dialect)?;
        if self.dialect == Format::OpenaiChat {
            let calls = message.items("tool_calls").unwrap_or_default();
            content.blocks.extend(
                calls
                    .into_iter()
                    .map(|raw| Block::from_raw(self.dialect, raw)),
            );
        }
        Some(content)
    }

    fn keep(&mut self, role: &str, raw: &str, piece: &Piece<'_>, problem: Problem) {
        self.report.kept += 1;
        let (line, offset, text) = (piece.line, piece.offset, format!("role={role}"));
        self.report.doubted.push(Doubt {
            file: None,
            line,
            offset,
            problem,
            text,
        });
        let kept = Kept {
            name: Text::plain(&format!("messages/{role}")),
            raw: Text::json(raw),
        };
        self.push(Body::Kept(kept), source(piece), None);
    }
}

fn answer(message: &Members<'_>, content: Content) -> Message {
    let text = |key: &str| message.text(key).map(|text| Text::plain(&text));
    Message {
        response: text("id"),
        model: text("model"),
        ..Message::of(Role::Assistant, content)
    }
}

fn result(message: &Members<'_>, content: Content) -> ToolResult {
    let text = |key: &str| message.text(key).map(|text| Text::plain(&text));
    let call = Some(text("tool_call_id").unwrap_or_else(|| Text::plain("")));
    ToolResult {
        call,
        block: None,
        status: Status::Ok,
        content,
        tool: text("name"),
        child: None,
        bound: None,
    }
}

/// The members that the event does not hold.
fn besides(message: &Members<'_>) -> Option<Text> {
    let held = ["role", "content", "tool_calls"];
    let member = |(key, raw): (&str, &str)| {
        (!held.contains(&key)).then(|| format!("{}:{raw}", json::escape(key)))
    };
    let members: Vec<String> = message.iter().filter_map(member).collect();
    (!members.is_empty()).then(|| Text::json(&format!("{{\"message\":{{{}}}}}", members.join(","))))
}
