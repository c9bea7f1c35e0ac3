//! Where the data of a picture or a document is, on the Anthropic wire: the members of its `source`.

use crate::render::json::Object;
use crate::render::pen::Pen;
use crate::render::table::{kept, known};
use alloc::string::String;
use recount_events::raw::{member, member_words};

/// The members of a source of this type; `None` for a type that the block's kind does not have.
fn members_of(block: &str, source: &str) -> Option<&'static [&'static str]> {
    Some(match (block, source) {
        (_, "base64") => &["type", "media_type", "data"],
        (_, "url") => &["type", "url"],
        (_, "file") => &["type", "file_id"],
        ("document", "text") => &["type", "media_type", "data"],
        ("document", "content") => &["type", "content"],
        _ => return None,
    })
}

/// The members that the raw block's source may have; `None` when one is missing or its type is not known.
pub(crate) fn of(raw: &str, block: &str) -> Option<&'static [&'static str]> {
    let source = member(raw, "source")?;
    let keep = members_of(block, &member_words(source, "type")?)?;
    keep.iter()
        .all(|key| member(source, key).is_some())
        .then_some(keep)
}

/// The raw block with the members that the wire has, its source's too; `None` when the source cannot be written.
pub(crate) fn copy(pen: &mut Pen<'_, '_>, raw: &str, block: &str) -> Option<String> {
    let keep = of(raw, block)?;
    let mut object = Object::new();
    for (key, value) in kept(pen, raw, known(block)) {
        if key != "source" {
            object.raw(&key, value);
            continue;
        }
        let mut source = Object::new();
        for (key, value) in kept(pen, value, Some(keep)) {
            source.raw(&key, value);
        }
        object.raw("source", &source.finish());
    }
    Some(object.finish())
}

/// The words are base64: the standard alphabet, with or without padding, no bits left over (strict readers refuse those).
pub(crate) fn is_base64(data: &str) -> bool {
    let bare = data.trim_end_matches('=');
    let padding = data.len().saturating_sub(bare.len());
    let letters = bare
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    let length = match padding {
        0 => bare.len() % 4 != 1,
        1 | 2 => data.len().is_multiple_of(4),
        _ => false,
    };
    letters && length && !bare.is_empty() && ends_whole(bare)
}

/// The last character carries no bits beyond the last byte.
fn ends_whole(bare: &str) -> bool {
    let last = bare.bytes().last().unwrap_or_default();
    match bare.len() % 4 {
        2 => b"AQgw".contains(&last),
        3 => b"AEIMQUYcgkosw048".contains(&last),
        _ => true,
    }
}
