//! The way to the engine: a dispatcher of this process or of the one that holds the directory.

use crate::args::{Cli, Cut};
use recount::{Error, api};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

/// Accepted events were lost when a directory was closed.
static LOST: AtomicBool = AtomicBool::new(false);

/// Whether something that was accepted never reached the disk: the verb failed, whatever it said before.
pub(crate) fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// A data directory that answers methods.
pub(crate) struct Reach {
    handle: recount::share::Handle,
    json: bool,
}

impl Drop for Reach {
    fn drop(&mut self) {
        if let Err(error) = self.handle.close()
            && error.kind() == recount::ErrorKind::NotDurable
        {
            crate::print::failure(&error, self.json);
            LOST.store(true, Ordering::Relaxed);
        }
    }
}

impl Reach {
    /// Opens the directory that the command line names.
    pub(crate) fn open(cli: &Cli) -> Result<Self, Error> {
        let options = recount::Options {
            segment_bytes: cli.segment_bytes,
            ..recount::Options::default()
        };
        let handle = recount::share::Handle::open(&directory(cli)?, options)?;
        Ok(Self {
            handle,
            json: cli.json,
        })
    }

    /// Opens the directory that the command line names, when it is there: who only looks makes none.
    pub(crate) fn existing(cli: &Cli) -> Result<Self, Error> {
        if is_there(cli)? {
            return Self::open(cli);
        }
        let path = directory(cli)?;
        Err(Error::new(
            recount::ErrorKind::NotFound,
            format!("there is no data directory; path={}", path.display()),
        )
        .with_next("check --data; `recount import FILE` or `recount open NAME --create` makes one"))
    }

    /// The same directory for others.
    pub(crate) fn handle(&self) -> &recount::share::Handle {
        &self.handle
    }

    /// The answer as it is.
    pub(crate) fn raw<P: Serialize>(&self, method: &str, ask: &P) -> Result<Box<RawValue>, Error> {
        let params = serde_json::to_string(ask)
            .map_err(|cause| Error::invalid(format!("parameters cannot be written: {cause}")))?;
        self.handle.call(method, &params)
    }

    /// The answer as its type.
    pub(crate) fn ask<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        ask: &P,
    ) -> Result<R, Error> {
        read(&self.raw(method, ask)?)
    }

    /// Prints the answer: as it is with `--json`, else by `people`, whose answer is the verb's.
    pub(crate) fn tell<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        ask: &P,
        people: impl FnOnce(&R) -> crate::Answer,
        machines: impl FnOnce(&R) -> crate::Answer,
    ) -> crate::Outcome {
        let raw = self.raw(method, ask)?;
        let result = read(&raw)?;
        if self.json {
            crate::print::line(raw.get());
            return Ok(machines(&result));
        }
        Ok(people(&result))
    }

    /// [`Reach::tell`] for verbs whose answer is never no.
    pub(crate) fn say<P: Serialize, R: DeserializeOwned>(
        &self,
        method: &str,
        ask: &P,
        people: impl FnOnce(&R),
    ) -> crate::Outcome {
        let people = |result: &R| {
            people(result);
            crate::Answer::Yes
        };
        self.tell(method, ask, people, |_| crate::Answer::Yes)
    }
}

/// The directory that the command line names is there.
pub(crate) fn is_there(cli: &Cli) -> Result<bool, Error> {
    Ok(directory(cli)?.exists())
}

fn read<R: DeserializeOwned>(raw: &RawValue) -> Result<R, Error> {
    serde_json::from_str(raw.get())
        .map_err(|cause| Error::invalid(format!("the answer cannot be read: {cause}")))
}

/// `--data`, `RECOUNT_DATA`, or `recount` in the platform's data folder.
pub(crate) fn directory(cli: &Cli) -> Result<PathBuf, Error> {
    if let Some(data) = &cli.data {
        return Ok(data.clone());
    }
    let folder = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let home = || folder("HOME").or_else(|| folder("USERPROFILE"));
    let data = folder("XDG_DATA_HOME").or_else(|| match std::env::consts::OS {
        "macos" => home().map(|home| home.join("Library/Application Support")),
        "windows" => folder("APPDATA"),
        _ => home().map(|home| home.join(".local/share")),
    });
    data.map(|data| data.join("recount")).ok_or_else(|| {
        Error::invalid(
            "no data directory: neither --data, RECOUNT_DATA, XDG_DATA_HOME nor HOME is set",
        )
    })
}

impl From<&Cut> for api::At {
    fn from(cut: &Cut) -> Self {
        match (cut.seq, cut.time, &cut.checkpoint) {
            (Some(seq), _, _) => Self::Seq(seq),
            (None, Some(time), _) => Self::Time(time),
            (None, None, Some(label)) => Self::Checkpoint(label.clone()),
            (None, None, None) => Self::Head,
        }
    }
}

/// A profile as it is typed: JSON when it begins like an object, else a shipped one's name.
pub(crate) fn profile(typed: Option<&String>) -> Result<Option<api::Spec>, Error> {
    let Some(typed) = typed else { return Ok(None) };
    if !typed.trim_start().starts_with('{') {
        return Ok(Some(api::Spec::named(typed)));
    }
    api::Spec::json(typed)
        .map(Some)
        .ok_or_else(|| Error::invalid("the profile is not JSON"))
}
