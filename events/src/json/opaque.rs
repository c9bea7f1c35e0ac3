//! Events kept without being understood, in JSON.

use super::content::{decode, encode};
use super::fields::Fields;
use super::kinds::Json;
use super::line::Line;
use super::parts::Part;
use super::refusal::{Problem, Refusal};
use crate::body::*;
use crate::raw::{elements, member};
use crate::{Form, Held, Text};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

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
