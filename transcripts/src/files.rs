//! The files beside a transcript, as the caller shows them.

use std::collections::BTreeMap;

/// Read access to the folder in which a transcript lies. Paths are relative to that folder, with `/` between names.
pub trait Files {
    /// The names of the files in a folder (`""` is the transcript's own), in any order; empty when there is no such folder.
    fn list(&self, folder: &str) -> Vec<String>;

    /// The bytes of a file; `None` when it is missing or cannot be read.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
}

/// No files beside the transcript.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn list(&self, _folder: &str) -> Vec<String> {
        Vec::new()
    }

    fn read(&self, _path: &str) -> Option<Vec<u8>> {
        None
    }
}

/// Files in memory, by path.
impl Files for BTreeMap<String, Vec<u8>> {
    fn list(&self, folder: &str) -> Vec<String> {
        let inside = |path: &String| {
            let rest = if folder.is_empty() {
                path.as_str()
            } else {
                path.strip_prefix(folder)?.strip_prefix('/')?
            };
            (!rest.contains('/')).then(|| rest.to_owned())
        };
        self.keys().filter_map(inside).collect()
    }

    fn read(&self, path: &str) -> Option<Vec<u8>> {
        self.get(path).cloned()
    }
}
