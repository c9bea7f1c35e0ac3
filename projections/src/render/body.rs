//! From pieces to the body of a request.

use crate::render::Projection;
use alloc::vec::Vec;

pub(crate) fn slices(projection: &Projection) -> Vec<&[u8]> {
    projection
        .pieces
        .iter()
        .map(|piece| &*piece.bytes)
        .collect()
}
