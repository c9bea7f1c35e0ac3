//! The vocabulary: one struct for each kind of event, by family; field by field in `FORMAT.md`.
//!
//! - A kind once released is frozen; a changed struct is a new schema number with a typed upcast.
//! - Fields that say "resolved" are empty in what a host hands in; admission fills them once, the log keeps them, replay uses
//!   what was kept.

mod cache;
mod conversation;
mod folds;
mod ledger;
mod notes;
mod session;
mod timeline;
mod unknown;

pub use cache::{CacheAck, CacheEdit, CacheReset};
pub use conversation::{
    Bound, Budget, CallMark, Inject, Lifetime, Message, Replace, ResultMark, Role, Status, Stop,
    ToolResult,
};
pub use folds::{
    Boundary, CollapseCommit, CollapseDiscard, CollapseStage, CompactAbandon, CompactChunk,
    CompactCommit, CompactPlan, Covered, DeleteRange, Maker, Range, Snip, Trigger,
};
pub use ledger::{
    Breaker, BreakerState, CacheBreak, CacheCause, Counted, Done, Erased, Excess, Issued, Overflow,
    Usage,
};
pub use notes::{FileRead, Memory, Scope, Todo};
pub use session::{
    Closed, Forked, Keeps, Opened, Policy, Preset, Profile, Rendering, SessionKind, System,
    Thinking, Tools, Wire,
};
pub use timeline::{Checkpoint, Rollback, Target, Undo};
pub use unknown::{Kept, Newer};

/// What happened. The number of each kind (its `kind` in the log) is in [`Body::kind`] and never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is documented on its struct")]
pub enum Body {
    Kept(Kept),
    Opened(Opened),
    Closed(Closed),
    Forked(Forked),
    Profile(Profile),
    Policy(Policy),
    Rendering(Rendering),
    System(System),
    Tools(Tools),
    Message(Message),
    ToolResult(ToolResult),
    Inject(Inject),
    Replace(Replace),
    Budget(Budget),
    DeleteRange(DeleteRange),
    Snip(Snip),
    CacheEdit(CacheEdit),
    CacheAck(CacheAck),
    CacheReset(CacheReset),
    CollapseStage(CollapseStage),
    CollapseCommit(CollapseCommit),
    CollapseDiscard(CollapseDiscard),
    CompactPlan(CompactPlan),
    CompactChunk(CompactChunk),
    CompactCommit(CompactCommit),
    CompactAbandon(CompactAbandon),
    FileRead(FileRead),
    Memory(Memory),
    Todo(Todo),
    Checkpoint(Checkpoint),
    Rollback(Rollback),
    Undo(Undo),
    Counted(Counted),
    Issued(Issued),
    Usage(Usage),
    Overflow(Overflow),
    Breaker(Breaker),
    Erased(Erased),
    CacheBreak(CacheBreak),
    Done(Done),
    Newer(Newer),
}
