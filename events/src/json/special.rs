//! The kinds whose JSON is not their struct field by field: messages and results in foreign dialects, nested objects, opaque events.

use super::content::{decode, encode, put_with_calls, take_calls};
use super::fields::{Fields, Mode, string};
use super::kinds::Json;
use super::line::Line;
use super::missing::describe;
use super::parts::{Part, nested, put_resolved, resolved};
use super::refusal::{Problem, Refusal};
use super::value::Value;
use crate::body::*;
use crate::raw::{elements, member, members, words};
use crate::{BlockId, Body, Content, Digest, Form, Format, Held, Seq, Text};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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
        let mut content = Content::take(fields, "content")?;
        if content.format == Format::OpenaiChat {
            content.blocks.extend(take_calls(fields)?);
        }
        Ok(Self {
            role: take_role(fields, content.format)?,
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

impl Json for Opened {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let parent = match fields.take("parent") {
            Some(raw) => Some(take_origin(fields, "parent", raw)?),
            None => None,
        };
        Ok(Self {
            session: Part::take(fields, "session")?,
            kind: fields.value("kind")?.unwrap_or_default(),
            parent,
            spill_root: fields.text("spill_root")?,
            host: fields.loose("host"),
        })
    }

    fn put(&self, line: &mut Line) {
        line.text("session", &self.session);
        line.value("kind", &self.kind);
        if let Some((session, seq)) = &self.parent {
            put_origin(line, "parent", session, *seq, None);
        }
        self.spill_root.put(line, "spill_root");
        self.host.put(line, "host");
    }
}

impl Json for Forked {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let session = Part::take(fields, "session")?;
        let raw = fields
            .take("from")
            .ok_or_else(|| Refusal::new("from", Problem::Missing))?;
        let (from, seq) = take_origin(fields, "from", raw)?;
        let digest = member(raw, "digest").and_then(Digest::read);
        let digest =
            digest.ok_or_else(|| nested("from", "digest", Problem::Expected(Digest::EXPECTED)))?;
        Ok(Self {
            session,
            from,
            seq,
            digest,
        })
    }

    fn put(&self, line: &mut Line) {
        line.text("session", &self.session);
        put_origin(line, "from", &self.from, self.seq, Some(&self.digest));
    }
}

/// A session and a position in it.
fn take_origin(fields: &mut Fields<'_>, key: &str, raw: &str) -> Result<(Text, Seq), Refusal> {
    let name = member(raw, "session").and_then(string);
    let name = name.or_else(|| fields.missing().text(&format!("{key}/session")));
    let name = name.ok_or_else(|| nested(key, "session", Problem::Expected("a string")))?;
    let seq = member(raw, "seq").and_then(Seq::read);
    Ok((
        name,
        seq.ok_or_else(|| nested(key, "seq", Problem::Expected(Seq::EXPECTED)))?,
    ))
}

fn put_origin(
    line: &mut Line,
    key: &'static str,
    session: &Text,
    seq: Seq,
    digest: Option<&Digest>,
) {
    let session = line.token(session, || (format!("{key}/session"), describe(session)));
    let mut raw = format!("{{\"session\":{session},\"seq\":{seq}");
    if let Some(digest) = digest {
        raw.push_str(&format!(",\"digest\":\"{digest}\""));
    }
    raw.push('}');
    line.raw(key, &raw);
}

impl Json for Profile {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let provider = Text::take(fields, "provider")?;
        let images = fields.take("images").unwrap_or("{}");
        Ok(Self {
            wire: fields
                .value("wire")?
                .unwrap_or_else(|| wire_of(provider.as_str())),
            provider,
            model: Part::take(fields, "model")?,
            window: fields.required("window")?,
            max_output: fields.required("max_output")?,
            overhead_tokens: fields.value("overhead_tokens")?.unwrap_or(0),
            body_bytes: fields.value("body_bytes")?.unwrap_or(0),
            images_count: image_limit(images, "count")?,
            images_bytes: image_limit(images, "bytes")?,
            images_pixels: image_limit(images, "pixels")?,
            prefill: fields.value("prefill")?.unwrap_or(false),
            thinking: fields.value("thinking")?.unwrap_or_default(),
            system_role: fields.value("system_role")?.unwrap_or(false),
            cache_edits: fields.value("cache_edits")?.unwrap_or(false),
            params: fields.object("params")?,
            headers: fields.object("headers")?,
        })
    }

    fn put(&self, line: &mut Line) {
        line.text("provider", &self.provider);
        line.text("model", &self.model);
        line.value("wire", &self.wire);
        line.value("window", &self.window);
        line.value("max_output", &self.max_output);
        line.value("overhead_tokens", &self.overhead_tokens);
        line.value("body_bytes", &self.body_bytes);
        let Self {
            images_count,
            images_bytes,
            images_pixels,
            ..
        } = self;
        let images = format!(
            "{{\"count\":{images_count},\"bytes\":{images_bytes},\"pixels\":{images_pixels}}}"
        );
        line.raw("images", &images);
        line.value("prefill", &self.prefill);
        line.value("thinking", &self.thinking);
        line.value("system_role", &self.system_role);
        line.value("cache_edits", &self.cache_edits);
        self.params.put(line, "params");
        self.headers.put(line, "headers");
    }
}

/// The dialect that a provider speaks where the profile does not say.
fn wire_of(provider: Option<&str>) -> Wire {
    match provider {
        Some("openai") => Wire::OpenaiChat,
        Some("gemini" | "google") => Wire::Gemini,
        _ => Wire::Anthropic,
    }
}

fn image_limit<T: Value + Default>(images: &str, key: &str) -> Result<T, Refusal> {
    match member(images, key) {
        None | Some("null") => Ok(T::default()),
        Some(raw) => {
            T::read(raw).ok_or_else(|| nested("images", key, Problem::Expected(T::EXPECTED)))
        }
    }
}

impl Json for Rollback {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let raw = fields
            .take("to")
            .ok_or_else(|| Refusal::new("to", Problem::Missing))?;
        let asked = take_target(raw).or_else(|| {
            fields
                .missing()
                .text("to/checkpoint")
                .map(Target::Checkpoint)
        });
        let expected = Problem::Expected("one of {seq}, {time}, {checkpoint}, {turns}");
        let asked = asked.ok_or_else(|| Refusal::new("to", expected))?;
        Ok(Self {
            asked,
            to: resolved(fields, "resolved")?,
        })
    }

    fn put(&self, line: &mut Line) {
        let raw = match &self.asked {
            Target::Seq(seq) => format!("{{\"seq\":{seq}}}"),
            Target::Time(time) => format!("{{\"time\":{}}}", time.0),
            Target::Turns(turns) => format!("{{\"turns\":{turns}}}"),
            Target::Checkpoint(label) => {
                let label = line.token(label, || (String::from("to/checkpoint"), describe(label)));
                format!("{{\"checkpoint\":{label}}}")
            }
        };
        line.raw("to", &raw);
        put_resolved(&self.to, line, "resolved");
    }
}

fn take_target(raw: &str) -> Option<Target> {
    let mut all = members(raw)?;
    let one = all.next()?;
    if all.next().is_some() {
        return None;
    }
    match &*one.key() {
        "seq" => Seq::read(one.value).map(Target::Seq),
        "time" => Value::read(one.value).map(Target::Time),
        "turns" => u64::read(one.value).map(Target::Turns),
        "checkpoint" => string(one.value).map(Target::Checkpoint),
        _ => None,
    }
}

impl Json for Undo {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        Ok(Self {
            event: fields.required("event")?,
            to: resolved(fields, "resolved")?,
        })
    }
    fn put(&self, line: &mut Line) {
        line.value("event", &self.event);
        put_resolved(&self.to, line, "resolved");
    }
}

impl Json for Usage {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let written = fields.take("cache_write").unwrap_or("{}");
        Ok(Self {
            request: fields.text("request")?,
            issued: fields.value("issued")?,
            input: fields.value("input")?.unwrap_or(0),
            output: fields.value("output")?.unwrap_or(0),
            cache_read: fields.value("cache_read")?.unwrap_or(0),
            cache_write_5m: written_for(written, "5m")?,
            cache_write_1h: written_for(written, "1h")?,
            cache_deleted: fields.value("cache_deleted")?,
            raw: fields.json("raw"),
            repeats: resolved(fields, "repeats")?,
        })
    }

    fn put(&self, line: &mut Line) {
        self.request.put(line, "request");
        self.issued.put(line, "issued");
        line.value("input", &self.input);
        line.value("output", &self.output);
        line.value("cache_read", &self.cache_read);
        line.raw(
            "cache_write",
            &format!(
                "{{\"5m\":{},\"1h\":{}}}",
                self.cache_write_5m, self.cache_write_1h
            ),
        );
        self.cache_deleted.put(line, "cache_deleted");
        self.raw.put(line, "raw");
        put_resolved(&self.repeats, line, "repeats");
    }
}

/// Tokens written to the cache for so long; a plain number is the shorter time.
fn written_for(raw: &str, span: &str) -> Result<u64, Refusal> {
    let found = match u64::read(raw) {
        Some(number) if span == "5m" => return Ok(number),
        Some(_) => return Ok(0),
        None => member(raw, span).filter(|value| *value != "null"),
    };
    let refused = || nested("cache_write", span, Problem::Expected(u64::EXPECTED));
    found.map_or(Ok(0), |value| u64::read(value).ok_or_else(refused))
}

impl Json for FileRead {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        // A digest of another kind stays among the unknown fields.
        let known = fields
            .peek("digest")
            .is_some_and(|raw| raw == "null" || Digest::read(raw).is_some());
        let digest = if known { fields.value("digest")? } else { None };
        Ok(Self {
            path: Part::take(fields, "path")?,
            block: fields.value("block")?,
            digest,
        })
    }
    fn put(&self, line: &mut Line) {
        line.text("path", &self.path);
        self.block.put(line, "block");
        self.digest.put(line, "digest");
    }
}

impl Json for Kept {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let name = Part::take(fields, "name")?;
        let gone = fields.missing().text("raw");
        let raw = fields.take_given("raw").map(Text::json);
        let words = fields.text("text")?;
        let bytes = match fields.take("bytes") {
            Some(raw) => Some(
                decode(raw).ok_or_else(|| Refusal::new("bytes", Problem::Expected("base64")))?,
            ),
            None => None,
        };
        let bytes = bytes.map(|bytes| Text::new(Form::Bytes, &bytes));
        let raw = gone.or(raw).or(words).or(bytes);
        Ok(Self {
            name,
            raw: raw.ok_or_else(|| Refusal::new("raw", Problem::Missing))?,
        })
    }

    fn put(&self, line: &mut Line) {
        line.text("name", &self.name);
        match (self.raw.form, self.raw.bytes()) {
            (Form::Bytes, Some(bytes)) => line.raw("bytes", &encode(bytes)),
            (Form::Plain, Some(_)) => line.text("text", &self.raw),
            _ => line.text("raw", &self.raw),
        }
    }
}

/// Opaque: the body and the contents in base64, the salts with them, so that the body's commitments hold.
impl Json for Newer {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        let body = fields.take("body").and_then(decode);
        let texts = fields
            .take("texts")
            .and_then(elements)
            .map(|all| all.map(take_opaque).collect());
        let texts: Option<Vec<Text>> = texts.unwrap_or(Some(Vec::new()));
        Ok(Self {
            kind: fields.required("kind")?,
            schema: fields.required("schema")?,
            essential: fields.required("essential")?,
            body: body.ok_or_else(|| Refusal::new("body", Problem::Expected("base64")))?,
            texts: texts
                .ok_or_else(|| Refusal::new("texts", Problem::Expected("{salt, bytes}")))?,
        })
    }

    fn put(&self, line: &mut Line) {
        line.value("kind", &self.kind);
        line.value("schema", &self.schema);
        line.value("essential", &self.essential);
        line.raw("body", &encode(&self.body));
        let texts: Vec<String> = self.texts.iter().map(opaque).collect();
        line.raw("texts", &format!("[{}]", texts.join(",")));
    }
}

fn opaque(text: &Text) -> String {
    match &text.held {
        Held::Here(bytes) => {
            let salt = text.seal.map_or([0; 16], |seal| seal.salt);
            format!("{{\"salt\":{},\"bytes\":{}}}", encode(&salt), encode(bytes))
        }
        Held::Lost => String::from("{\"lost\":true}"),
        Held::Erased => String::from("{\"erased\":true}"),
    }
}

fn take_opaque(raw: &str) -> Option<Text> {
    let held = match member(raw, "bytes") {
        Some(bytes) => Held::Here(decode(bytes)?.into()),
        None if member(raw, "erased").is_some() => Held::Erased,
        None => Held::Lost,
    };
    let salt = match member(raw, "salt") {
        Some(salt) => decode(salt)?.try_into().ok()?,
        None => [0; 16],
    };
    let mut text = Text {
        form: Form::Bytes,
        len: 0,
        seal: None,
        held,
    };
    text.len = text.bytes().map_or(0, |bytes| bytes.len() as u64);
    text.seal(salt);
    Some(text)
}
