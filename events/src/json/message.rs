//! Messages, results and replacements in JSON: the dialects' own words for roles, stops and results.

use super::content::{put_with_calls, take_calls};
use super::fields::{Fields, Mode};
use super::kinds::Json;
use super::line::Line;
use super::parts::{Part, put_resolved, resolved};
use super::refusal::{Problem, Refusal};
use super::value::Value;
use crate::body::*;
use crate::raw::words;
use crate::{BlockId, Body, Content, Format, Text};

/// A message, or the result that a message of role `tool` is.
pub(super) fn take_message(fields: &mut Fields<'_>) -> Result<Body, Refusal> {
    let format: Format = fields
        .peek("format")
        .and_then(Value::read)
        .unwrap_or_default();
    let tool = fields
        .peek("role")
        .and_then(words)
        .is_some_and(|role| role == "tool");
    if tool && format == Format::OpenaiChat {
        fields.take("role");
        let call = Text::take(fields, "tool_call_id")?;
        return take_result(fields, Some(call)).map(Body::ToolResult);
    }
    Message::take(fields).map(Body::Message)
}

impl Json for Message {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let silent = is_silent(fields);
        let mut content = Content::take(fields, "content")?;
        if content.format == Format::OpenaiChat {
            content.blocks.extend(take_calls(fields)?);
        }
        let role = take_role(fields, content.format)?;
        if silent {
            return Err(Refusal::new("content", Problem::Missing));
        }
        Ok(Self {
            role,
            content,
            response: fields.text("response")?,
            issued: fields.value("issued")?,
            model: fields.text("model")?,
            issuer: fields.text("issuer")?,
            stop: take_stop(fields)?,
            authored: fields.value("authored")?,
            joins: resolved(fields, "joins")?,
            calls: resolved(fields, "calls")?,
            results: resolved(fields, "results")?,
        })
    }

    fn put(&self, line: &mut Line) {
        line.value("role", &self.role);
        put_with_calls(&self.content, line);
        self.response.put(line, "response");
        self.issued.put(line, "issued");
        self.model.put(line, "model");
        self.issuer.put(line, "issuer");
        self.stop.put(line, "stop");
        self.authored.put(line, "authored");
        put_resolved(&self.joins, line, "joins");
        put_resolved(&self.calls, line, "calls");
        put_resolved(&self.results, line, "results");
    }
}

/// A host's message without any content is a slip: one that means nothing says `null`.
fn is_silent(fields: &Fields<'_>) -> bool {
    let parts = ["content", "bytes", "tool_calls", "function_call"];
    fields.mode() == Mode::Host && parts.iter().all(|part| fields.peek(part).is_none())
}

/// The role by the dialect's word for it.
fn take_role(fields: &mut Fields<'_>, format: Format) -> Result<Role, Refusal> {
    let word = fields.peek("role").and_then(words);
    let known = match (format, word.as_deref()) {
        (Format::OpenaiChat | Format::OpenaiResponses, Some("developer")) => Some(Role::System),
        (Format::Gemini, Some("model")) => Some(Role::Assistant),
        (Format::Gemini, Some("function")) => Some(Role::User),
        _ => None,
    };
    match known {
        Some(role) => {
            fields.take("role");
            Ok(role)
        }
        None => fields.required("role"),
    }
}

/// Why the model stopped, also by the providers' own words. A word that is not known stays among the unknown fields.
fn take_stop(fields: &mut Fields<'_>) -> Result<Option<Stop>, Refusal> {
    let Some(raw) = fields.peek("stop") else {
        return Ok(None);
    };
    if raw == "null" {
        fields.take("stop");
        return Ok(None);
    }
    let word = words(raw).ok_or_else(|| Refusal::new("stop", Problem::Expected("a string")))?;
    let stop = Stop::from_word(&word).or_else(|| foreign_stop(&word));
    if stop.is_some() {
        fields.take("stop");
    }
    Ok(stop)
}

/// Anthropic Messages `stop_reason`, OpenAI Chat `finish_reason`, Gemini `finishReason`.
fn foreign_stop(word: &str) -> Option<Stop> {
    Some(match word {
        "stop" | "stop_sequence" | "STOP" => Stop::EndTurn,
        "tool_calls" | "function_call" => Stop::ToolUse,
        "length" | "max_output_tokens" | "MAX_TOKENS" => Stop::MaxTokens,
        "content_filter" | "SAFETY" => Stop::Refusal,
        "model_context_window_exceeded" => Stop::WindowExceeded,
        _ => return None,
    })
}

impl Json for ToolResult {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let call = fields.text("call")?;
        let result = take_result(fields, call)?;
        match (fields.mode(), &result.call, result.block) {
            (Mode::Host, None, None) => Err(Refusal::new("call", Problem::Missing)),
            _ => Ok(result),
        }
    }

    fn put(&self, line: &mut Line) {
        self.call.put(line, "call");
        self.block.put(line, "block");
        line.value("status", &self.status);
        self.content.put(line, "content");
        self.tool.put(line, "tool");
        self.child.put(line, "child");
        put_resolved(&self.bound, line, "bound");
    }
}

fn take_result(fields: &mut Fields<'_>, call: Option<Text>) -> Result<ToolResult, Refusal> {
    Ok(ToolResult {
        call,
        block: fields.value("block")?,
        status: fields.value("status")?.unwrap_or_default(),
        content: Content::take(fields, "content")?,
        tool: fields.text("tool")?,
        child: fields.text("child")?,
        bound: resolved(fields, "bound")?,
    })
}

impl Json for Replace {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let one: Option<BlockId> = fields.value("block")?;
        let blocks = match (fields.value("blocks")?, one) {
            (Some(_), Some(_)) => return Err(Refusal::new("block", Problem::Twice)),
            (Some(blocks), None) => blocks,
            (None, Some(block)) => alloc::vec![block],
            (None, None) => return Err(Refusal::new("block", Problem::Missing)),
        };
        Ok(Self {
            blocks,
            with: Content::take(fields, "with")?,
            cause: fields.text("cause")?,
        })
    }

    fn put(&self, line: &mut Line) {
        line.value("blocks", &self.blocks);
        self.with.put(line, "with");
        self.cause.put(line, "cause");
    }
}
