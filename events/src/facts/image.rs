//! How large a picture is: its bytes as they travel and its pixels, read from the header of the data where it is inline.
//!
//! - A picture by reference (an address, a file id) has 0 bytes and 0 pixels: unknown.
//! - At most the first [`HEADER`] characters of the data are decoded.
//! - Headers: PNG (ISO/IEC 15948 §11.2.2), JPEG (ITU-T T.81 §B.2.2), GIF89a §18, WebP (RFC 9649 §2.4–2.7).

use crate::raw::{member, member_words};
use crate::{Format, ImageFacts};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Characters of base64 in which the size must be found: JPEG puts metadata and thumbnails before it.
const HEADER: usize = 512 * 1024;

const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// The facts of a raw image block.
pub(super) fn facts(format: Format, raw: &str) -> ImageFacts {
    let Some(data) = data(format, raw) else {
        return ImageFacts {
            width: 0,
            height: 0,
            bytes: 0,
        };
    };
    let (width, height) = header(&data)
        .and_then(|header| pixels(&header))
        .unwrap_or((0, 0));
    ImageFacts {
        width,
        height,
        bytes: data.len() as u64,
    }
}

/// The base64 text of the picture, where it is inline.
fn data(format: Format, raw: &str) -> Option<Cow<'_, str>> {
    match format {
        Format::Anthropic => member_words(member(raw, "source")?, "data"),
        Format::OpenaiChat => {
            let place = member(raw, "image_url")?;
            after_comma(member_words(place, "url").or_else(|| crate::raw::words(place))?)
        }
        Format::OpenaiResponses => after_comma(member_words(raw, "image_url")?),
        Format::Gemini => {
            let inner = member(raw, "inlineData").or_else(|| member(raw, "inline_data"))?;
            member_words(inner, "data")
        }
    }
}

/// What follows `data:…;base64,`.
fn after_comma(address: Cow<'_, str>) -> Option<Cow<'_, str>> {
    if !address.starts_with("data:") {
        return None;
    }
    match address {
        Cow::Borrowed(address) => address.split_once(',').map(|(_, data)| Cow::Borrowed(data)),
        Cow::Owned(address) => address
            .split_once(',')
            .map(|(_, data)| Cow::Owned(data.into())),
    }
}

fn header(data: &str) -> Option<Vec<u8>> {
    let start = data.as_bytes().get(..HEADER).unwrap_or(data.as_bytes());
    let whole = start.len() - start.len() % 4;
    let part = if start.len() == data.len() {
        start
    } else {
        start.get(..whole)?
    };
    LENIENT.decode(part).ok()
}

/// Width and height of a PNG, JPEG, GIF or WebP picture, from its first bytes.
#[must_use]
pub fn pixels(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
        return Some((big(bytes, 16, 4)?, big(bytes, 20, 4)?));
    }
    if bytes.starts_with(b"GIF8") {
        return Some((little(bytes, 6, 2)?, little(bytes, 8, 2)?));
    }
    if bytes.starts_with(&[0xff, 0xd8]) {
        return jpeg(bytes);
    }
    if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
        return webp(bytes);
    }
    None
}

/// Walks the markers up to the frame header.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2_usize;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let marker = *bytes.get(at.checked_add(1)?)?;
        let inside = at.checked_add(2)?;
        match marker {
            // Fill bytes before a marker.
            0xff => at = at.checked_add(1)?,
            // Markers without a segment.
            0x01 | 0xd0..=0xd8 => at = inside,
            // Frame headers, without the tables DHT (c4), JPG (c8) and DAC (cc).
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                let height = big(bytes, inside.checked_add(3)?, 2)?;
                return Some((big(bytes, inside.checked_add(5)?, 2)?, height));
            }
            // The picture's data begins, or ends: no frame header was there.
            0xd9 | 0xda => return None,
            _ => at = inside.checked_add(big(bytes, inside, 2)? as usize)?,
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((
            little(bytes, 24, 3)?.checked_add(1)?,
            little(bytes, 27, 3)?.checked_add(1)?,
        )),
        b"VP8 " => Some((
            little(bytes, 26, 2)? & 0x3fff,
            little(bytes, 28, 2)? & 0x3fff,
        )),
        b"VP8L" => {
            let bits = little(bytes, 21, 4)?;
            Some(((bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1))
        }
        _ => None,
    }
}

fn big(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let part = bytes.get(at..at.checked_add(length)?)?;
    Some(
        part.iter()
            .fold(0, |sum, byte| (sum << 8) | u32::from(*byte)),
    )
}

fn little(bytes: &[u8], at: usize, length: usize) -> Option<u32> {
    let part = bytes.get(at..at.checked_add(length)?)?;
    Some(
        part.iter()
            .rev()
            .fold(0, |sum, byte| (sum << 8) | u32::from(*byte)),
    )
}
