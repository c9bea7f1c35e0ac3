//! What is pending, in pieces that survive or not.
//!
//! - Bytes are split where the disk's own units end; a row of zeros is one piece, since only its length can matter.

use super::change::{Change, Name};

/// The smallest part of a pending change that survives whole or not at all.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    Bytes {
        file: usize,
        offset: usize,
        bytes: &'a [u8],
    },
    Length {
        file: usize,
        length: usize,
    },
    Name(&'a Name),
}

impl Piece<'_> {
    pub(super) fn is_name(&self) -> bool {
        matches!(self, Piece::Name(_))
    }
}

/// Splits what is pending at multiples of `grain` bytes of a file.
pub(super) fn pieces(pending: &[Change], grain: usize) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    for change in pending {
        match change {
            Change::Length { file, length } => pieces.push(Piece::Length {
                file: *file,
                length: *length,
            }),
            Change::Name(name) => pieces.push(Piece::Name(name)),
            Change::Write {
                file,
                offset,
                bytes,
            } => split(&mut pieces, *file, *offset, bytes, grain),
        }
    }
    pieces
}

fn split<'a>(
    pieces: &mut Vec<Piece<'a>>,
    file: usize,
    offset: usize,
    bytes: &'a [u8],
    grain: usize,
) {
    let zeros = |part: &[u8]| part.iter().all(|byte| *byte == 0);
    let mut start = 0;
    while start < bytes.len() {
        let mut end = boundary(offset, start, grain).min(bytes.len());
        let blank = zeros(&bytes[start..end]);
        while blank && end < bytes.len() {
            let next = boundary(offset, end, grain).min(bytes.len());
            if !zeros(&bytes[end..next]) {
                break;
            }
            end = next;
        }
        pieces.push(Piece::Bytes {
            file,
            offset: offset + start,
            bytes: &bytes[start..end],
        });
        start = end;
    }
}

/// The end of the unit in which the byte `at` of a write stands, counted from the write's first byte.
fn boundary(offset: usize, at: usize, grain: usize) -> usize {
    ((offset + at) / grain + 1) * grain - offset
}

/// Where a write may be torn when its process is killed: at its units, just inside both ends, in the middle.
pub(super) fn tears(offset: usize, length: usize, most: usize) -> Vec<usize> {
    let mut tears: Vec<usize> = vec![1, length / 2, length.saturating_sub(1)];
    for grain in [4096, 512] {
        let mut at = boundary(offset, 0, grain);
        while at < length && tears.len() < most {
            tears.push(at);
            at += grain;
        }
    }
    tears.retain(|at| (1..length).contains(at));
    tears.sort_unstable();
    tears.dedup();
    tears
}
