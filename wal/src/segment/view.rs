//! The one door to a segment's bytes: compressed or not, whoever reads does not know.
//!
//! - Offsets and length are those of the segment as it was written.
//! - A header that is damaged is not believed: then the file itself shows what it is.

use std::io;
use std::sync::Arc;

use super::source::Source;
use crate::compress::packed::Packed;
use crate::disk::{Access, Disk, SegmentFile, read_up_to};
use crate::format::block::LZ4_BLOCKS;
use crate::format::header::Header;
use crate::format::{HEADER, Keys, segment_name};

/// An opened segment.
#[derive(Clone, Debug)]
pub(crate) struct View {
    /// The segment as it was written.
    pub(crate) file: Arc<dyn SegmentFile>,
    /// The same, if it is compressed.
    pub(crate) packed: Option<Arc<Packed>>,
    /// Bytes that it takes on disk.
    pub(crate) stored: u64,
}

/// Opens a segment for reading.
pub(crate) fn open(disk: &dyn Disk, keys: &Keys, number: u64) -> io::Result<View> {
    view(
        disk.open(&segment_name(number), Access::Read)?,
        number,
        keys,
    )
}

/// Looks at a segment's file as what it holds.
pub(crate) fn view(file: Arc<dyn SegmentFile>, number: u64, keys: &Keys) -> io::Result<View> {
    let stored = file.len()?;
    let header = Header::decode(&read_up_to(file.as_ref(), 0, HEADER)?);
    let ours = header.ok().filter(|header| header.segment == number);
    let packed = match ours {
        Some(header) if header.compression == LZ4_BLOCKS => {
            Some(Packed::open(Arc::clone(&file), number, keys)?)
        }
        Some(_) => None,
        None if begins_plainly(&file, number, keys)? => None,
        None => Packed::probe(&file, number, keys)?,
    };
    let packed = packed.map(Arc::new);
    let file = match &packed {
        Some(packed) => Arc::clone(packed) as Arc<dyn SegmentFile>,
        None => file,
    };
    Ok(View {
        file,
        packed,
        stored,
    })
}

/// Whether a frame stands behind the header, as it does in a segment that is not compressed.
fn begins_plainly(file: &Arc<dyn SegmentFile>, segment: u64, keys: &Keys) -> io::Result<bool> {
    let source = Source {
        file: file.as_ref(),
        segment,
        keys,
    };
    Ok(source.head(HEADER)?.is_some())
}
