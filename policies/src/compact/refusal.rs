//! Why nothing is folded.

use recount_events::{BlockId, Seq};

/// Why nothing is folded, and what would fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// All that is shown has to stay.
    #[error("nothing could be folded: what is shown has to stay")]
    Nothing,
    /// The position is not written yet.
    #[error("the position is in the future: seq={0}")]
    Future(Seq),
    /// The position lies within a response or a fold.
    #[error("the position lies within a response or a fold: seq={at}{}", near(*nearest))]
    Splits {
        /// The position.
        at: Seq,
        /// The nearest one that does not.
        nearest: Option<Seq>,
    },
    /// A call in the range waits for its result.
    #[error("a call in the range is open: block={}/{}{}", call.seq, call.index, near(*nearest))]
    Open {
        /// The call.
        call: BlockId,
        /// The position nearest to the asked one with which the range holds no open call.
        nearest: Option<Seq>,
    },
    /// The summary would not be smaller than what it hides.
    #[error("the summary would not be smaller than what it hides")]
    NotSmaller,
    /// The fold does not fit the session.
    #[error("the fold does not fit the session: {0}")]
    Misfit(recount_projections::Problem),
}

fn near(nearest: Option<Seq>) -> alloc::string::String {
    nearest.map_or_else(alloc::string::String::new, |seq| {
        alloc::format!(" nearest={seq}")
    })
}
