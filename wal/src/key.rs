//! The directory's secret: 32 random bytes that ids and checksums are made with.

use std::io;

use crate::disk::Disk;
use crate::error::OpenError;
use crate::format::KEY_FILE;

const UNFINISHED: &str = "key.new";

/// Chooses a new secret.
pub(crate) fn random() -> Result<[u8; 32], OpenError> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).map_err(|error| OpenError::Io {
        what: "draw a random key".to_owned(),
        source: io::Error::other(error.to_string()),
    })?;
    Ok(key)
}

/// Writes the secret, durably, whole or not at all.
pub(crate) fn store(disk: &dyn Disk, key: &[u8; 32]) -> Result<(), OpenError> {
    let stored = || -> io::Result<()> {
        if disk.list("")?.iter().any(|name| name == UNFINISHED) {
            disk.remove(UNFINISHED)?;
        }
        let file = disk.create(UNFINISHED)?;
        file.write_at(key, 0)?;
        file.sync_data()?;
        disk.rename(UNFINISHED, KEY_FILE)?;
        disk.sync_dir("")
    };
    stored().map_err(OpenError::io("write the key file"))
}
