//! Reads blocks of any dialect: words, pictures, documents.
//!
//! - Nothing is changed; what is read are slices of the block's raw bytes where that is possible.

use crate::render::json::{inside, is_string};
use crate::render::source;
use alloc::borrow::Cow;
use alloc::string::String;
use recount_events::raw::{elements, is_json, member, member_words, words};
use recount_events::{Block, Form, Format, Held, bytes_to_token, escape};

/// What there is of a block.
pub(crate) enum At<'b> {
    /// Valid JSON.
    Json(&'b str),
    /// Bytes or words that are not JSON, as a string token.
    Token(String),
    Lost,
    Erased,
}

/// What there is of a block.
pub(crate) fn at(block: &Block) -> At<'_> {
    let bytes = match &block.raw.held {
        Held::Here(bytes) => bytes,
        Held::Lost => return At::Lost,
        Held::Erased => return At::Erased,
    };
    let raw = core::str::from_utf8(bytes).ok();
    match (block.raw.form, raw) {
        (Form::Json, Some(raw)) if is_json(raw) => At::Json(raw),
        (Form::Plain | Form::Json, Some(raw)) => At::Token(escape(raw)),
        _ => At::Token(bytes_to_token(bytes)),
    }
}

/// The string token of a text block; empty when it has none.
pub(crate) fn text(raw: &str) -> Cow<'_, str> {
    if is_string(raw) {
        return Cow::Borrowed(raw.trim_ascii());
    }
    let own = ["text", "refusal"]
        .iter()
        .find_map(|key| member(raw, key))
        .filter(|value| is_string(value));
    own.map_or_else(|| message(raw), |token| Cow::Borrowed(token.trim_ascii()))
}

/// The words of a message item (OpenAI Responses): its content's texts, one a line.
fn message(raw: &str) -> Cow<'_, str> {
    let Some(content) = member(raw, "content") else {
        return Cow::Borrowed("\"\"");
    };
    if is_string(content) {
        return Cow::Borrowed(content.trim_ascii());
    }
    let mut token = String::from("\"");
    let parts = elements(content)
        .into_iter()
        .flatten()
        .filter_map(|part| member(part, "text"));
    for (place, part) in parts.filter(|part| is_string(part)).enumerate() {
        token.push_str(if place > 0 { "\\n" } else { "" });
        token.push_str(inside(part));
    }
    token.push('"');
    Cow::Owned(token)
}

/// The words of a document whose source is plain text, as a string token.
pub(crate) fn plain(raw: &str) -> Option<&str> {
    let source = member(raw, "source")
        .filter(|source| member_words(source, "type").as_deref() == Some("text"))?;
    member(source, "data")
        .filter(|data| is_string(data))
        .map(str::trim_ascii)
}

/// The token holds no words: nothing, or white space.
pub(crate) fn blank(token: &str) -> bool {
    words(token).is_none_or(|words| words.chars().all(char::is_whitespace))
}

/// The token's words end in white space.
pub(crate) fn ends_in_space(token: &str) -> bool {
    words(token).is_some_and(|words| words.ends_with(char::is_whitespace))
}

/// Where a picture's data is.
pub(crate) enum Picture<'b> {
    /// Here, as base64.
    Inline {
        media: Cow<'b, str>,
        data: Cow<'b, str>,
    },
    /// At this address: a string token.
    Address(&'b str),
    /// Somewhere only its provider can reach.
    Elsewhere,
    /// Nowhere: no provider would take it.
    Bad,
}

/// Where a picture's data is.
pub(crate) fn picture(format: Format, raw: &str) -> Picture<'_> {
    let found = match format {
        Format::Anthropic => member(raw, "source").and_then(|source| anthropic(raw, source)),
        Format::OpenaiChat => member(raw, "image_url").and_then(address),
        Format::OpenaiResponses if member(raw, "file_id").is_some() => Some(Picture::Elsewhere),
        Format::OpenaiResponses => member(raw, "image_url").and_then(address),
        Format::Gemini => gemini(raw),
    };
    match found {
        Some(Picture::Inline { data, .. }) if !source::is_base64(&data) => Picture::Bad,
        found => found.unwrap_or(Picture::Bad),
    }
}

fn anthropic<'b>(raw: &'b str, source: &'b str) -> Option<Picture<'b>> {
    source::of(raw, "image")?;
    Some(match &*member_words(source, "type")? {
        "base64" => Picture::Inline {
            media: member_words(source, "media_type")?,
            data: member_words(source, "data")?,
        },
        "url" => Picture::Address(member(source, "url").filter(|url| is_string(url))?),
        _ => Picture::Elsewhere,
    })
}

/// `{"url": …}` or the address itself; addresses of scheme `data` hold the picture.
fn address(place: &str) -> Option<Picture<'_>> {
    let token = if is_string(place) {
        place
    } else {
        member(place, "url").filter(|url| is_string(url))?
    };
    let url = words(token)?;
    if !url.starts_with("data:") {
        return Some(Picture::Address(token.trim_ascii()));
    }
    match url {
        Cow::Borrowed(url) => {
            let (media, data) = inline(url)?;
            Some(Picture::Inline {
                media: Cow::Borrowed(media),
                data: Cow::Borrowed(data),
            })
        }
        Cow::Owned(url) => {
            let (media, data) = inline(&url)?;
            Some(Picture::Inline {
                media: Cow::Owned(media.into()),
                data: Cow::Owned(data.into()),
            })
        }
    }
}

fn inline(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    Some((head.strip_suffix(";base64")?, data))
}

fn gemini(raw: &str) -> Option<Picture<'_>> {
    let either = |one: &str, other: &str| member(raw, one).or_else(|| member(raw, other));
    if let Some(inner) = either("inlineData", "inline_data") {
        let media = member_words(inner, "mimeType").or_else(|| member_words(inner, "mime_type"));
        return Some(Picture::Inline {
            media: media.unwrap_or_default(),
            data: member_words(inner, "data")?,
        });
    }
    let file = either("fileData", "file_data")?;
    member(file, "fileUri")
        .or_else(|| member(file, "file_uri"))
        .filter(|url| is_string(url))
        .map(Picture::Address)
}
