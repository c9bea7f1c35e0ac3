//! The holder's side: a thread that accepts, and one for each connection.

use super::{request, socket};
use crate::lock::lock;
use crate::{Dispatcher, MAX_LINE};
use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long closing waits for requests that are being answered.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often it looks, and how often a connection is accepted while the system refuses.
const PAUSE: Duration = Duration::from_millis(2);

/// Serves a directory until it is dropped.
#[derive(Debug)]
pub(super) struct Server {
    path: PathBuf,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What the threads of a server share.
#[derive(Debug, Default)]
struct Shared {
    over: AtomicBool,
    connections: Mutex<BTreeMap<u64, UnixStream>>,
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, BTreeMap<u64, UnixStream>> {
        lock(&self.connections)
    }
}

impl Server {
    /// Listens and serves.
    pub(super) fn start(dir: &Path, dispatcher: Dispatcher) -> io::Result<Self> {
        let (listener, path) = socket::listen(dir)?;
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let accepting = std::thread::Builder::new()
            .name("recount-accept".to_owned())
            .spawn(move || accept(&listener, &dispatcher, &theirs))?;
        Ok(Self {
            path,
            shared,
            accepting: Some(accepting),
        })
    }
}

impl Drop for Server {
    /// A client must be able to tell whether its request was carried out: whoever reached the socket is answered, be it that
    /// the holder is closing.
    fn drop(&mut self) {
        // From here on nobody new finds the socket; those who did are in its queue.
        let aside = socket::aside(&self.path);
        self.shared.over.store(true, Ordering::Release);
        // A connection of our own wakes the thread that accepts.
        let woken = UnixStream::connect(&aside).is_ok();
        let _ = std::fs::remove_file(&aside);
        if let (true, Some(accepting)) = (woken, self.accepting.take()) {
            let _ = accepting.join();
        }
        // What is being answered is answered to its end; nothing more is read.
        for connection in self.shared.connections().values() {
            let _ = connection.shutdown(Shutdown::Read);
        }
        let started = Instant::now();
        while !self.shared.connections().is_empty() && started.elapsed() < PATIENCE {
            std::thread::sleep(PAUSE);
        }
    }
}

fn accept(listener: &UnixListener, dispatcher: &Dispatcher, shared: &Arc<Shared>) {
    let mut number = 0;
    for stream in listener.incoming() {
        match stream {
            Ok(stream) => {
                number += 1;
                admit(number, stream, dispatcher, shared);
            }
            // Without a free descriptor whoever waits goes on waiting; there may be one in a moment.
            Err(_) => std::thread::sleep(PAUSE),
        }
        if shared.over.load(Ordering::Acquire) {
            break;
        }
    }
    // Those who are in the queue are told that the holder is closing.
    while listener.set_nonblocking(true).is_ok() {
        let Ok((stream, _)) = listener.accept() else {
            return;
        };
        if stream.set_nonblocking(false).is_ok() {
            number += 1;
            admit(number, stream, dispatcher, shared);
        }
    }
}

fn admit(number: u64, stream: UnixStream, dispatcher: &Dispatcher, shared: &Arc<Shared>) {
    let Ok(twin) = stream.try_clone() else {
        return turn_away(&stream);
    };
    shared.connections().insert(number, twin);
    let (dispatcher, theirs) = (dispatcher.clone(), Arc::clone(shared));
    let spawned = std::thread::Builder::new()
        .name("recount-serve".to_owned())
        .spawn(move || {
            // A thread that dies over a request must not be waited for.
            let run = AssertUnwindSafe(|| answer(&stream, &dispatcher, &theirs.over));
            let _ = catch_unwind(run);
            theirs.connections().remove(&number);
        });
    if spawned.is_err()
        && let Some(twin) = shared.connections().remove(&number)
    {
        turn_away(&twin);
    }
}

/// Without a thread nobody reads from a connection: the client is told that nothing was done, before it has asked or not, and asks again.
pub(super) fn turn_away(mut stream: &UnixStream) {
    let answer = request::closing(b"") + "\n";
    // Whoever is gone needs no answer.
    let _ = stream.write_all(answer.as_bytes());
}

/// Answers the lines of one connection, one after the other.
fn answer(stream: &UnixStream, dispatcher: &Dispatcher, over: &AtomicBool) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        reader
            .by_ref()
            .take(MAX_LINE as u64 + 2)
            .read_until(b'\n', &mut line)?;
        // A line without its end is one whose client died, or the end of the connection.
        if line.last() != Some(&b'\n') {
            return Ok(());
        }
        let request = line.strip_suffix(b"\n").unwrap_or(&line);
        let answer = if over.load(Ordering::Acquire) {
            Some(request::closing(request))
        } else {
            dispatcher.call_bytes(request)
        };
        if let Some(mut answer) = answer {
            answer.push('\n');
            (&mut &*stream).write_all(answer.as_bytes())?;
        }
    }
}
