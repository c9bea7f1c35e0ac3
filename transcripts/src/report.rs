//! What a reader says about what it read.

use std::collections::BTreeMap;

/// The account of one import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Records read, damaged ones included.
    pub read: u64,
    /// Records kept verbatim because they are no part of the conversation or of no known type.
    pub kept: u64,
    /// Records by type (`user`, `assistant`, `system/compact_boundary` …).
    pub types: BTreeMap<String, u64>,
    /// What could be read in more than one way, and how it was read.
    pub doubted: Vec<Doubt>,
    /// What could not be read. Its bytes are kept all the same.
    pub damaged: Vec<Damage>,
    /// Where the recording went back to an earlier place.
    pub branches: Vec<Branch>,
}

/// Something that could be read in more than one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The file, when it is not the transcript itself.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: u64,
    /// The first byte of the record.
    pub offset: u64,
    /// What it is about.
    pub problem: Problem,
    /// The facts, for people.
    pub text: String,
}

/// Bytes that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file, when it is not the transcript itself.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: u64,
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// What is wrong with them.
    pub problem: Problem,
}

/// A place where the recording went back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The session.
    pub session: String,
    /// The line that began the new branch, counted from 1.
    pub line: u64,
    /// The position of the rollback event.
    pub event: usize,
    /// The position that it goes back to.
    pub to: u64,
}

/// What a doubt or a damage is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Problem {
    /// Not JSON.
    NotJson,
    /// Not UTF-8.
    NotUtf8,
    /// The last line breaks off.
    Torn,
    /// The file begins with a byte order mark.
    ByteOrderMark,
    /// Several records on one line.
    SharedLine,
    /// A record of a type that this version does not know.
    UnknownType,
    /// A known record without the parts that make it one.
    Malformed,
    /// Its parent is in no file: it continues what stood before it.
    PhantomParent,
    /// Its parent was written after it.
    LateParent,
    /// It names itself as its parent.
    SelfParent,
    /// Parents form a circle.
    Cycle,
    /// Its uuid came before with the same content: history replayed, kept verbatim, not said twice.
    Replayed,
    /// Its uuid came before with other content: both are kept in the conversation.
    UuidReused,
    /// An error that the host wrote in the model's name: kept, not said to the model.
    Synthetic,
    /// A new root: the conversation begins again.
    NewRoot,
    /// An attachment that belongs to an earlier place.
    LateAttachment,
    /// A boundary of a compaction without the summary.
    NoSummary,
    /// A summary with nothing before it: it is shown as a message.
    NothingToFold,
    /// A call without a result where a compaction folds it: closed with an unknown outcome.
    OpenCall,
    /// A record that names messages which are in no file.
    UnknownReference,
    /// A child session whose starting call is not known.
    UnknownParent,
    /// The end of the conversation by the host's own rule is not on the timeline that was read.
    LeafElsewhere,
    /// The archive's counts or order do not hold.
    Inconsistent,
    /// Nothing says when: it has the time of what stands before it.
    NoTime,
    /// Its time lies before that of what it changes, or of what stands before it: it has theirs.
    TimeBack,
    /// A message that was said again when its task was resumed: only the last one was kept by its host.
    SaidAgain,
    /// A range that no history has as it stands: what can be left out of it is left out.
    OddRange,
    /// Another text for something that cannot be shown otherwise.
    NotShown,
    /// There is no history beside what the person saw.
    NoHistory,
    /// A compaction whose beginning is not that of the messages: not applied.
    Stale,
    /// A compaction that names its beginning in the older way: applied.
    OldAnchor,
}

impl Problem {
    /// What it means, for people.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotJson => "not json",
            Self::NotUtf8 => "not utf-8",
            Self::Torn => "the last line breaks off",
            Self::ByteOrderMark => "byte order mark at the start",
            Self::SharedLine => "several records on one line",
            Self::UnknownType => "unknown type, kept verbatim",
            Self::Malformed => "known type, unknown shape, kept verbatim",
            Self::PhantomParent => "parent was never written, continues what stood before",
            Self::LateParent => "parent was written later",
            Self::SelfParent => "names itself as parent",
            Self::Cycle => "parents form a circle",
            Self::Replayed => "history replayed, kept once",
            Self::UuidReused => "uuid used again for other content",
            Self::Synthetic => "written by the host in the model's name, not part of the prompt",
            Self::NewRoot => "conversation begins again",
            Self::LateAttachment => "attachment of an earlier place, kept verbatim",
            Self::NoSummary => "compaction without a summary",
            Self::NothingToFold => "summary with nothing before it, shown as a message",
            Self::OpenCall => "open call folded by a compaction, closed with unknown outcome",
            Self::UnknownReference => "names messages that were not found",
            Self::UnknownParent => "the call that started this session was not found",
            Self::LeafElsewhere => "the host's own leaf is on another branch",
            Self::Inconsistent => "archive does not add up",
            Self::NoTime => "no time is recorded, takes that of what stands before it",
            Self::TimeBack => "its time lies before what it follows, takes that one's time",
            Self::SaidAgain => "said again when the task was resumed, only the last one is kept",
            Self::OddRange => "left out as far as it can be",
            Self::NotShown => "changes what cannot be shown otherwise, kept verbatim",
            Self::NoHistory => "no history of the conversation, only what the person saw",
            Self::Stale => "compaction of other messages, kept verbatim, not applied",
            Self::OldAnchor => "compaction that names its last message only, applied",
        }
    }
}
