//! What must have been synced at the moment when an answer calls a position durable, by the recording alone.
//!
//! - Every byte of the frames of the session up to that position was covered by a sync of its file that began after the write had returned and
//!   had returned before the answer was written.
//! - Every name on the way to those bytes, and to the directory's key, was covered by a sync of the folder that it is in.
//! - Where a segment was replaced by another file, all of that file counts for each of its frames.
//! - Frames are found by `wal/FORMAT.md`, by no code of ours.

use crate::trace::{Call, Did};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An answer's claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Claim {
    /// The id of the request.
    pub(crate) id: u64,
    pub(crate) session: String,
    /// The position up to which all is durable.
    pub(crate) durable: u64,
}

/// Where the frame of a position stands.
#[derive(Clone, Debug)]
struct Frame {
    stream: [u8; 16],
    seq: u64,
    file: PathBuf,
    from: u64,
    to: u64,
}

/// A recording as it goes along.
#[derive(Default)]
struct Disk {
    /// What files hold, as the writes that returned say.
    bytes: BTreeMap<PathBuf, Vec<u8>>,
    /// Stretches that no sync covers, with the line where their write returned.
    loose: BTreeMap<PathBuf, Vec<(u64, u64, usize)>>,
    /// Names that no sync of their folder covers, with the line where the call returned.
    names: BTreeMap<PathBuf, usize>,
    /// Frames of files that are gone, in the files that took their places.
    carried: Vec<Frame>,
}

/// Claims that hold, and the first that does not, with the reason.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    pub(crate) held: Vec<Claim>,
    pub(crate) broken: Option<(Claim, String)>,
}

/// Checks every claim: `claims` makes them out of a line that was said.
pub(crate) fn check(calls: &[Call], data: &Path, claims: &dyn Fn(&str) -> Vec<Claim>) -> Verdict {
    let mut disk = Disk::default();
    let mut verdict = Verdict::default();
    let mut said = Vec::new();
    for call in calls {
        let Did::Said(bytes) = &call.did else {
            disk.take(call);
            continue;
        };
        // Syncs return in the order of `calls`, so those taken by now had returned; this line may have begun before the last of them did.
        let began = call.began;
        said.extend_from_slice(bytes);
        while let Some(end) = said.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = said.drain(..=end).collect();
            for claim in claims(&String::from_utf8_lossy(&line)) {
                // What was synced between the beginning of the answer and its end came too late.
                let before = Disk::up_to(calls, began);
                match before.broken(data, &claim) {
                    None => verdict.held.push(claim),
                    Some(why) => {
                        verdict.broken = Some((claim, why));
                        return verdict;
                    }
                }
            }
        }
    }
    verdict
}

impl Disk {
    /// What is known of calls that had returned before a line.
    fn up_to(calls: &[Call], line: usize) -> Disk {
        let mut disk = Disk::default();
        for call in calls.iter().filter(|call| call.returned < line) {
            disk.take(call);
        }
        disk
    }

    fn take(&mut self, call: &Call) {
        match &call.did {
            Did::Wrote(file, at, bytes) => self.wrote(file, *at, bytes, call.returned),
            Did::Synced(path) => self.synced(path, call.began),
            Did::Made(path) => {
                // Opening a file that is there already makes no name.
                if !self.bytes.contains_key(path) && !self.names.contains_key(path) {
                    self.bytes.entry(path.clone()).or_default();
                    self.names.insert(path.clone(), call.returned);
                }
            }
            Did::Renamed(from, to) => {
                let carried = self.frames_of(to);
                self.carry(&carried, to);
                self.names.remove(from);
                // Until the folder is synced a name that stood there already may mean the old file, which is as good.
                if !self.bytes.contains_key(to) {
                    self.names.insert(to.clone(), call.returned);
                }
                let moved = self.bytes.remove(from).unwrap_or_default();
                self.bytes.insert(to.clone(), moved);
                let loose = self.loose.remove(from).unwrap_or_default();
                self.loose.insert(to.clone(), loose);
            }
            Did::Removed(path) => {
                let carried = self.frames_of(path);
                self.bytes.remove(path);
                let twin = self.bytes.keys().find(|file| {
                    file.parent() == path.parent() && file.file_stem() == path.file_stem()
                });
                if let Some(twin) = twin.cloned() {
                    self.carry(&carried, &twin);
                }
                self.loose.remove(path);
                self.names.remove(path);
            }
            Did::Said(_) => {}
        }
    }

    fn wrote(&mut self, file: &Path, at: u64, bytes: &[u8], returned: usize) {
        let end = at + bytes.len() as u64;
        let held = self.bytes.entry(file.to_owned()).or_default();
        if held.len() < place(end) {
            held.resize(place(end), 0);
        }
        held[place(at)..place(end)].copy_from_slice(bytes);
        let loose = self.loose.entry(file.to_owned()).or_default();
        loose.push((at, end, returned));
    }

    /// Covers what had returned before the sync began.
    fn synced(&mut self, path: &Path, began: usize) {
        if let Some(loose) = self.loose.get_mut(path) {
            loose.retain(|(_, _, returned)| *returned > began);
        }
        self.names
            .retain(|name, returned| name.parent() != Some(path) || *returned > began);
    }

    /// Why a claim does not hold.
    fn broken(&self, data: &Path, claim: &Claim) -> Option<String> {
        let key = data.join("key");
        let Some(secret) = self.bytes.get(&key).and_then(|key| key.first_chunk()) else {
            return Some("there is no key".to_owned());
        };
        if let Some(why) = self.loose_below(&key, 0, 32) {
            return Some(why);
        }
        let digest = blake3::keyed_hash(secret, claim.session.as_bytes());
        let mut missing: Vec<u64> = (0..=claim.durable).collect();
        for frame in self.frames(&data.join("segments")) {
            if digest.as_bytes().starts_with(&frame.stream) && frame.seq <= claim.durable {
                missing.retain(|seq| *seq != frame.seq);
                if let Some(why) = self.loose_below(&frame.file, frame.from, frame.to) {
                    return Some(format!("seq={}: {why}", frame.seq));
                }
            }
        }
        missing
            .first()
            .map(|seq| format!("seq={seq} was never written"))
    }

    /// A byte between the offsets, or a name of the path, that no sync covers.
    fn loose_below(&self, file: &Path, from: u64, to: u64) -> Option<String> {
        let loose = self.loose.get(file).into_iter().flatten();
        if let Some((begin, end, _)) = loose
            .clone()
            .find(|(begin, end, _)| *begin < to && from < *end)
        {
            return Some(format!(
                "bytes {begin}..{end} of {} are not synced",
                file.display()
            ));
        }
        file.ancestors()
            .find(|name| self.names.contains_key(*name))
            .map(|name| format!("the name {} is not synced", name.display()))
    }

    /// These frames are in another file now, somewhere.
    fn carry(&mut self, frames: &[Frame], file: &Path) {
        self.carried.extend(frames.iter().map(|frame| Frame {
            file: file.to_owned(),
            from: 0,
            to: u64::MAX,
            ..frame.clone()
        }));
    }

    /// The frames of records in all segments.
    fn frames(&self, segments: &Path) -> Vec<Frame> {
        let files = self.bytes.keys();
        let files = files.filter(|file| file.parent() == Some(segments));
        files
            .flat_map(|file| self.frames_of(file))
            .chain(self.carried.iter().cloned())
            .collect()
    }

    /// The frames of records in a segment (`wal/FORMAT.md`, 3 and 4.1).
    fn frames_of(&self, file: &Path) -> Vec<Frame> {
        const HEADER: usize = 128;
        const HEAD: usize = 256;
        let mut found = Vec::new();
        let bytes = self.bytes.get(file).map(Vec::as_slice).unwrap_or_default();
        let mut at = HEADER;
        while let Some(head) = bytes.get(at..at + HEAD) {
            let length = place(number(head, 8));
            if !head.starts_with(b"RCF\x01") || number(head, 24) != at as u64 || length < HEAD {
                break;
            }
            if head[4] == 1 {
                let mut stream = [0; 16];
                stream.copy_from_slice(&head[48..64]);
                found.push(Frame {
                    stream,
                    seq: number(head, 64),
                    file: file.to_owned(),
                    from: at as u64,
                    to: (at + length) as u64,
                });
            }
            at += length;
        }
        found
    }
}

fn number(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

fn place(number: u64) -> usize {
    usize::try_from(number).expect("offsets fit")
}
