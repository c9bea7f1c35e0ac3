//! Pictures: within the profile's limits as they are, else as words.

use crate::render::block::{Setting, bytes, native, stand_in};
use crate::render::json::Object;
use crate::render::pen::{Draft, Pen};
use crate::render::view::{self, Picture};
use crate::render::{RepairKind, source};
use alloc::string::String;
use recount_events::raw::member;
use recount_events::{Block, Format, push_escaped};

/// Media types that providers take.
const MEDIA: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Writes a picture.
pub(crate) fn show(pen: &mut Pen<'_, '_>, setting: Setting<'_>, block: &Block, raw: &str) {
    if !setting.pictures() {
        return stand_in(pen, setting, "\"[image]\"", RepairKind::Kind);
    }
    match write(pen, setting.format, block, raw) {
        Ok(json) => {
            let ends = setting.ends();
            pen.push(Draft {
                role: setting.role(),
                json,
                raw: bytes(block),
                call: false,
                ends,
            });
        }
        Err((token, why)) => stand_in(pen, setting, token, why),
    }
}

/// A picture's JSON, or the words in its place and why.
pub(crate) fn write(
    pen: &mut Pen<'_, '_>,
    format: Format,
    block: &Block,
    raw: &str,
) -> Result<String, (&'static str, RepairKind)> {
    let picture = view::picture(format, raw);
    let side = block.image.map_or(0, |facts| facts.width.max(facts.height));
    if pen.context.chat() && matches!(picture, Picture::Elsewhere) {
        return Err(("\"[image]\"", RepairKind::Kind));
    }
    if let Some(token) = refused(pen, block, &picture, side) {
        return Err((token, RepairKind::Image));
    }
    let json = if pen.context.chat() {
        chat(format, raw, &picture)
    } else {
        anthropic(pen, format, raw, &picture)
    };
    let json = json.ok_or(("\"[image]\"", RepairKind::Kind))?;
    let sums = &mut pen.track.sums;
    sums.images = sums.images.saturating_add(1);
    sums.large |= side > LARGE;
    Ok(json)
}

/// The words in place of a picture that the provider would refuse.
fn refused(
    pen: &Pen<'_, '_>,
    block: &Block,
    picture: &Picture<'_>,
    side: u32,
) -> Option<&'static str> {
    let profile = pen.context.profile;
    let sums = &pen.track.sums;
    let over = |limit: u64, value: u64| limit > 0 && value > limit;
    if let Picture::Inline { media, data } = picture {
        let bytes = block.image.map_or(data.len() as u64, |facts| facts.bytes);
        if over(profile.images_bytes, bytes) {
            return Some("\"[image left out: too many bytes]\"");
        }
        if over(u64::from(profile.images_pixels), u64::from(side)) {
            return Some("\"[image left out: too many pixels]\"");
        }
        if !MEDIA.contains(&&**media) {
            return Some("\"[image left out: media type]\"");
        }
    }
    if matches!(picture, Picture::Bad) {
        return Some("\"[image left out: source]\"");
    }
    let many = sums.images >= MANY;
    if over(
        u64::from(profile.images_count),
        u64::from(sums.images).saturating_add(1),
    ) || (many && sums.large)
    {
        return Some("\"[image left out: too many images]\"");
    }
    (many && side > LARGE).then_some("\"[image left out: too many pixels]\"")
}

/// From the next picture on, large ones are refused (vendor's page on vision: more than 20 pictures).
const MANY: u32 = 20;
/// Pixels a side of a large picture.
const LARGE: u32 = 2000;

fn anthropic(
    pen: &mut Pen<'_, '_>,
    format: Format,
    raw: &str,
    picture: &Picture<'_>,
) -> Option<String> {
    if native(pen, format) {
        return source::copy(pen, raw, "image");
    }
    let mut source = Object::new();
    match picture {
        Picture::Inline { media, data } => {
            source
                .raw("type", "\"base64\"")
                .words("media_type", media)
                .words("data", data);
        }
        Picture::Address(url) => {
            source.raw("type", "\"url\"").raw("url", url);
        }
        Picture::Elsewhere | Picture::Bad => return None,
    }
    let mut object = Object::new();
    object
        .raw("type", "\"image\"")
        .raw("source", &source.finish());
    Some(object.finish())
}

fn chat(format: Format, raw: &str, picture: &Picture<'_>) -> Option<String> {
    let mut object = Object::new();
    object.raw("type", "\"image_url\"");
    if format == Format::OpenaiChat {
        object.raw("image_url", member(raw, "image_url")?);
        return Some(object.finish());
    }
    let mut place = Object::new();
    match picture {
        Picture::Inline { media, data } => {
            place.raw("url", &address(media, data));
        }
        Picture::Address(url) => {
            place.raw("url", url);
        }
        Picture::Elsewhere | Picture::Bad => return None,
    }
    object.raw("image_url", &place.finish());
    Some(object.finish())
}

fn address(media: &str, data: &str) -> String {
    let mut token = String::with_capacity(data.len().saturating_add(40));
    token.push_str("\"data:");
    push_escaped(&mut token, media);
    token.push_str(";base64,");
    push_escaped(&mut token, data);
    token.push('"');
    token
}
