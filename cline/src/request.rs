//! What the previous request used, as Cline's UI messages say it.

use crate::number;
use crate::text::Text;
use crate::window::Window;
use alloc::string::String;
use alloc::sync::Arc;
use recount_events::raw;

/// One message of `ui_messages.json`.
#[derive(Clone, Debug, PartialEq)]
pub struct UiMessage {
    raw: Arc<str>,
    /// When, in ms since the epoch.
    pub at: f64,
    /// What is said: `api_req_started` for a request.
    pub say: String,
    text: Option<String>,
}

/// The text of a request is no JSON: Cline throws there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl UiMessage {
    /// Reads a message; what is missing is empty.
    #[must_use]
    pub fn from_json(json: &str) -> UiMessage {
        let words = |key| raw::member_words(json, key).map(|words| words.into_owned());
        UiMessage {
            raw: json.into(),
            at: raw::member(json, "ts")
                .and_then(number::read)
                .unwrap_or_default(),
            say: words("say").unwrap_or_default(),
            text: words("text").filter(|text| !text.is_empty()),
        }
    }

    /// It announces a request.
    #[must_use]
    pub fn is_request(&self) -> bool {
        self.say == "api_req_started"
    }

    /// Its JSON.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.raw
    }

    /// The message with another text.
    #[must_use]
    pub fn with_text(&self, text: &str) -> UiMessage {
        let token = Text::from(text).to_token();
        UiMessage::from_json(&if raw::member(&self.raw, "text").is_some() {
            crate::block::with_member(&self.raw, "text", &token)
        } else {
            crate::block::with_added(&self.raw, "text", &token)
        })
    }

    /// The tokens that its request used; `None` when it says nothing of that.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn tokens(&self) -> Result<Option<f64>, Malformed> {
        let Some(text) = self.text.as_deref() else {
            return Ok(None);
        };
        if !raw::is_json(text) {
            return Err(Malformed);
        }
        let parts = ["tokensIn", "tokensOut", "cacheWrites", "cacheReads"];
        let numbers = parts
            .iter()
            .filter_map(|part| number::read(raw::member(text, part)?));
        Ok(Some(numbers.sum()))
    }
}

/// The previous request, if it says what it used: its time and its tokens.
pub(crate) fn previous(
    messages: &[UiMessage],
    index: i64,
) -> Result<Option<(f64, f64)>, Malformed> {
    let message = usize::try_from(index)
        .ok()
        .and_then(|index| messages.get(index));
    let Some(message) = message else {
        return Ok(None);
    };
    Ok(message.tokens()?.map(|tokens| (message.at, tokens)))
}

/// The previous request used as many tokens as a share of the window allows; false when it does not say.
#[must_use]
pub fn is_full(messages: &[UiMessage], index: i64, window: Window, share: Option<f64>) -> bool {
    match previous(messages, index) {
        Ok(Some((_, tokens))) => tokens >= window.threshold(share),
        Ok(None) | Err(Malformed) => false,
    }
}
