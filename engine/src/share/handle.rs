//! A directory that answers, whoever holds it.

use super::client::{Client, Lost};
use super::request;
use super::server::Server;
use crate::lock::lock;
use crate::protocol::too_long;
use crate::{Dispatcher, Engine, Error, ErrorKind, MAX_LINE, Options};
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How often the lock and the socket are tried before a directory counts as locked: a holder may be starting or dying.
const TRIES: u32 = 100;
/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(30);

/// A data directory, held by this process or reached through the one that holds it.
///
/// Clone is cheap. Send and Sync: requests may run concurrently; those of one session queue up in the engine.
#[derive(Clone, Debug)]
pub struct Handle {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    dir: PathBuf,
    options: Options,
    way: Mutex<Way>,
}

/// The last handle is gone: others are no longer served, what is pending is written, the lock is given back.
impl Drop for Inner {
    fn drop(&mut self) {
        let way = self.way.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Who wants to know what was lost by it closes the handle first.
        let _ = way.close();
    }
}

impl Way {
    fn close(&mut self) -> Result<(), Error> {
        match self {
            Way::Local(dispatcher, server) => {
                server.take();
                dispatcher.engine().close()
            }
            Way::Remote(_) => Ok(()),
        }
    }
}

/// How the directory is reached at present.
#[derive(Clone, Debug)]
enum Way {
    /// This process holds it, and serves the others.
    Local(Dispatcher, Option<Arc<Server>>),
    /// Another process does.
    Remote(Arc<Client>),
}

impl Handle {
    /// Takes the directory, or reaches the process that has it.
    ///
    /// # Errors
    /// Those of [`Engine::open`]; `locked` only when a process has the directory and cannot be reached.
    pub fn open(dir: &Path, options: Options) -> Result<Self, Error> {
        let dir = crate::place::whole(dir);
        let way = Mutex::new(find(&dir, &options)?);
        Ok(Self {
            inner: Arc::new(Inner { dir, options, way }),
        })
    }

    /// The engine, when this process holds the directory; it is closed with the last handle.
    #[must_use]
    pub fn local(&self) -> Option<Engine> {
        match self.way() {
            Way::Local(dispatcher, _) => Some(dispatcher.engine().clone()),
            Way::Remote(_) => None,
        }
    }

    /// Closes the directory, if this process holds it: others are no longer served, what is pending is written, the lock is given back.
    ///
    /// # Errors
    /// Those of [`Engine::close`].
    pub fn close(&self) -> Result<(), Error> {
        lock(&self.inner.way).close()
    }

    /// Who is told of what nobody asked for, while this process holds the directory.
    #[must_use]
    pub fn notices(&self) -> &crate::Notices {
        &self.inner.options.notices
    }

    /// Answers a method: from the parameters' JSON to the result's.
    ///
    /// # Errors
    /// Those of the method; `too_large` for what another process holds and does not fit into a line ([`MAX_LINE`]), where this
    /// process, if it held the directory, would take it; `unknown` when the holder died over a request that has no key.
    pub fn call(&self, method: &str, params: &str) -> Result<Box<RawValue>, Error> {
        if let Way::Local(dispatcher, _) = self.way() {
            return dispatcher.invoke(method, Some(params));
        }
        let line = request::line(method, params);
        request::open(&self.line(line.as_bytes()).unwrap_or_default())
    }

    /// Answers a JSON-RPC line; a blank one has no answer.
    #[must_use]
    pub fn line(&self, line: &[u8]) -> Option<String> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        match self.pass(line) {
            Ok(answer) => answer,
            Err(error) => Some(request::refuse(line, &error)),
        }
    }

    fn pass(&self, line: &[u8]) -> Result<Option<String>, Error> {
        for _ in 0..TRIES {
            let client = match self.way() {
                Way::Local(dispatcher, _) => return Ok(dispatcher.call_bytes(line)),
                Way::Remote(client) => client,
            };
            if line.len() > MAX_LINE {
                return Err(too_long(line.len()));
            }
            match client.ask(line) {
                Ok(answer) => return Ok(Some(answer)),
                Err(Lost::After) if !request::may_repeat(line) => return Err(died()),
                Err(_) => self.again(&client)?,
            }
        }
        Err(Error::new(
            ErrorKind::Busy,
            format!("the directory changed hands too often; tries={TRIES}"),
        ))
    }

    /// Finds the way anew after a client lost its holder; another thread may have done so already.
    fn again(&self, lost: &Arc<Client>) -> Result<(), Error> {
        let mut way = lock(&self.inner.way);
        if matches!(&*way, Way::Remote(client) if Arc::ptr_eq(client, lost)) {
            *way = find(&self.inner.dir, &self.inner.options)?;
        }
        Ok(())
    }

    fn way(&self) -> Way {
        lock(&self.inner.way).clone()
    }
}

fn died() -> Error {
    Error::new(
        ErrorKind::Unknown,
        "the process that holds the directory died over this request",
    )
    .with_next("look at the log, or send requests with a key: they are repeated without harm")
}

/// Takes the lock, or connects to whoever has it.
fn find(dir: &Path, options: &Options) -> Result<Way, Error> {
    let mut tries = 0;
    loop {
        let locked = match Engine::open(dir, options.clone()) {
            Ok(engine) => return hold(dir, engine),
            Err(error) if error.kind() == ErrorKind::Locked => error,
            Err(error) => return Err(error),
        };
        if let Ok(client) = Client::connect(dir) {
            return Ok(Way::Remote(Arc::new(client)));
        }
        tries += 1;
        if tries == TRIES {
            return Err(locked);
        }
        std::thread::sleep(PAUSE);
    }
}

fn hold(dir: &Path, engine: Engine) -> Result<Way, Error> {
    let dispatcher = Dispatcher::new(engine);
    if dispatcher.engine().is_read_only() {
        return Ok(Way::Local(dispatcher, None));
    }
    let server = match Server::start(dir, dispatcher.clone()) {
        Ok(server) => Some(Arc::new(server)),
        // On a full disk there is no room for a name: this process goes on, others are told that the directory is locked.
        Err(cause) => {
            tracing::warn!(%cause, dir = %dir.display(), "the socket cannot be made: no other process is served");
            None
        }
    };
    Ok(Way::Local(dispatcher, server))
}
