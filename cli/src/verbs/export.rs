//! `export`: a lossless archive, or the files of a task.

use crate::args::{Cli, Export};
use crate::print::{bytes, clean, exact, line};
use crate::reach::Reach;
use recount::{Error, api};
use std::path::Path;

pub(crate) fn run(cli: &Cli, args: &Export) -> crate::Outcome {
    let place = args.out.as_deref().unwrap_or(&args.path);
    let to_file = place.as_os_str() != "-";
    let path = if to_file {
        Some(absolute(place)?)
    } else {
        None
    };
    let ask = api::Export {
        session: args.session.clone(),
        format: args.format.clone(),
        path,
    };
    Reach::existing(cli)?.say("v1.session.export", &ask, |done: &api::Exported| {
        if let Some(text) = &done.text {
            exact(text);
            return;
        }
        line(&format!(
            "{} events, {}, {}",
            done.events,
            bytes(done.bytes),
            clean(done.path.as_deref().unwrap_or_default())
        ));
        for note in &done.notes {
            line(&format!("note: {}", clean(note)));
        }
    })
}

/// The process that holds the directory may stand in another folder.
fn absolute(path: &Path) -> Result<String, Error> {
    let path = std::path::absolute(path)
        .map_err(|cause| Error::invalid(format!("not a path: {cause}")))?;
    path.into_os_string()
        .into_string()
        .map_err(|_| Error::invalid("the path is not UTF-8"))
}
