//! The timeline: what a rollback restores.
//!
//! - Cloning is O(1); clones share.
//! - `shown` holds exactly what is visible, in the order in which the prompt shows it; a unit is in it whole or not at all.
//! - The key of a unit is its first part's position; of a summary, the start of its range; of anything else, its own position.

mod line;
mod part;
mod place;
mod work;

pub use line::{Line, Undone};
pub use place::{Hull, Place};
pub use work::{Life, Name, Plan, Work};

pub(crate) use line::{is_travel, on};
pub(crate) use place::paint;
pub(crate) use work::name_of;

use crate::{List, Map};
use alloc::{sync::Arc, vec::Vec};
use recount_events::{BlockId, Event, Message, Seq, Status};

/// An event at its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The position.
    pub seq: Seq,
    /// The event, with its resolved fields filled.
    pub event: Event,
}

/// What stands at the head of a request; each is the last active event of its kind.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// For whom the prompt is.
    pub profile: Option<Arc<Logged>>,
    /// How it is kept small.
    pub policy: Option<Arc<Logged>>,
    /// The system prompt.
    pub system: Option<Arc<Logged>>,
    /// The tools.
    pub tools: Option<Arc<Logged>>,
    /// The version of fold, repair and render; `None`: the first.
    pub rendering: Option<u32>,
}

/// One entry of what the prompt shows.
#[derive(Clone, Debug)]
pub enum Shown {
    /// A response with its results.
    Unit(Arc<Unit>),
    /// A user's or system message, without the results in it.
    Said(Arc<Said>),
    /// An injection of lifetime once or session.
    Inject(Arc<Logged>),
    /// What stands for a fold.
    Summary(Arc<Summary>),
}

/// A response: all its parts, and all results that answer its calls.
#[derive(Clone, Debug, Default)]
pub struct Unit {
    /// Its messages, in log order; never empty.
    pub parts: Vec<Part>,
    /// Its calls, in the order of parts and blocks.
    pub calls: Vec<Call>,
}

/// One message of a response.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its position.
    pub seq: Seq,
    /// The event; its body is a `Message`.
    pub logged: Arc<Logged>,
}

/// A call and what answers it.
#[derive(Clone, Debug)]
pub struct Call {
    /// The call's block.
    pub block: BlockId,
    /// Its id can travel as it is.
    pub as_given: bool,
    /// The result that is shown: the closing one, else the newest interim one.
    pub answer: Option<Answer>,
}

/// A result at its position.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The event: a `ToolResult`, or a user's `Message` that holds the result among its blocks.
    pub logged: Arc<Logged>,
    /// The result's block; for a `ToolResult` `(seq, 0)`.
    pub block: BlockId,
    /// How the call ended.
    pub status: Status,
}

/// A user's or system message; blocks that are results are not shown here.
#[derive(Clone, Debug)]
pub struct Said {
    /// The event; its body is a `Message`.
    pub logged: Arc<Logged>,
}

/// What kind of fold a summary stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryKind {
    /// A compaction.
    Compact,
    /// A collapse.
    Collapse,
}

/// What stands for a fold.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The commit.
    pub seq: Seq,
    /// Which kind.
    pub kind: SummaryKind,
    /// The collapse's or compaction's name, if it has one.
    pub id: Option<recount_events::Text>,
    /// What it says.
    pub text: recount_events::Text,
    /// The range it stands for, inclusive.
    pub range: (Seq, Seq),
}

/// What a rollback restores.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The newest position that is folded in; `None` before the first event.
    pub head: Option<Seq>,
    /// The request's header.
    pub header: Header,
    /// What the prompt shows, in its order.
    pub shown: Map<Seq, Shown>,
    /// The newest active tail injection of each slot, shown after everything else, in this order.
    pub tails: Map<Seq, Arc<Logged>>,
    /// The newest active replacement of each block: the `Replace` event.
    pub replaced: Map<BlockId, Arc<Logged>>,
    /// Calls without a closing result, visible or not.
    pub open: Map<BlockId, Seq>,
    /// The newest authored message that is shown.
    pub authored_last: Option<Seq>,
    /// The newest event that relied on what is shown: ranges, stages and plans, cache edits, results for hidden calls.
    pub relied: Option<Seq>,
    /// Which positions it is made of, and what was undone.
    pub line: Line,
    /// All content, visible or not: messages, results, injections of lifetime once or session.
    pub content: Map<Seq, Place>,
    /// All units, visible or not, by key.
    pub units: Map<Seq, Hull>,
    /// The unit behind whose first part nothing but its own parts and results came: the next part may join it.
    pub tip: Option<Seq>,
    /// What masks cover: the start of a run to its end and the last mask over it. Runs do not overlap.
    pub masked: Map<Seq, (Seq, Seq)>,
    /// Injections whose place a later one took.
    pub superseded: Map<Seq, Seq>,
    /// Injections of lifetime once or session by slot.
    pub slots: Map<Name, List<Seq>>,
    /// Visible folds: the start of the range to its end. They do not overlap.
    pub summaries: Map<Seq, Seq>,
    /// Active folds, visible or not: the commit to its range.
    pub folds: Map<Seq, (Seq, Seq)>,
    /// Authored messages, visible or not.
    pub turns: Map<Seq, ()>,
    /// Active checkpoints.
    pub checkpoints: Map<Seq, Arc<Logged>>,
    /// Stages and plans.
    pub work: Work,
    /// Active `file_read` events.
    pub files: Map<Seq, Arc<Logged>>,
    /// Active `memory` events; of one id the newest.
    pub memories: Map<Seq, Arc<Logged>>,
    /// The newest active `todo`.
    pub todo: Option<Arc<Logged>>,
    /// Results that were examined and left inline, with the event that says so.
    pub judged: Map<BlockId, Seq>,
    /// Cache edits since the newest reset.
    pub cache_edits: Map<Seq, Arc<Logged>>,
    /// Their acknowledgements.
    pub cache_acks: Map<Seq, Arc<Logged>>,
    /// The newest usage of the timeline.
    pub usage: Option<Seq>,
    /// The newest prompt of the timeline that left.
    pub issued: Option<Seq>,
}

impl Part {
    /// The message.
    pub fn message(&self) -> Option<&Message> {
        self.logged.message()
    }
}

impl Logged {
    /// The message, if it is one.
    pub fn message(&self) -> Option<&Message> {
        match &self.event.body {
            recount_events::Body::Message(message) => Some(message),
            _ => None,
        }
    }
}
