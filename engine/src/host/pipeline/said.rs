//! A provider's words, as a host hands them on.

use crate::Error;
use recount_events::raw::{member, words};
use recount_policies::overflow::{self, Verdict};
use serde_json::value::RawValue;

/// What a provider said in place of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    status: Option<u16>,
    code: Option<String>,
    body: String,
    /// All of it, as it came.
    pub(crate) words: String,
}

impl Refused {
    /// Reads a string, `{status?, code?, body}`, or a provider's own object.
    pub(crate) fn read(raw: &RawValue) -> Result<Self, Error> {
        let raw = raw.get().trim();
        if let Some(said) = words(raw) {
            return Ok(Self {
                status: None,
                code: None,
                body: said.clone().into_owned(),
                words: said.into_owned(),
            });
        }
        if !raw.starts_with('{') {
            return Err(
                Error::invalid("an error is a string or {status?, code?, body}")
                    .with_field("error"),
            );
        }
        let text =
            |value: &str| words(value).map_or_else(|| value.to_owned(), |words| words.into_owned());
        let code = member(raw, "code").filter(|code| *code != "null");
        let body = member(raw, "body");
        Ok(Self {
            status: member(raw, "status").and_then(|status| status.trim().parse().ok()),
            code: code.map(text),
            // An object without a body is the provider's own: all of it is searched.
            body: body.map_or_else(|| raw.to_owned(), text),
            words: raw.to_owned(),
        })
    }

    /// What the words mean.
    pub(crate) fn verdict(&self) -> Verdict {
        overflow::parse(&overflow::Said {
            status: self.status,
            code: self.code.as_deref(),
            body: &self.body,
        })
    }
}
