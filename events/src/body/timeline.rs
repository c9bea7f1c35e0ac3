//! Travel in time: checkpoints, rollbacks, undos.

use crate::{Millis, Seq, Text};
use bincode::{Decode, Encode};

/// A position with a name. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Checkpoint {
    /// The name; the newest of a name on the current timeline wins.
    pub label: Text,
    /// The host's reference to its workspace then.
    pub workspace: Option<Text>,
}

/// Where to.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Target {
    /// This position, included.
    Seq(Seq),
    /// The last position of the current timeline whose time is not later.
    Time(Millis),
    /// The newest checkpoint of this label on the current timeline.
    Checkpoint(Text),
    /// Just before the n-th last authored message.
    Turns(u64),
}

/// The timeline is that of an earlier position again.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Rollback {
    /// Where to, as asked.
    pub asked: Target,
    /// The position. Resolved.
    pub to: Option<Seq>,
}

/// One event's effect is taken out of the timeline; what came later stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Undo {
    /// The event.
    pub event: Seq,
    /// The rollback that this undo is, when its target is a rollback: the position before it. Resolved.
    pub to: Option<Seq>,
}
