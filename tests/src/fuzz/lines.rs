//! Bytes as lines of events, and salts without chance.

use recount_events::{Encoded, Event, Found, Held};
use std::sync::Arc;

/// Lines past this many are not looked at: a slow input teaches nothing that a short one does not.
const MOST: usize = 120;

/// The lines that are UTF-8, as far as they are looked at.
pub(super) fn lines(data: &[u8]) -> impl Iterator<Item = &str> {
    data.split(|byte| *byte == b'\n')
        .take(MOST)
        .filter_map(|line| str::from_utf8(line).ok())
}

/// Salts that count up.
pub(super) fn salts() -> impl FnMut() -> [u8; 16] {
    let mut next = 0_u64;
    move || {
        next += 1;
        let mut salt = [0x5a; 16];
        salt[..8].copy_from_slice(&next.to_le_bytes());
        salt
    }
}

/// The contents as a log gives them back.
pub(super) fn found(event: &Event, encoded: &Encoded) -> Vec<Found> {
    let texts = event.texts();
    let pairs = texts.iter().zip(&encoded.contents);
    pairs
        .map(|(text, (salt, bytes))| match text.held {
            Held::Here(_) => Found::Here {
                salt: *salt,
                bytes: Arc::clone(bytes),
            },
            Held::Lost => Found::Lost,
            Held::Erased => Found::Erased,
        })
        .collect()
}
