//! Files of results: an event that names one is there only if the file is, whole.
//!
//! - Held against the directory before anything is opened: an opening writes again what is missing, and would hide it.
//! - The events name the folder in which the workload ran; what counts is the same place in the directory that is looked at.

use crate::logs::Logs;
use crate::{Failure, Outcome};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The folder of results in a data directory.
const FOLDER: &str = "spills";

/// Files by their paths in the folder, with their bytes.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Everything in the folder of results.
pub(crate) fn read(dir: &Path) -> Files {
    let mut files = Files::new();
    let folder = dir.join(FOLDER);
    let inside = |path: &Path| std::fs::read_dir(path).into_iter().flatten().flatten();
    for session in inside(&folder) {
        for file in inside(&session.path()) {
            let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            let bytes = std::fs::read(file.path()).unwrap_or_default();
            files.insert(format!("{}/{}", name(&session), name(&file)), bytes);
        }
    }
    files
}

/// Every file that an event names is there and holds its result; how many there are.
pub(crate) fn check(logs: &Logs, files: &Files) -> Outcome<usize> {
    let mut named = 0;
    for (session, lines) in logs {
        for line in lines.iter().filter(|line| line["type"] == "replace") {
            let Some(path) = path(line) else { continue };
            named += 1;
            let result = line["blocks"][0][0].as_u64();
            let result = result.and_then(|seq| lines.get(usize::try_from(seq).ok()?));
            let whole = result.and_then(|result| result["content"].as_str());
            let found = files.get(path).map(Vec::as_slice);
            if whole.is_none() || found != whole.map(str::as_bytes) {
                let detail = format!(
                    "{session:?}: {path} is named and holds {:?} bytes",
                    found.map(<[u8]>::len)
                );
                return Err(Failure::new("FILE", detail));
            }
        }
    }
    Ok(named)
}

/// What an event says of its file, below the folder.
fn path(line: &Value) -> Option<&str> {
    let mut words = line["with"].as_str()?.split_whitespace();
    let below = format!("/{FOLDER}/");
    words.find_map(|word| word.rsplit_once(&below).map(|(_, path)| path))
}
