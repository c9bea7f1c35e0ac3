//! The provider's own compactions.

use super::super::Rule;
use super::super::request::{Found, Request, blank, found};

pub(super) const RULES: &[Rule] = &[("compaction-content", content), ("compaction-place", place)];

/// It says something: in words, or sealed.
fn content(request: &Request<'_>) -> Vec<Found> {
    let blocks = request.blocks().filter(|block| block.kind == "compaction");
    blocks
        .filter(|block| blank(block.text("content")) && blank(block.text("encrypted_content")))
        .map(|block| found(&block.path, "a compaction without content"))
        .collect()
}

/// One that was made on demand is refused anywhere but at the very beginning; one alone is accepted there in any case.
fn place(request: &Request<'_>) -> Vec<Found> {
    let all = request.blocks().enumerate();
    all.filter(|(at, block)| *at > 0 && block.kind == "compaction")
        .map(|(_, block)| found(&block.path, "something stands before a compaction"))
        .collect()
}
