//! Parameters and results of every operation: the same types for the library, the pipe, the socket and the command line.
//!
//! - Each struct is one JSON object of the protocol; unknown parameters are refused.
//! - Content never passes through a JSON tree: raw JSON stays raw.

mod cut;
mod doctor;
mod import;
mod instruct;
mod open;
mod pipeline;
mod prompt;
mod query;
mod travel;
mod upkeep;
mod write;

pub use cut::{At, Spec, To};
pub use doctor::{Act, Ailment, Diagnosis, Doctor, LogFound, Part, Remedy, SessionFound, What};
pub use import::{Export, Exported, Import, Imported, ImportedSession, Note};
pub use instruct::{Instruct, InstructScope, Instructed};
pub use open::{
    Cut, Damaged, DirectoryVerified, Hello, Limits, List, Listed, Open, OpenCall, Opened,
    Recovered, SessionLine, Skipped, State, Verified, Verify, VerifyAll,
};
pub use pipeline::{
    Abandon, Action, ActionList, Actions, ChunkRequest, Compact, Compacted, Done, Noted,
    OverflowAnswer, Overflowed, Summarised, SummarisedAnswer, TierReport,
};
pub use prompt::{
    As, Blocked, Changed, Impossible, Large, Outcome, Piece, Prepare, Prepared, Project, Projected,
    Repair, Request, Tokens, TokensBy, Waiting,
};
pub use query::{
    Absent, BreakerLine, CacheBreakLine, CompactionLine, Diff, Differed, Difference, EstimatorLine,
    Explain, Explained, FirstDifference, Floor, Lines, Log, LogPage, Shown, Side, Spent, Status,
    StatusReport,
};
pub use travel::{Checkpoint, Checkpointed, Fork, Forked, Rollback, RolledBack, Undo, Undone};
pub use upkeep::{
    Against, Backlog, DiskUse, Found, Head, Heads, HeadsReport, KeptSession, Prune, Pruned,
    PrunedSession, SessionSize, Standing, Stats, StatsReport, StoreLine, Syncs,
};
pub use write::{Append, Appended, Durability, Interrupt, Interrupted, Sync, Synced};
