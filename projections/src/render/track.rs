//! The pieces so far, and what is known about them as running sums.
//!
//! - Persistent: cloning is O(1), clones share.
//! - Before each entry a mark keeps the sums, so that everything from an entry on can be taken back and rendered again.

use crate::render::body::Shape;
use crate::render::compaction::Compaction;
use crate::render::{By, LeftOut, Piece, Repair};
use crate::{List, Map};
use alloc::string::String;
use recount_events::{Digest, Seq};

/// What the pieces end with: decides who has to speak next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Ends {
    /// No piece of the conversation.
    #[default]
    Nothing,
    /// Not the assistant's.
    Other,
    /// The assistant's, and can be continued.
    Assistant,
    /// The assistant's, paused by the provider: to be sent as it is.
    Paused,
    /// The provider's own compaction: to be sent as it is.
    Compacted,
    /// The assistant's thinking.
    Thinking,
    /// The assistant's; ends in white space.
    Space,
}

/// Running sums over pieces and entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sums {
    pub(crate) pieces: usize,
    pub(crate) repairs: usize,
    pub(crate) left_out: usize,
    /// Root over the pieces.
    pub(crate) root: Digest,
    /// Tokens of the pieces.
    pub(crate) by: By,
    /// Bytes of the body up to here and what is open in it.
    pub(crate) shape: Shape,
    /// Pictures shown.
    pub(crate) images: u32,
    /// One of them has a side that is too large for a request with many.
    pub(crate) large: bool,
    /// Ids of the server calls shown.
    pub(crate) servers: Map<String, ()>,
    /// What the pieces end with.
    pub(crate) ends: Ends,
    /// A thinking block was left out for its prefix: all later ones are.
    pub(crate) broken: bool,
    /// The last compaction of a provider that counts.
    pub(crate) compaction: Option<Compaction>,
    /// The first entry that holds thinking.
    pub(crate) thinks: Option<Seq>,
    /// The newest unit.
    pub(crate) unit: Option<Seq>,
    /// Where the turn begins that the newest units belong to.
    pub(crate) turn: Option<Seq>,
    /// In the turn up to here: the first unit with calls whose message does not begin with thinking.
    pub(crate) bare: Option<Seq>,
    /// The pieces end within an assistant's message: it begins with thinking, or not.
    pub(crate) opening: Option<bool>,
}

impl Sums {
    pub(crate) fn new(shape: Shape) -> Self {
        Self {
            pieces: 0,
            repairs: 0,
            left_out: 0,
            root: Digest([0; 32]),
            by: By::default(),
            shape,
            images: 0,
            large: false,
            servers: Map::new_sync(),
            ends: Ends::Nothing,
            broken: false,
            compaction: None,
            thinks: None,
            unit: None,
            turn: None,
            bare: None,
            opening: None,
        }
    }
}

/// An entry and what was before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) key: Seq,
    pub(crate) before: Sums,
    /// It holds thinking.
    pub(crate) thinks: bool,
    /// A unit that the provider paused: it looks otherwise when something stands behind it.
    pub(crate) paused: bool,
}

/// Pieces, repairs, marks and sums.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    pub(crate) pieces: List<Piece>,
    pub(crate) repairs: List<Repair>,
    pub(crate) left_out: List<LeftOut>,
    pub(crate) marks: List<Mark>,
    /// Now.
    pub(crate) sums: Sums,
    /// After the last entry, before tail injections.
    pub(crate) entries: Sums,
}

impl Track {
    pub(crate) fn new(shape: Shape) -> Self {
        let sums = Sums::new(shape);
        let entries = sums.clone();
        Self {
            pieces: List::new_sync(),
            repairs: List::new_sync(),
            left_out: List::new_sync(),
            marks: List::new_sync(),
            sums,
            entries,
        }
    }

    /// Takes back everything after these sums.
    pub(crate) fn restore(&mut self, sums: Sums) {
        while self.pieces.len() > sums.pieces && self.pieces.drop_last_mut() {}
        while self.repairs.len() > sums.repairs && self.repairs.drop_last_mut() {}
        while self.left_out.len() > sums.left_out && self.left_out.drop_last_mut() {}
        self.sums = sums;
    }

    /// Takes back the entries from this key on, and the tails.
    pub(crate) fn cut(&mut self, from: Seq) {
        let keep = self.place(from);
        let before = self.sums_at(keep);
        self.restore(before.clone());
        while self.marks.len() > keep && self.marks.drop_last_mut() {}
        self.entries = before;
    }

    /// The first mark whose key is not before this one.
    pub(crate) fn place(&self, key: Seq) -> usize {
        let (mut low, mut high) = (0, self.marks.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.marks.get(middle) {
                Some(mark) if mark.key < key => low = middle.saturating_add(1),
                _ => high = middle,
            }
        }
        low
    }

    /// The mark of this entry.
    pub(crate) fn mark(&self, key: Seq) -> Option<&Mark> {
        self.marks
            .get(self.place(key))
            .filter(|mark| mark.key == key)
    }

    /// The sums before the first entry whose key is not before this one.
    pub(crate) fn before(&self, key: Seq) -> Sums {
        self.sums_at(self.place(key))
    }

    fn sums_at(&self, place: usize) -> Sums {
        self.marks
            .get(place)
            .map_or_else(|| self.entries.clone(), |mark| mark.before.clone())
    }
}
