//! What a policy proposes.

use alloc::string::String;
use alloc::vec::Vec;
use recount_events::{BlockId, Body};

/// A tier of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// ① What a result may cost.
    Budget,
    /// ② Zombies.
    Snip,
    /// ③ Old results.
    Micro,
    /// ④ Staged spans.
    Collapse,
    /// ⑤ Summaries.
    Compact,
    /// The preset `cline`: reads replaced, the middle left out.
    Cline,
    /// ⑥ The hard line.
    Block,
    /// What a commit restores, attachments, instructions.
    Assembly,
    /// Levels without a model, where the rest was not enough.
    Overflow,
}

impl Tier {
    /// Its name in answers and documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Snip => "snip",
            Self::Micro => "micro",
            Self::Collapse => "collapse",
            Self::Compact => "compact",
            Self::Cline => "cline",
            Self::Block => "block",
            Self::Assembly => "assembly",
            Self::Overflow => "overflow",
        }
    }
}

/// A content to be written as a readable file before the events of its proposal are logged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spill {
    /// The result whose content it is.
    pub block: BlockId,
    /// Its name under the session's own folder: `<seq>-<index>.txt` or `.json`.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
}

/// What a tier proposes: nothing, or events to be logged together, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposal {
    /// What it does, in words for people; empty when it does nothing.
    pub did: String,
    /// Tokens of the provider that it frees, by estimate.
    pub freed: u64,
    /// The events. One that follows from another of them names it with `because`.
    pub events: Vec<Proposed>,
    /// Files to be written before.
    pub spills: Vec<Spill>,
}

/// An event that is proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// What.
    pub body: Body,
    /// Which event of the log it falls with, by its position (positions of the same proposal count from the next one on).
    pub because: Option<recount_events::Seq>,
}

impl From<Body> for Proposed {
    fn from(body: Body) -> Self {
        Self {
            body,
            because: None,
        }
    }
}

impl Proposal {
    /// It proposes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }
}
