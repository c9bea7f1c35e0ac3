//! Every text of an event, in the order in which the codec writes them.
//!
//! - The n-th text of an event has the n-th content of its record: order is format.
//! - Each struct names all its fields here, so a new field cannot be forgotten.

use crate::body::*;
use crate::kinds::with_kinds;
use crate::{Block, Body, Content, Digest, Event, Held, Seal, Text};
use alloc::vec::Vec;

/// The context from which the key of a commitment is derived, with the salt as key material.
pub const COMMITMENT_CONTEXT: &str = "recount events v1: commitment to a content";

/// The commitment of a text whose bytes were lost before it was sealed: no bytes have it.
pub const LOST: Digest = Digest([0; 32]);

/// The commitment of a text whose bytes were erased before it was sealed: no bytes have it.
pub const ERASED: Digest = Digest([0xff; 32]);

/// What bytes commit to under a salt: blake3 keyed with a key derived from the salt.
#[must_use]
pub fn commitment(salt: &[u8; 16], bytes: &[u8]) -> Digest {
    let key = blake3::derive_key(COMMITMENT_CONTEXT, salt);
    Digest(*blake3::keyed_hash(&key, bytes).as_bytes())
}

impl Text {
    /// Gives it a salt and the commitment under it. A text that is not at hand gets no salt and a commitment that no bytes have.
    pub fn seal(&mut self, salt: [u8; 16]) {
        self.seal = Some(match &self.held {
            Held::Here(bytes) => Seal {
                salt,
                commitment: commitment(&salt, bytes),
            },
            Held::Lost => Seal {
                salt: [0; 16],
                commitment: LOST,
            },
            Held::Erased => Seal {
                salt: [0; 16],
                commitment: ERASED,
            },
        });
    }

    /// It is sealed, its bytes are at hand and they are those that it commits to.
    #[must_use]
    pub fn verify(&self) -> bool {
        match (&self.seal, self.bytes()) {
            (Some(seal), Some(bytes)) => {
                bytes.len() as u64 == self.len && commitment(&seal.salt, bytes) == seal.commitment
            }
            _ => false,
        }
    }
}

impl Event {
    /// Every text in it, in the order of encoding.
    #[must_use]
    pub fn texts(&self) -> Vec<&Text> {
        let mut found = Vec::new();
        self.extra.texts(&mut found);
        self.body.texts(&mut found);
        found
    }

    /// Every text in it, in the order of encoding.
    #[must_use]
    pub fn texts_mut(&mut self) -> Vec<&mut Text> {
        let mut found = Vec::new();
        self.extra.texts_mut(&mut found);
        self.body.texts_mut(&mut found);
        found
    }

    /// Seals each text that is not sealed yet, each under a salt of its own. Salts must be random: they hide what was erased.
    pub fn seal(&mut self, salt: &mut dyn FnMut() -> [u8; 16]) {
        self.texts_mut()
            .into_iter()
            .filter(|text| text.seal.is_none())
            .for_each(|text| text.seal(salt()));
    }

    /// Takes all seals off: for another session, where the same words must be sealed anew.
    pub fn unseal(&mut self) {
        self.texts_mut()
            .into_iter()
            .for_each(|text| text.seal = None);
    }
}

/// Something that may hold texts.
trait Texts {
    fn texts<'a>(&'a self, found: &mut Vec<&'a Text>);
    fn texts_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Text>);
}

impl Texts for Text {
    fn texts<'a>(&'a self, found: &mut Vec<&'a Text>) {
        found.push(self);
    }
    fn texts_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Text>) {
        found.push(self);
    }
}

impl<T: Texts> Texts for Option<T> {
    fn texts<'a>(&'a self, found: &mut Vec<&'a Text>) {
        self.iter().for_each(|part| part.texts(found));
    }
    fn texts_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Text>) {
        self.iter_mut().for_each(|part| part.texts_mut(found));
    }
}

impl<T: Texts> Texts for Vec<T> {
    fn texts<'a>(&'a self, found: &mut Vec<&'a Text>) {
        self.iter().for_each(|part| part.texts(found));
    }
    fn texts_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Text>) {
        self.iter_mut().for_each(|part| part.texts_mut(found));
    }
}

/// A text with something beside it.
impl<T: Texts, U> Texts for (T, U) {
    fn texts<'a>(&'a self, found: &mut Vec<&'a Text>) {
        self.0.texts(found);
    }
    fn texts_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Text>) {
        self.0.texts_mut(found);
    }
}

impl Texts for Target {
    fn texts<'a>(&'a self, found: &mut Vec<&'a Text>) {
        if let Self::Checkpoint(label) = self {
            found.push(label);
        }
    }
    fn texts_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Text>) {
        if let Self::Checkpoint(label) = self {
            found.push(label);
        }
    }
}

/// Struct { fields with texts in order; the others }.
macro_rules! texts {
    ($($name:ident { $($field:ident),*; $($other:ident),* })*) => { $(
        impl Texts for $name {
            fn texts<'a>(&'a self, found: &mut Vec<&'a Text>) {
                let _ = &found;
                let Self { $($field,)* $($other: _,)* } = self;
                $($field.texts(found);)*
            }
            fn texts_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Text>) {
                let _ = &found;
                let Self { $($field,)* $($other: _,)* } = self;
                $($field.texts_mut(found);)*
            }
        }
    )* };
}

texts! {
    Block { raw; kind, image }
    Content { blocks; format, shape }
    Kept { name, raw; }
    Opened { session, parent, spill_root, host; kind }
    Closed { ; }
    Forked { session, from; seq, digest }
    Profile {
        provider, model, params, headers;
        wire, window, max_output, overhead_tokens, body_bytes, images_count, images_bytes, images_pixels, prefill, thinking,
        system_role, cache_edits
    }
    Policy { params; preset, auto, reactive }
    Rendering { ; version }
    System { content; }
    Tools { tools; }
    Message { content, response, model, issuer; role, issued, stop, authored, joins, calls, results }
    ToolResult { call, content, tool, child; block, status, bound }
    Inject { slot, content; lifetime, supersede }
    Replace { with, cause; blocks }
    Budget { ; judged }
    DeleteRange { cause; range, covered }
    Snip { cause; messages, covered }
    CacheEdit { id; calls, baseline }
    CacheAck { id; deleted_tokens }
    CacheReset { reason; }
    CollapseStage { id, summary; range }
    CollapseCommit { id, summary; range, covered }
    CollapseDiscard { id; }
    CompactPlan { id, instruction; range, trigger, level, chunks }
    CompactChunk { id, text; chunk }
    CompactCommit { id, summary; range, before, after, covered, boundary }
    CompactAbandon { id, reason; }
    FileRead { path; block, digest }
    Memory { id, text; covers, importance, scope }
    Todo { items; }
    Checkpoint { label, workspace; }
    Rollback { asked; to }
    Undo { ; event, to }
    Counted { ; tokenizer, counts }
    Issued { params; digest, cut, estimate, wire, rendering, profile, healed }
    Usage {
        request, raw, compaction;
        issued, input, output, cache_read, cache_write_5m, cache_write_1h, cache_deleted, repeats
    }
    Overflow { error; actual, limit, kind, issued }
    Breaker { ; name, state, value }
    Erased { ; events, pieces }
    CacheBreak { ; usage, before, after, byte, piece, event, cause }
    Done { error; action }
    Newer { texts; kind, schema, essential, body }
}

macro_rules! body_texts {
    ($($number:literal $kind:ident $name:literal $class:ident $undoable:literal $host:literal,)*) => {
        impl Texts for Body {
            fn texts<'a>(&'a self, found: &mut Vec<&'a Text>) {
                match self {
                    $(Self::$kind(body) => body.texts(found),)*
                    Self::Newer(body) => body.texts(found),
                }
            }
            fn texts_mut<'a>(&'a mut self, found: &mut Vec<&'a mut Text>) {
                match self {
                    $(Self::$kind(body) => body.texts_mut(found),)*
                    Self::Newer(body) => body.texts_mut(found),
                }
            }
        }
    };
}
with_kinds!(body_texts);
