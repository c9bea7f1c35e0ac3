//! Idempotency keys: what was done under a key is done once.
//!
//! - A key and what was asked under it are remembered only as keyed hashes: 16 bytes each, the tag of the batch in the log.
//! - Remembered for the life of the session, rolled back or not; a fork knows none of its parent's.

use crate::{Error, ErrorKind};
use recount_events::Seq;
use std::collections::BTreeMap;

/// A key with the fingerprint of what was asked under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    name: [u8; 16],
    print: [u8; 16],
}

impl Key {
    /// Hashes a key and what is asked under it (parts are told apart by their lengths).
    pub(crate) fn new<'a>(
        secret: &[u8; 32],
        key: &str,
        parts: impl IntoIterator<Item = &'a [u8]>,
    ) -> Self {
        let mut print = blake3::Hasher::new_keyed(secret);
        print.update(b"fingerprint");
        for part in parts {
            print.update(&(part.len() as u64).to_le_bytes());
            print.update(part);
        }
        let mut name = blake3::Hasher::new_keyed(secret);
        name.update(b"key");
        name.update(key.as_bytes());
        Self {
            name: half(&name),
            print: half(&print),
        }
    }

    /// The tag of the batch in the log.
    pub(crate) fn tag(self) -> [u8; 32] {
        let mut tag = [0; 32];
        let (name, print) = tag.split_at_mut(16);
        name.copy_from_slice(&self.name);
        print.copy_from_slice(&self.print);
        tag
    }
}

fn half(hasher: &blake3::Hasher) -> [u8; 16] {
    let mut half = [0; 16];
    hasher.finalize_xof().fill(&mut half);
    half
}

/// What was done under a key: the positions of its batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repeat {
    /// The first position.
    pub(crate) first: Seq,
    /// The last position.
    pub(crate) last: Seq,
}

/// The keys of a session.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keys {
    known: BTreeMap<[u8; 16], ([u8; 16], Repeat)>,
}

impl Keys {
    /// What was done under this key before; other content under it is a conflict.
    pub(crate) fn find(&self, key: Key) -> Result<Option<Repeat>, Error> {
        match self.known.get(&key.name) {
            None => Ok(None),
            Some((print, repeat)) if *print == key.print => Ok(Some(*repeat)),
            Some((_, repeat)) => Err(conflict(*repeat)),
        }
    }

    /// Those whose batches are not later than a position.
    pub(crate) fn upto(&self, head: Seq) -> Self {
        let known = self
            .known
            .iter()
            .filter(|(_, (_, repeat))| repeat.last <= head);
        Self {
            known: known.map(|(name, what)| (*name, *what)).collect(),
        }
    }

    /// Name, print, first and last position of each.
    pub(crate) fn list(&self) -> Vec<([u8; 16], [u8; 16], Seq, Seq)> {
        let known = self.known.iter();
        known
            .map(|(name, (print, repeat))| (*name, *print, repeat.first, repeat.last))
            .collect()
    }

    /// From such a list.
    pub(crate) fn from_list(list: Vec<([u8; 16], [u8; 16], Seq, Seq)>) -> Self {
        let known = list.into_iter();
        Self {
            known: known
                .map(|(name, print, first, last)| (name, (print, Repeat { first, last })))
                .collect(),
        }
    }

    /// Remembers the tag of a logged batch.
    pub(crate) fn remember(&mut self, tag: [u8; 32], repeat: Repeat) {
        let (name, print) = tag.split_at(16);
        if let (Ok(name), Ok(print)) = (name.try_into(), print.try_into()) {
            self.known.entry(name).or_insert((print, repeat));
        }
    }
}

fn conflict(repeat: Repeat) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!(
            "the key was used for something else; first={} last={}",
            repeat.first, repeat.last
        ),
    )
    .with_next("use another key for another request")
}
