//! The table of kinds: number in the log, name in the protocol, class, who may write it, whether it may be undone.
//!
//! - Numbers and names are never reused. 11 is reserved for drafts, which are never logged.
//! - Bit 15 of a number ([`ESSENTIAL`]) is set by a newer writer on a kind without which a session cannot be understood.

use crate::{BlockKind, Body, BreakerState, Message, Role, Status};

/// Bit of a kind's number: a session cannot be understood without this kind.
pub const ESSENTIAL: u16 = 1 << 15;

/// What a rollback does to an event of this kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// It is taken back.
    Timeline,
    /// It stays: it tells what really happened.
    Ledger,
    /// Its effect on the prompt is taken back, the provider's counters in it stay.
    Both,
}

/// How soon the receipt of an event means that it is on disk, where the host does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Accepted; written in order, before anything later.
    Ordered,
    /// On disk.
    Synced,
}

/// Hands the table to a macro: number, variant, name, class, undoable, host may append.
macro_rules! with_kinds {
    ($use:ident) => {
        $use! {
            0 Kept "kept" Ledger false false,
            1 Opened "opened" Ledger false false,
            2 Closed "closed" Ledger false false,
            3 Forked "forked" Ledger false false,
            4 Profile "profile" Timeline true true,
            5 Policy "policy" Timeline true true,
            6 Rendering "rendering" Timeline false false,
            7 System "system" Timeline true true,
            8 Tools "tools" Timeline true true,
            9 Message "message" Timeline false true,
            10 ToolResult "tool_result" Timeline false true,
            12 Inject "inject" Timeline true true,
            13 Replace "replace" Timeline true true,
            14 Budget "budget" Timeline false false,
            15 DeleteRange "delete_range" Timeline true true,
            16 Snip "snip" Timeline true true,
            17 CacheEdit "cache_edit" Both false false,
            18 CacheAck "cache_ack" Both false false,
            19 CacheReset "cache_reset" Both false false,
            20 CollapseStage "collapse_stage" Timeline true true,
            21 CollapseCommit "collapse_commit" Timeline true true,
            22 CollapseDiscard "collapse_discard" Timeline true true,
            23 CompactPlan "compact_plan" Timeline false false,
            24 CompactChunk "compact_chunk" Timeline false false,
            25 CompactCommit "compact_commit" Timeline true true,
            26 CompactAbandon "compact_abandon" Timeline false false,
            27 FileRead "file_read" Timeline true true,
            28 Memory "memory" Timeline true true,
            29 Todo "todo" Timeline true true,
            30 Checkpoint "checkpoint" Timeline true true,
            31 Rollback "rollback" Timeline false true,
            32 Undo "undo" Timeline true true,
            33 Counted "counted" Ledger false false,
            34 Issued "issued" Ledger false false,
            35 Usage "usage" Ledger false true,
            36 Overflow "overflow" Ledger false false,
            37 Breaker "breaker" Ledger false false,
            38 Erased "erased" Ledger false false,
            39 CacheBreak "cache_break" Ledger false false,
            40 Done "done" Ledger false false,
        }
    };
}
pub(crate) use with_kinds;

macro_rules! lookups {
    ($($number:literal $kind:ident $name:literal $class:ident $undoable:literal $host:literal,)*) => {
        /// Every kind that this version knows: number and name.
        pub const KINDS: &[(u16, &str)] = &[$(($number, $name)),*];

        /// A known kind that a rollback takes back, in whole or in part.
        pub(crate) const fn shapes_prompt(kind: u16) -> bool {
            match kind {
                $($number => !matches!(Class::$class, Class::Ledger),)*
                _ => false,
            }
        }

        impl Body {
            /// The kind's number in the log.
            #[must_use]
            pub const fn kind(&self) -> u16 {
                match self {
                    $(Self::$kind(_) => $number,)*
                    Self::Newer(newer) => newer.kind,
                }
            }

            /// The kind's name in the protocol; `newer` for what this version does not know.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $name,)*
                    Self::Newer(_) => "newer",
                }
            }

            /// What a rollback does to it. What this version does not know counts as ledger: it shows nothing.
            #[must_use]
            pub const fn class(&self) -> Class {
                match self {
                    $(Self::$kind(_) => Class::$class,)*
                    Self::Newer(_) => Class::Ledger,
                }
            }

            /// A host may append it; the others are written by the engine and by importers.
            #[must_use]
            pub const fn host_may_append(&self) -> bool {
                match self {
                    $(Self::$kind(_) => $host,)*
                    Self::Newer(_) => false,
                }
            }

            const fn kind_is_undoable(&self) -> bool {
                match self {
                    $(Self::$kind(_) => $undoable,)*
                    Self::Newer(_) => false,
                }
            }
        }
    };
}
with_kinds!(lookups);

impl Body {
    /// The schema number of its struct.
    #[must_use]
    pub const fn schema(&self) -> u16 {
        match self {
            Self::Newer(newer) => newer.schema,
            _ => 1,
        }
    }

    /// An undo may name it. A breaker only when it releases; a rollback is not in the table: undoing one is a rollback and has
    /// a rule of its own.
    #[must_use]
    pub const fn undoable(&self) -> bool {
        match self {
            Self::Breaker(breaker) => matches!(breaker.state, BreakerState::Releases),
            _ => self.kind_is_undoable(),
        }
    }

    /// How soon its receipt means that it is on disk, where the host does not say.
    #[must_use]
    pub fn durability(&self) -> Durability {
        match self {
            Self::Message(message) => message_durability(message),
            Self::ToolResult(result) if result.status == Status::Interim => Durability::Ordered,
            Self::Budget(_) | Self::CacheAck(_) => Durability::Ordered,
            Self::Counted(_) | Self::Usage(_) | Self::Overflow(_) | Self::Breaker(_) => {
                Durability::Ordered
            }
            Self::CacheBreak(_) | Self::Done(_) => Durability::Ordered,
            _ => Durability::Synced,
        }
    }
}

/// The host runs tools only after the receipt of the response that calls them.
fn message_durability(message: &Message) -> Durability {
    let calls = message
        .content
        .blocks
        .iter()
        .any(|block| block.kind == BlockKind::Call);
    if message.role == Role::Assistant && !calls {
        Durability::Ordered
    } else {
        Durability::Synced
    }
}
