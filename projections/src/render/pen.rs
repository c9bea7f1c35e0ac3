//! Writes pieces: sanitises, counts, digests, sums up.
//!
//! - Every piece of a prompt goes through `push`.
//! - What is mended on the way to a piece is listed with it.

use crate::render::context::Context;
use crate::render::track::{Ends, Track};
use crate::render::{Category, LeftOut, Piece, PieceRole, Reason, Repair, RepairKind, Why};
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use recount_events::{BlockId, Digest, Seq, Text, sanitize};

/// Before the assistant's first words when nothing of the user's stands before them.
pub(crate) const EARLIER: &str = "[The earlier conversation is not shown.]";

/// A piece that is not written yet.
pub(crate) struct Draft<'b> {
    pub(crate) role: PieceRole,
    /// Its JSON.
    pub(crate) json: String,
    /// The bytes that it came from: shared when they are the same.
    pub(crate) raw: Option<&'b Arc<[u8]>>,
    /// On Chat: an item of `tool_calls`.
    pub(crate) call: bool,
    /// What the prompt ends with, if it ends here.
    pub(crate) ends: Ends,
}

/// Writes the pieces of one entry.
pub(crate) struct Pen<'a, 'c> {
    pub(crate) context: &'c Context<'a>,
    pub(crate) track: &'c mut Track,
    pub(crate) category: Category,
    /// The block that is being written.
    pub(crate) source: BlockId,
    /// The block whose count the piece has; `None`: made by the engine.
    pub(crate) counted: Option<BlockId>,
    /// Why the block looks as it does, as far as it is known.
    pub(crate) why: Why,
    /// The assistant's first piece of the entry is thinking, a compaction aside.
    pub(crate) first: Option<bool>,
    /// The salts of the texts that the piece shows, in order.
    salts: Vec<[u8; 16]>,
}

impl<'a, 'c> Pen<'a, 'c> {
    pub(crate) fn new(context: &'c Context<'a>, track: &'c mut Track, category: Category) -> Self {
        let source = BlockId {
            seq: Seq(0),
            index: 0,
        };
        Self {
            context,
            track,
            category,
            source,
            counted: None,
            why: Why::AsWritten,
            first: None,
            salts: Vec::new(),
        }
    }

    /// Turns to a block.
    pub(crate) fn turn(&mut self, source: BlockId) {
        self.source = source;
        // What stands in no log has no block to be counted under: its position will be another event's.
        self.counted = Some(source).filter(|_| !self.context.timeline.is_unlogged(source.seq));
        self.why = Why::AsWritten;
        self.salts.clear();
    }

    /// Says that the block's piece shows a text: without the text's salt nobody can test guesses against the digest.
    pub(crate) fn salted(&mut self, text: &Text) {
        self.salts.extend(text.seal.map(|seal| seal.salt));
    }

    /// Lists a repair of the block.
    pub(crate) fn mend(&mut self, kind: RepairKind) {
        if self.why == Why::AsWritten {
            self.why = Why::Repaired(kind);
        }
        let repair = Repair {
            kind,
            event: self.source.seq,
            block: Some(self.source),
        };
        if self.track.repairs.last() != Some(&repair) {
            self.track.repairs.push_back_mut(repair);
            self.track.sums.repairs = self.track.repairs.len();
        }
    }

    /// Lists a repair that puts fixed words in the block's place.
    pub(crate) fn stand_in(&mut self, kind: RepairKind) {
        self.mend(kind);
        self.why = Why::Placeholder(kind);
        self.counted = None;
    }

    /// Lists the block as left out.
    pub(crate) fn leave_out(&mut self, reason: Reason) {
        self.track.left_out.push_back_mut(LeftOut {
            block: self.source,
            reason,
        });
        self.track.sums.left_out = self.track.left_out.len();
        self.track.sums.broken |= reason == Reason::Prefix;
    }

    /// A string token or raw value without what no provider accepts.
    pub(crate) fn clean<'r>(&mut self, raw: &'r str) -> Cow<'r, str> {
        let clean = sanitize(raw);
        if let Cow::Owned(_) = clean {
            self.mend(RepairKind::Unicode);
        }
        clean
    }

    /// Writes the piece.
    pub(crate) fn push(&mut self, draft: Draft<'_>) {
        let clean = match self.clean(&draft.json) {
            Cow::Borrowed(_) => None,
            Cow::Owned(clean) => Some(clean),
        };
        let json = clean.unwrap_or(draft.json);
        let conversation = !matches!(draft.role, PieceRole::Tool | PieceRole::Header);
        let compacted = draft.ends == Ends::Compacted;
        let begins = self.track.sums.ends == Ends::Nothing && !compacted;
        if conversation && begins && draft.role != PieceRole::User {
            self.begin();
        }
        let bytes = match draft.raw {
            Some(raw) if **raw == *json.as_bytes() => Arc::clone(raw),
            _ => Arc::from(json.as_bytes()),
        };
        let tokens = match self.counted {
            Some(block) => self.context.counts.count(block, &bytes),
            None => self.context.counts.made(&bytes),
        };
        if draft.role == PieceRole::Assistant && self.first.is_none() && !compacted {
            self.first = Some(draft.ends == Ends::Thinking);
        }
        let category = self.category;
        self.add(draft.role, category, bytes, tokens, draft.call);
        if conversation {
            self.track.sums.ends = draft.ends;
        }
    }

    /// The fixed words that stand before the assistant's first ones.
    fn begin(&mut self) {
        let (why, counted) = (self.why, self.counted.take());
        let salts = core::mem::take(&mut self.salts);
        self.mend(RepairKind::StartsWithAssistant);
        self.why = Why::Placeholder(RepairKind::StartsWithAssistant);
        let bytes = earlier();
        let tokens = self.context.counts.made(&bytes);
        self.add(PieceRole::User, Category::Messages, bytes, tokens, false);
        (self.why, self.counted, self.salts) = (why, counted, salts);
    }

    fn add(
        &mut self,
        role: PieceRole,
        category: Category,
        bytes: Arc<[u8]>,
        tokens: u64,
        call: bool,
    ) {
        let sums = &mut self.track.sums;
        let digest = digest(role, &self.salts, &bytes);
        let shape = sums.shape.with(role, call, bytes.len());
        let root = chain(&sums.root, &digest);
        let piece = Piece {
            role,
            category,
            source: self.source,
            counted: self.counted,
            why: self.why,
            digest,
            root,
            tokens,
            tokens_before: sums.by.total(),
            bytes_before: shape.bytes().saturating_sub(bytes.len() as u64),
            bytes,
            call,
        };
        sums.by.add(category, tokens);
        sums.root = root;
        sums.shape = shape;
        self.track.pieces.push_back_mut(piece);
        sums.pieces = self.track.pieces.len();
    }

    /// The root just before the first piece that the assistant would have here.
    pub(crate) fn root(&self) -> Digest {
        let sums = &self.track.sums;
        match sums.ends {
            Ends::Nothing => chain(&sums.root, &digest(PieceRole::User, &[], &earlier())),
            _ => sums.root,
        }
    }
}

fn earlier() -> Arc<[u8]> {
    let mut token = String::from("\"");
    token.push_str(EARLIER);
    token.push('"');
    Arc::from(crate::render::json::text_block(&token).as_bytes())
}

/// Digest of a piece.
fn digest(role: PieceRole, salts: &[[u8; 16]], bytes: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key("recount 2026 piece v1");
    let number = u32::try_from(salts.len()).unwrap_or(u32::MAX);
    hasher.update(&[role as u8]).update(&number.to_le_bytes());
    for salt in salts {
        hasher.update(salt);
    }
    hasher.update(bytes);
    Digest(*hasher.finalize().as_bytes())
}

/// The root with one more piece.
fn chain(root: &Digest, piece: &Digest) -> Digest {
    let mut hasher = blake3::Hasher::new_derive_key("recount 2026 root v1");
    hasher.update(&root.0).update(&piece.0);
    Digest(*hasher.finalize().as_bytes())
}
