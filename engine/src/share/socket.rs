//! Where the socket lies.
//!
//! - `DIR/socket`; when that path, links resolved, is too long for a socket's address, a socket in the temporary folder named by a digest of the
//!   directory, and `DIR/socket.path` says where.
//! - Both are for the owner alone.

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// Bytes that fit into the address of a socket on all platforms (104 on macOS, 108 on Linux, one for the end).
const ADDRESS_MAX: usize = 100;

/// Listens. Only the holder of the directory's lock may call this: what lies there is left over.
pub(super) fn listen(dir: &Path) -> io::Result<(UnixListener, PathBuf)> {
    let path = place(dir)?;
    remove(&path)?;
    let listener = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    Ok((listener, path))
}

/// Connects to the holder.
pub(super) fn connect(dir: &Path) -> io::Result<UnixStream> {
    // As the holder sees it, who may have opened it by another name.
    let dir = dir.canonicalize()?;
    let pointer = dir.join("socket.path");
    // Reading a pipe would wait for whoever is at its other end.
    let is_file = std::fs::metadata(&pointer).is_ok_and(|about| about.is_file());
    let named = is_file.then(|| std::fs::read(pointer).ok()).flatten();
    let path = named.map_or_else(
        || dir.join("socket"),
        |bytes| PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)),
    );
    UnixStream::connect(path)
}

/// Gives the socket a name at which no client looks; its own when that fails.
pub(super) fn aside(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push("-");
    let aside = PathBuf::from(name);
    match std::fs::rename(path, &aside) {
        Ok(()) => aside,
        Err(_) => path.to_owned(),
    }
}

fn place(dir: &Path) -> io::Result<PathBuf> {
    // Whoever comes by another, longer name must find it too.
    let whole = dir.canonicalize()?;
    let near = whole.join("socket");
    let pointer = whole.join("socket.path");
    if near.as_os_str().len() <= ADDRESS_MAX {
        remove(&pointer)?;
        return Ok(near);
    }
    let name = blake3::hash(whole.as_os_str().as_bytes()).to_hex();
    let far = std::env::temp_dir().join(format!("recount-{}", &name.as_str()[..24]));
    std::fs::write(&pointer, far.as_os_str().as_bytes())?;
    Ok(far)
}

fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    }
}
