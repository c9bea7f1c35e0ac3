//! The fields of each kind in JSON. What does not stand under the names of its struct is in `message`, `session`,
//! `travel` and `opaque`.

use super::fields::Fields;
use super::line::Line;
use super::parts::{Part, put_resolved, resolved};
use super::refusal::{Problem, Refusal};
use crate::Body;
use crate::body::*;
use crate::kinds::with_kinds;
use alloc::string::String;

/// A kind's fields, read and written.
pub(super) trait Json: Sized {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal>;
    fn put(&self, line: &mut Line);
}

/// How a field is read: required or optional by its type; `(or value)` where it is left out; `resolved` from log lines only;
/// `json` as any JSON, `object` as an object, `loose` as a string or any JSON.
macro_rules! take {
    ($fields:ident $field:ident part) => {
        Part::take($fields, stringify!($field))?
    };
    ($fields:ident $field:ident (or $default:expr)) => {
        $fields.value(stringify!($field))?.unwrap_or($default)
    };
    ($fields:ident $field:ident resolved) => {
        resolved($fields, stringify!($field))?
    };
    ($fields:ident $field:ident object) => {
        $fields.object(stringify!($field))?
    };
    ($fields:ident $field:ident loose) => {
        $fields.loose(stringify!($field))
    };
    ($fields:ident $field:ident required_loose) => {
        $fields
            .loose(stringify!($field))
            .ok_or_else(|| Refusal::new(stringify!($field), Problem::Missing))?
    };
}

macro_rules! put {
    ($line:ident $value:expr, $field:ident resolved) => {
        put_resolved($value, $line, stringify!($field))
    };
    ($line:ident $value:expr, $field:ident $how:tt) => {
        Part::put($value, $line, stringify!($field))
    };
}

macro_rules! structs {
    ($($name:ident { $($field:ident $how:tt),* })*) => { $(
        impl Json for $name {
            fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
                let _ = &fields;
                Ok(Self { $($field: take!(fields $field $how)),* })
            }
            fn put(&self, line: &mut Line) {
                let _ = &line;
                $(put!(line &self.$field, $field $how);)*
            }
        }
    )* };
}

structs! {
    Closed {}
    Policy { preset (or Preset::default()), auto (or true), reactive (or true), params object }
    Rendering { version part }
    System { content part }
    Tools { tools part }
    Inject { slot part, content part, lifetime (or Lifetime::default()), supersede (or false) }
    Budget { judged part }
    DeleteRange { range part, cause part, covered resolved }
    Snip { messages part, cause part, covered resolved }
    CacheEdit { id part, calls part, baseline (or 0) }
    CacheAck { id part, deleted_tokens part }
    CacheReset { reason part }
    CollapseStage { id part, range part, summary part }
    CollapseCommit { id part, range part, summary part, covered resolved }
    CollapseDiscard { id part }
    CompactPlan { id part, range part, trigger (or Trigger::default()), level (or 0), chunks part, instruction part }
    CompactChunk { id part, chunk part, text part }
    CompactCommit {
        id part, range part, summary part, before part, after part, covered resolved, boundary part
    }
    CompactAbandon { id part, reason part }
    Memory { id part, text part, covers part, importance (or 0), scope (or Scope::default()) }
    Todo { items part }
    Checkpoint { label part, workspace loose }
    Issued {
        digest part, cut part, estimate part, params object, wire part, rendering part, profile part, healed (or false)
    }
    Overflow { error required_loose, actual part, limit part, kind (or Excess::default()), issued part }
    Erased { events part, pieces part }
    CacheBreak { usage part, before part, after part, byte part, piece part, event part, cause part }
}

/// An owned name of the engine's own: plain words.
fn name(fields: &mut Fields<'_>, key: &'static str) -> Result<String, Refusal> {
    let raw = fields
        .take(key)
        .ok_or_else(|| Refusal::new(key, Problem::Missing))?;
    let words =
        crate::raw::words(raw).ok_or_else(|| Refusal::new(key, Problem::Expected("a string")))?;
    Ok(words.into_owned())
}

impl Json for Counted {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        Ok(Self {
            tokenizer: name(fields, "tokenizer")?,
            counts: fields.required("counts")?,
        })
    }
    fn put(&self, line: &mut Line) {
        line.raw("tokenizer", &crate::escape(&self.tokenizer));
        line.value("counts", &self.counts);
    }
}

impl Json for Breaker {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        Ok(Self {
            name: name(fields, "name")?,
            state: fields.required("state")?,
            value: fields.required("value")?,
        })
    }
    fn put(&self, line: &mut Line) {
        line.raw("name", &crate::escape(&self.name));
        line.value("state", &self.state);
        line.value("value", &self.value);
    }
}

impl Json for Done {
    fn take(fields: &mut Fields<'_>) -> Result<Self, Refusal> {
        Ok(Self {
            action: name(fields, "action")?,
            error: fields.loose("error"),
        })
    }
    fn put(&self, line: &mut Line) {
        line.raw("action", &crate::escape(&self.action));
        self.error.put(line, "error");
    }
}

macro_rules! dispatch {
    ($($number:literal $kind:ident $name:literal $class:ident $undoable:literal $host:literal,)*) => {
        /// Reads the fields of the type of this name.
        pub(super) fn take(name: &str, fields: &mut Fields<'_>) -> Result<Body, Refusal> {
            // In OpenAI's chat dialect a message may be a result.
            if name == "message" {
                return super::message::take_message(fields);
            }
            match name {
                $($name => <$kind as Json>::take(fields).map(Body::$kind),)*
                "newer" => Newer::take(fields).map(Body::Newer),
                "draft" => Err(Refusal::new("type", Problem::Transient)),
                _ => Err(Refusal::new("type", Problem::UnknownType(name.into()))),
            }
        }

        /// Writes the fields of a body.
        pub(super) fn put(body: &Body, line: &mut Line) {
            match body {
                $(Body::$kind(body) => body.put(line),)*
                Body::Newer(body) => body.put(line),
            }
        }
    };
}
with_kinds!(dispatch);
