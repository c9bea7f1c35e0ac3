//! What restoration and attachments use.

use crate::{BlockId, Digest, Seq, Text};
use alloc::vec::Vec;
use bincode::{Decode, Encode};

/// A file was read. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct FileRead {
    /// Where it is.
    pub path: Text,
    /// The result that shows it.
    pub block: Option<BlockId>,
    /// Digest of what was read, as the host computes it.
    pub digest: Option<Digest>,
}

/// How far a memory reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Encode, Decode)]
pub enum Scope {
    /// This session.
    #[default]
    Session,
    /// The person, in all sessions.
    User,
}

/// Something worth keeping. Timeline, undoable.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Memory {
    /// Its name; a later one of the same name takes its place.
    pub id: Text,
    /// What it says.
    pub text: Text,
    /// The positions that it sums up, inclusive.
    pub covers: Option<(Seq, Seq)>,
    /// The host's weight; larger is more important.
    pub importance: i64,
    /// How far it reaches.
    pub scope: Scope,
}

/// The list of things to do. Timeline, undoable; the last one wins.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Todo {
    /// The raw JSON of each item.
    pub items: Vec<Text>,
}
