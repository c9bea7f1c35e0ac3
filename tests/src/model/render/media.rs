//! Pictures and documents.

use super::{Making, Role};
use crate::model::blocks::{Block, What};
use crate::model::tame::clean;
use crate::validator::Wire;
use crate::validator::picture_size;
use base64::Engine as _;
use serde_json::{Value, json};

/// Media types that travel.
const MEDIA: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// What a source names.
enum Source {
    Inline { media: String, data: String },
    Url(String),
    File,
}

/// A picture's source in either dialect; `None` when it is not one.
fn source(block: &Block) -> Option<Source> {
    if block.chat {
        let url = block.value["image_url"]["url"].as_str()?;
        let Some(rest) = url.strip_prefix("data:") else {
            return Some(Source::Url(url.to_owned()));
        };
        let (media, data) = rest.split_once(";base64,")?;
        return Some(Source::Inline {
            media: media.to_owned(),
            data: data.to_owned(),
        });
    }
    let source = &block.value["source"];
    let text = |key: &str| source[key].as_str().map(str::to_owned);
    match source["type"].as_str()? {
        "base64" => Some(Source::Inline {
            media: text("media_type")?,
            data: text("data")?,
        }),
        "url" => text("url").map(Source::Url),
        "file" => text("file_id").map(|_| Source::File),
        _ => None,
    }
}

fn is_base64(data: &str) -> bool {
    let config = base64::engine::GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent);
    base64::engine::GeneralPurpose::new(&base64::alphabet::STANDARD, config)
        .decode(data)
        .is_ok()
}

impl Making<'_, '_> {
    /// A picture for role user or in a result, or the words that stand for it.
    pub(super) fn picture(&mut self, block: &Block) -> Value {
        match self.judged(block) {
            Ok(value) => value,
            Err("file") => super::words::text("[image]"),
            Err(reason) => super::words::text(&format!("[image left out: {reason}]")),
        }
    }

    fn judged(&mut self, block: &Block) -> Result<Value, &'static str> {
        let limit = |key: &str| {
            self.profile["images"][key]
                .as_u64()
                .filter(|limit| *limit > 0)
                .unwrap_or(u64::MAX)
        };
        let source = source(block).ok_or("source")?;
        let mut side = 0;
        if let Source::Inline { media, data } = &source {
            if !is_base64(data) {
                return Err("source");
            }
            side = picture_size(data).map_or(0, |(width, height)| u64::from(width.max(height)));
            if data.len() as u64 > limit("bytes") {
                return Err("too many bytes");
            }
            if side > limit("pixels") {
                return Err("too many pixels");
            }
            if !MEDIA.contains(&media.as_str()) {
                return Err("media type");
            }
        }
        let value = self.wired(block, &source).ok_or("file")?;
        let (shown, large) = self.pictures;
        if shown >= limit("count") || (shown >= 20 && large) {
            return Err("too many images");
        }
        if shown >= 20 && side > 2_000 {
            return Err("too many pixels");
        }
        self.pictures = (shown + 1, large || side > 2_000);
        Ok(value)
    }

    fn wired(&self, block: &Block, source: &Source) -> Option<Value> {
        match (self.wire, source) {
            (Wire::Anthropic, _) if !block.chat => Some(own(block)),
            (Wire::Anthropic, Source::Inline { media, data }) => Some(
                json!({"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}),
            ),
            (Wire::Anthropic, Source::Url(url)) => {
                Some(json!({"type": "image", "source": {"type": "url", "url": url}}))
            }
            (Wire::Chat, _) if block.chat => {
                Some(json!({"type": "image_url", "image_url": clean(&block.value["image_url"])}))
            }
            (Wire::Chat, Source::Inline { media, data }) => Some(
                json!({"type": "image_url", "image_url": {"url": format!("data:{media};base64,{data}")}}),
            ),
            (Wire::Chat, Source::Url(url)) => {
                Some(json!({"type": "image_url", "image_url": {"url": url}}))
            }
            (_, Source::File) => None,
        }
    }

    /// A document for role user or in a result.
    pub(super) fn document(&self, block: &Block) -> Value {
        let source = &block.value["source"];
        let fits = !block.chat
            && match source["type"].as_str() {
                Some("base64" | "text") => {
                    source["media_type"].is_string() && source["data"].is_string()
                }
                Some("url") => source["url"].is_string(),
                Some("file") => source["file_id"].is_string(),
                Some("content") => source.get("content").is_some(),
                _ => false,
            };
        match self.wire {
            Wire::Anthropic if fits => {
                let mut value = super::anthropic::members(
                    &block.value,
                    &["type", "source", "title", "context", "citations"],
                );
                value["source"] = source_members(source);
                value
            }
            Wire::Chat if !block.chat && source["type"] == "text" && source["data"].is_string() => {
                super::words::text(&crate::model::tame::clean_text(
                    source["data"].as_str().unwrap_or(""),
                ))
            }
            _ => super::words::text("[document]"),
        }
    }

    /// What stands for a picture or a document where it may not be.
    pub(super) fn unshown(&self, block: &Block, role: Role) -> Option<Value> {
        let name = match block.what {
            What::Image => "[image]",
            What::Document => "[document]",
            _ => return None,
        };
        (role != Role::User).then(|| super::words::text(name))
    }
}

fn own(block: &Block) -> Value {
    let mut value = super::anthropic::members(&block.value, &["type", "source"]);
    value["source"] = source_members(&block.value["source"]);
    value
}

fn source_members(source: &Value) -> Value {
    let kept: &[&str] = match source["type"].as_str() {
        Some("base64" | "text") => &["type", "media_type", "data"],
        Some("url") => &["type", "url"],
        Some("file") => &["type", "file_id"],
        _ => &["type", "content"],
    };
    super::anthropic::members(source, kept)
}
