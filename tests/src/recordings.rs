//! Recordings of real sessions, where they lie beside the checkout; and chance from a seed.
//!
//! - Nothing of them is in this tree; a test that needs them says that it was left out when they are not there.

use serde_json::Value;
use std::path::{Path, PathBuf};

/// The recordings: beside the checkout, or where `RECOUNT_SHARED` says.
#[must_use]
pub fn corpus() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("RECOUNT_SHARED").map_or(beside, PathBuf::from);
    let corpus = shared.join("corpus");
    if corpus.is_dir() {
        return Some(corpus);
    }
    eprintln!("left out: no recordings at {}", corpus.display());
    None
}

/// Every Claude Code recording, those with a fault included, smallest first; none when they are not there.
#[must_use]
pub fn claude_code() -> Vec<PathBuf> {
    let Some(corpus) = corpus() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    below(&corpus.join("claude-code-jsonl"), &mut found);
    let mut faults = Vec::new();
    below(&corpus.join("faults"), &mut faults);
    found.extend(
        faults
            .into_iter()
            .filter(|(_, path)| stem(path).starts_with("cc-")),
    );
    found.sort();
    found.into_iter().map(|(_, path)| path).collect()
}

fn below(folder: &Path, found: &mut Vec<(u64, PathBuf)>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            below(&path, found);
        } else {
            let bytes = entry.metadata().map_or(0, |facts| facts.len());
            found.push((bytes, path));
        }
    }
}

/// A file's name without its ending.
#[must_use]
pub fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// What a file of lines holds, counted without the reader that is judged.
#[derive(Clone, Debug, Default)]
pub struct Count {
    /// JSON values.
    pub records: u64,
    /// Where bytes lie that are no JSON value: line (from 1) and the first byte.
    pub damaged: Vec<(u64, u64)>,
    /// Lines, blank ones included.
    pub lines: u64,
}

/// Counts values line by line; several may share a line, a line that breaks off is damaged from its first bad byte on.
#[must_use]
pub fn count(bytes: &[u8]) -> Count {
    let mut count = Count::default();
    let mut offset = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        count.lines += 1;
        let mark = if offset == 0 && line.starts_with(b"\xef\xbb\xbf") {
            3
        } else {
            0
        };
        let text = line.get(mark..).unwrap_or_default();
        let mut values =
            serde_json::Deserializer::from_slice(text).into_iter::<&serde_json::value::RawValue>();
        let mut end = 0;
        while let Some(value) = values.next() {
            if value.is_err() {
                let blank = text.get(end..).unwrap_or_default();
                let skipped = blank.iter().take_while(|byte| byte.is_ascii_whitespace());
                let at = offset + mark + end + skipped.count();
                count.damaged.push((count.lines, at as u64));
                break;
            }
            count.records += 1;
            end = values.byte_offset();
        }
        offset += line.len();
    }
    count
}

/// Numbers from a seed (splitmix64): the same on every machine.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// From words: each test and file has its own.
    #[must_use]
    pub fn new(words: &str) -> Self {
        let digest = blake3::hash(words.as_bytes());
        let mut seed = [0; 8];
        seed.copy_from_slice(&digest.as_bytes()[..8]);
        Self(u64::from_le_bytes(seed))
    }

    /// Below a limit; 0 for a limit of 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit.max(1)
    }
}

/// The bytes of a recording with one letter of an early text changed, and the line (from 1) of the change; none when no user text has one.
#[must_use]
pub fn rewritten(bytes: &[u8]) -> Option<(Vec<u8>, u64)> {
    let mut offset = 0;
    for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        if let Some(at) = letter(line) {
            let mut changed = bytes.to_vec();
            let byte = changed.get_mut(offset + at)?;
            *byte = if *byte == b'q' { b'x' } else { b'q' };
            return Some((changed, number));
        }
        offset += line.len();
    }
    None
}

/// A place in a line where a person's message has a letter.
fn letter(line: &[u8]) -> Option<usize> {
    let record: Value = serde_json::from_slice(line).ok()?;
    let content = &record["message"]["content"];
    let said = content.as_str().or_else(|| content[0]["text"].as_str())?;
    let word = said
        .split(|c: char| !c.is_ascii_alphabetic())
        .find(|word| word.len() > 3)?;
    let start = find(line, b"\"message\"")?;
    let start = start + find(line.get(start..)?, b"\"content\"")? + 9;
    let at = find(line.get(start..)?, word.as_bytes())?;
    (record["type"] == "user").then_some(start + at + 1)
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}
