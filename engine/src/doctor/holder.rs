//! Whether a live process holds a directory, found out without touching its lock: taking it for a moment would make another
//! process fail that opens the directory just then.

use std::path::Path;

/// Who holds the directory, as far as it can be seen.
pub(super) fn of(path: &Path) -> Option<String> {
    let lock = path.join("lock");
    (answers(path) || locked(&lock)).then(|| named(&lock))
}

/// What the lock file says of its holder.
fn named(lock: &Path) -> String {
    // Reading a pipe would wait for whoever is at its other end.
    let is_file = std::fs::metadata(lock).is_ok_and(|about| about.is_file());
    let text = is_file.then(|| std::fs::read(lock).ok()).flatten();
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(text.get(..256).unwrap_or(&text))
        .trim()
        .to_owned();
    if text.is_empty() {
        "a process that does not say who it is".to_owned()
    } else {
        text
    }
}

/// Somebody serves the directory.
#[cfg(unix)]
fn answers(path: &Path) -> bool {
    crate::share::is_served(path)
}

#[cfg(not(unix))]
fn answers(_path: &Path) -> bool {
    false
}

/// The system lists a lock on the file.
#[cfg(target_os = "linux")]
fn locked(lock: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(about) = std::fs::metadata(lock) else {
        return false;
    };
    let list = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let inode = format!(":{}", about.ino());
    // `1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF`: the sixth word is device and inode. Devices are written in more than
    // one way, and an inode of the same number elsewhere only makes us look twice.
    list.lines()
        .filter_map(|line| line.split_whitespace().nth(5))
        .any(|place| place.ends_with(&inode))
}

#[cfg(not(target_os = "linux"))]
fn locked(_lock: &Path) -> bool {
    false
}
