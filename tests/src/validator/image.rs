//! Pictures in a request: type, bytes, pixels, number.
//!
//! - Pixels are read from the head of the file; a file whose head is not understood has none.

use super::request::{Found, Request, found};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// A picture with its data in the request.
pub(super) struct Picture {
    /// Where.
    pub path: String,
    /// Its media type.
    pub media: String,
    /// Its base64 characters; nothing when it is only named.
    pub data: String,
}

/// Media types that both vendors take (vision pages).
const MEDIA: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];
/// More pictures than this, and the smaller limit of pixels holds (vision pages).
const MANY: usize = 20;
/// Most pixels a side in a request with many pictures (vision pages).
const MANY_PIXELS: u32 = 2_000;

/// Another media type than jpeg, png, gif, webp.
pub(super) fn media(pictures: &[Picture]) -> Vec<Found> {
    let inline = pictures.iter().filter(|picture| !picture.data.is_empty());
    inline
        .filter(|picture| !MEDIA.contains(&picture.media.as_str()))
        .map(|picture| found(&picture.path, format!("media type={}", picture.media)))
        .collect()
}

/// Data that is not base64.
pub(super) fn base64(pictures: &[Picture]) -> Vec<Found> {
    pictures
        .iter()
        .filter(|picture| reader().decode(&picture.data).is_err())
        .map(|picture| found(&picture.path, "data is not base64"))
        .collect()
}

/// One picture that is too large.
pub(super) fn bytes(request: &Request<'_>, pictures: &[Picture]) -> Vec<Found> {
    let limit = request.facts.images_bytes;
    pictures
        .iter()
        .filter(|picture| limit > 0 && picture.data.len() as u64 > limit)
        .map(|picture| {
            found(
                &picture.path,
                format!("bytes={} limit={limit}", picture.data.len()),
            )
        })
        .collect()
}

/// Too many pictures.
pub(super) fn count(request: &Request<'_>, pictures: &[Picture]) -> Vec<Found> {
    let limit = request.facts.images_count as usize;
    if limit > 0 && pictures.len() > limit {
        return vec![found(
            "messages",
            format!("pictures={} limit={limit}", pictures.len()),
        )];
    }
    Vec::new()
}

/// A side that is too long.
pub(super) fn pixels(request: &Request<'_>, pictures: &[Picture]) -> Vec<Found> {
    sides_over(pictures, request.facts.images_pixels)
}

/// A side that is too long among many pictures.
pub(super) fn many_pixels(request: &Request<'_>, pictures: &[Picture]) -> Vec<Found> {
    let counts = request.facts.images_pixels > 0 && pictures.len() > MANY;
    if counts {
        sides_over(pictures, MANY_PIXELS)
    } else {
        Vec::new()
    }
}

fn sides_over(pictures: &[Picture], limit: u32) -> Vec<Found> {
    pictures
        .iter()
        .filter_map(|picture| Some((picture, size(&picture.data)?)))
        .filter(|(_, (width, height))| limit > 0 && *width.max(height) > limit)
        .map(|(picture, (width, height))| {
            found(
                &picture.path,
                format!("pixels={width}x{height} limit={limit}"),
            )
        })
        .collect()
}

fn reader() -> GeneralPurpose {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    GeneralPurpose::new(&alphabet::STANDARD, config)
}

/// Width and height of a picture from the head of its file, given as base64.
#[must_use]
pub fn size(data: &str) -> Option<(u32, u32)> {
    let bytes = reader().decode(data).ok()?;
    png(&bytes)
        .or_else(|| gif(&bytes))
        .or_else(|| jpeg(&bytes))
        .or_else(|| webp(&bytes))
}

fn be(bytes: &[u8], at: usize, n: usize) -> Option<u32> {
    Some(
        bytes
            .get(at..at + n)?
            .iter()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte)),
    )
}

fn le(bytes: &[u8], at: usize, n: usize) -> Option<u32> {
    Some(
        bytes
            .get(at..at + n)?
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u32::from(*byte)),
    )
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    bytes.starts_with(b"\x89PNG\r\n\x1a\n").then_some(())?;
    Some((be(bytes, 16, 4)?, be(bytes, 20, 4)?))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    bytes.starts_with(b"GIF8").then_some(())?;
    Some((le(bytes, 6, 2)?, le(bytes, 8, 2)?))
}

/// Walks the segments of a JPEG to its frame header.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    bytes.starts_with(b"\xff\xd8").then_some(())?;
    let mut at = 2;
    loop {
        let (mark, kind) = (*bytes.get(at)?, *bytes.get(at + 1)?);
        (mark == 0xff).then_some(())?;
        if (0xc0..=0xcf).contains(&kind) && ![0xc4, 0xc8, 0xcc].contains(&kind) {
            return Some((be(bytes, at + 7, 2)?, be(bytes, at + 5, 2)?));
        }
        at += 2 + be(bytes, at + 2, 2)?.max(2) as usize;
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    (bytes.starts_with(b"RIFF") && bytes.get(8..12)? == b"WEBP").then_some(())?;
    match bytes.get(12..16)? {
        b"VP8X" => Some((le(bytes, 24, 3)? + 1, le(bytes, 27, 3)? + 1)),
        b"VP8L" => le(bytes, 21, 4).map(|bits| ((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1)),
        b"VP8 " => Some((le(bytes, 26, 2)? & 0x3fff, le(bytes, 28, 2)? & 0x3fff)),
        _ => None,
    }
}
