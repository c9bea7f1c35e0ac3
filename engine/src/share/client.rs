//! A client's side: a pool of connections, each used by one request at a time.

use super::{request, socket};
use crate::lock::lock;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Connections to the process that holds a directory.
#[derive(Debug)]
pub(super) struct Client {
    dir: PathBuf,
    idle: Mutex<Vec<BufReader<UnixStream>>>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Lost {
    /// The request did not reach the holder.
    Before,
    /// The request may have been carried out.
    After,
}

impl Client {
    /// Connects once, to see that somebody is there.
    pub(super) fn connect(dir: &Path) -> io::Result<Self> {
        let first = BufReader::new(socket::connect(dir)?);
        Ok(Self {
            dir: dir.to_owned(),
            idle: Mutex::new(vec![first]),
        })
    }

    /// Sends a line, waits for its answer; a line that is not a request has none.
    pub(super) fn ask(&self, line: &[u8]) -> Result<String, Lost> {
        let pooled = lock(&self.idle).pop();
        let mut connection = match pooled {
            Some(connection) => connection,
            None => BufReader::new(socket::connect(&self.dir).map_err(|_| Lost::Before)?),
        };
        send(connection.get_mut(), line)?;
        let mut answer = String::new();
        connection.read_line(&mut answer).map_err(|_| Lost::After)?;
        if answer.pop() != Some('\n') {
            return Err(Lost::After);
        }
        if request::is_closing(&answer) {
            return Err(Lost::Before);
        }
        lock(&self.idle).push(connection);
        Ok(answer)
    }
}

fn send(stream: &mut UnixStream, line: &[u8]) -> Result<(), Lost> {
    // A holder takes only whole lines: a line whose end was not written is not carried out.
    stream.write_all(line).map_err(|_| Lost::Before)?;
    stream.write_all(b"\n").map_err(|_| Lost::Before)
}
