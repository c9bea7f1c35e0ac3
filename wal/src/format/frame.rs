//! Whole frames: head, table of contents, body, digest, then the contents, each with its own checksum.
//!
//! - The digest covers head, table and body; a content can be erased without touching it.
//! - A content's checksum is bound to its stream, seq and index: a stray copy does not verify.

use super::cursor::{Cursor, Put};
use super::head::{FrameKind, Head};
use super::{AROUND_CONTENT, DIGEST, ERASED_SALT, HEAD, Keys, aligned};
use crate::record::{Content, ContentPlace, MAX_CONTENT, Place, Stored, StreamId};

/// Bytes of a frame with such a body and such contents.
pub(crate) fn frame_length(body: usize, contents: impl Iterator<Item = usize>) -> u64 {
    let fixed = (HEAD + DIGEST) as u64 + body as u64;
    aligned(contents.fold(fixed, |sum, content| {
        sum.saturating_add(4 + AROUND_CONTENT)
            .saturating_add(content as u64)
    }))
}

/// Appends a frame; the lengths in the head are filled in here.
pub(crate) fn encode(
    mut head: Head,
    body: &[u8],
    contents: &[Content],
    keys: &Keys,
    out: &mut Vec<u8>,
) {
    let start = out.len();
    head.length = frame_length(
        body.len(),
        contents.iter().map(|content| content.bytes.len()),
    );
    head.body = u32::try_from(body.len()).unwrap_or(u32::MAX);
    head.contents = u32::try_from(contents.len()).unwrap_or(u32::MAX);
    head.encode(keys, out);
    for content in contents {
        out.put_count(content.bytes.len());
    }
    out.put(body);
    let digest = keys.frame_digest(out.get(start..).unwrap_or_default());
    out.put(&digest);
    for (index, content) in contents.iter().enumerate() {
        let owner = Owner {
            stream: head.stream,
            seq: head.seq,
            index: index as u32,
        };
        out.put(&content.salt);
        out.put(&content.bytes);
        out.put(&owner.checksum(keys, &content.salt, &content.bytes));
    }
    out.resize(
        start
            .saturating_add(usize::try_from(head.length).unwrap_or(0))
            .max(out.len()),
        0,
    );
}

/// What stands in the place of a frame that is forgotten: the head of a void frame and its digest; zeros follow up to its length.
pub(crate) fn void(head: &Head, length: u64, keys: &Keys) -> Vec<u8> {
    let head = Head {
        length,
        place: head.place,
        group: head.group,
        base: head.base,
        ..Head::control(FrameKind::Void)
    };
    let mut out = Vec::with_capacity(HEAD + DIGEST);
    head.encode(keys, &mut out);
    let digest = keys.frame_digest(&out);
    out.put(&digest);
    out
}

/// Whose content it is; part of what its checksum covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner {
    pub(crate) stream: StreamId,
    pub(crate) seq: u64,
    pub(crate) index: u32,
}

impl Owner {
    pub(crate) fn hasher(&self, keys: &Keys) -> blake3::Hasher {
        let mut hasher = keys.content_hasher();
        hasher
            .update(&self.stream.0)
            .update(&self.seq.to_le_bytes())
            .update(&self.index.to_le_bytes());
        hasher
    }

    fn checksum(&self, keys: &Keys, salt: &[u8; 16], bytes: &[u8]) -> [u8; 16] {
        let mut hasher = self.hasher(keys);
        hasher.update(salt).update(bytes);
        shortened(&hasher)
    }

    /// What replaces a content of so many bytes when it is erased.
    pub(crate) fn erased(&self, keys: &Keys, length: usize) -> Vec<u8> {
        let mut block = Vec::with_capacity(length.saturating_add(32));
        block.put(&ERASED_SALT);
        block.resize(16_usize.saturating_add(length), 0);
        let checksum = self.checksum(keys, &ERASED_SALT, block.get(16..).unwrap_or_default());
        block.put(&checksum);
        block
    }

    /// What a block of salt, bytes and checksum holds.
    pub(crate) fn decode(&self, keys: &Keys, block: &[u8]) -> Stored {
        let Some((salt, rest)) = block.split_first_chunk::<16>() else {
            return Stored::Lost;
        };
        let Some((bytes, checksum)) = rest.split_last_chunk::<16>() else {
            return Stored::Lost;
        };
        if self.checksum(keys, salt, bytes) != *checksum {
            return Stored::Lost;
        }
        if *salt == ERASED_SALT && bytes.iter().all(|byte| *byte == 0) {
            return Stored::Erased;
        }
        Stored::Here(Content {
            salt: *salt,
            bytes: bytes.into(),
        })
    }
}

/// The first 16 bytes of a content's hash.
pub(crate) fn shortened(hasher: &blake3::Hasher) -> [u8; 16] {
    let mut short = [0; 16];
    short.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    short
}

/// The part of a frame that its digest covers, checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) head: Head,
    pub(crate) body: Vec<u8>,
    /// Where each content stands.
    pub(crate) contents: Vec<ContentPlace>,
}

impl Frame {
    /// Decodes table and body behind a checked head: `bytes` begin with the head and end with the digest.
    pub(crate) fn decode(head: Head, bytes: &[u8], keys: &Keys) -> Option<Frame> {
        let (covered, digest) = bytes.split_last_chunk::<DIGEST>()?;
        let whole = covered.len() as u64 == HEAD as u64 + head.middle();
        if !whole || keys.frame_digest(covered) != *digest {
            return None;
        }
        let table = usize::try_from(head.contents).ok()?.checked_mul(4)?;
        let (table, body) = covered.get(HEAD..)?.split_at_checked(table)?;
        let mut cursor = Cursor(table);
        let mut offset = head.place.offset + (HEAD + DIGEST) as u64 + head.middle();
        let mut contents = Vec::with_capacity(head.contents as usize);
        for _ in 0..head.contents {
            let length = cursor
                .u32()
                .filter(|length| *length as usize <= MAX_CONTENT)?;
            contents.push(ContentPlace {
                place: Place {
                    segment: head.place.segment,
                    offset,
                },
                length,
            });
            offset = offset.checked_add(u64::from(length) + AROUND_CONTENT)?;
        }
        // What follows a void frame's digest is nothing.
        let ends = match head.frame {
            FrameKind::Void => head.body == 0 && head.contents == 0,
            _ => aligned(offset - head.place.offset) == head.length,
        };
        ends.then(|| Frame {
            head,
            body: body.to_vec(),
            contents,
        })
    }

    /// Bytes from the head to the digest, which [`Frame::decode`] wants.
    pub(crate) fn covered_length(head: &Head) -> u64 {
        (HEAD + DIGEST) as u64 + head.middle()
    }
}
