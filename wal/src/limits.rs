//! What a batch may be.

use crate::error::AppendError;
use crate::format::ERASED_SALT;
use crate::queue::batch_bytes;
use crate::record::{Batch, Content, MAX_BODY, MAX_CONTENT, MAX_CONTENTS, NewRecord};

/// The most bytes that the frames of one batch may take: 1 GiB.
pub const MAX_BATCH: u64 = 1 << 30;

pub(crate) fn check(batch: &Batch) -> Result<(), AppendError> {
    let last = batch.first.checked_add(batch.records.len() as u64);
    if batch.records.is_empty() {
        return Err(AppendError::Invalid { why: "no records" });
    }
    if last.is_none_or(|last| last == u64::MAX) {
        return Err(AppendError::Invalid {
            why: "no seqs are left",
        });
    }
    batch.records.iter().try_for_each(record)?;
    within("batch", batch_bytes(&batch.records), MAX_BATCH)
}

fn record(record: &NewRecord) -> Result<(), AppendError> {
    within("body", record.body.len() as u64, MAX_BODY as u64)?;
    within(
        "number of contents",
        record.contents.len() as u64,
        MAX_CONTENTS as u64,
    )?;
    record.contents.iter().try_for_each(content)
}

fn content(content: &Content) -> Result<(), AppendError> {
    if content.salt == ERASED_SALT {
        // It would read as erased.
        return Err(AppendError::Invalid {
            why: "a content has the salt of erased ones",
        });
    }
    within("content", content.bytes.len() as u64, MAX_CONTENT as u64)
}

fn within(what: &'static str, size: u64, limit: u64) -> Result<(), AppendError> {
    if size > limit {
        Err(AppendError::TooLarge { what, size, limit })
    } else {
        Ok(())
    }
}
