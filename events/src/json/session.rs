//! The session's own events in JSON: origins and limits stand in nested objects.

use super::fields::{Fields, string};
use super::kinds::Json;
use super::line::Line;
use super::missing::describe;
use super::parts::{Part, nested};
use super::refusal::{Problem, Refusal};
use super::value::Value;
use crate::body::*;
use crate::raw::member;
use crate::{Digest, Seq, Text};
use alloc::format;

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
