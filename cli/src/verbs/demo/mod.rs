//! `demo`: the main job in one go: import, project, roll back, project, undo, explain.

mod story;

use crate::args::{Cli, Demo};
use crate::reach::Reach;
use crate::{Answer, print};
use recount::Error;
use std::path::{Path, PathBuf};

/// A short session of our own, shown when no recording is at hand.
const SAMPLE: &str = include_str!("sample.json");
/// Where recordings lie when there are any, seen from the checkout.
const RECORDINGS: &str = "../shared/corpus/claude-code-jsonl";

pub(crate) fn run(cli: &Cli, args: &Demo) -> crate::Outcome {
    let scratch = Scratch::new()?;
    let data = cli
        .data
        .clone()
        .unwrap_or_else(|| scratch.path.join("data"));
    let here = Cli {
        data: Some(data),
        segment_bytes: None,
        json: false,
        verb: crate::args::Verb::Hello,
    };
    let transcript = match &args.transcript {
        Some(path) => path.clone(),
        None => default(&scratch.path)?,
    };
    print::line(&format!(
        "{} {}",
        print::bold("transcript"),
        print::clean(&transcript.display().to_string())
    ));
    let reach = Reach::open(&here)?;
    story::tell(&reach, &transcript)?;
    Ok(Answer::Yes)
}

/// The longest recording, else the sample, written down.
fn default(scratch: &Path) -> Result<PathBuf, Error> {
    if let Some(recording) = longest(Path::new(RECORDINGS)) {
        return Ok(recording);
    }
    let path = scratch.join("sample.json");
    std::fs::write(&path, SAMPLE).map_err(|cause| failed(&cause, &path))?;
    Ok(path)
}

/// The largest `.jsonl` file below a folder.
fn longest(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let files = entries.filter_map(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return longest(&path);
        }
        path.extension()
            .is_some_and(|ending| ending == "jsonl")
            .then_some(path)
    });
    files.max_by_key(|path| {
        (
            std::fs::metadata(path).map_or(0, |facts| facts.len()),
            path.clone(),
        )
    })
}

fn failed(cause: &std::io::Error, path: &Path) -> Error {
    Error::invalid(format!(
        "cannot be written: {cause}; path={}",
        path.display()
    ))
}

/// A folder that goes when the demo ends.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new() -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("recount-demo-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|cause| failed(&cause, &path))?;
        Ok(Self { path })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
