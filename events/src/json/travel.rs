//! Rollbacks, undos, usage and files in JSON: what does not stand under the names of its struct.

use super::fields::{Fields, string};
use super::kinds::Json;
use super::line::Line;
use super::missing::describe;
use super::parts::{Part, nested, put_resolved, resolved};
use super::refusal::{Problem, Refusal};
use super::value::Value;
use crate::body::*;
use crate::raw::{member, members};
use crate::{Digest, Seq};
use alloc::format;
use alloc::string::String;

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
            compaction: fields.text("compaction")?,
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
        self.compaction.put(line, "compaction");
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
