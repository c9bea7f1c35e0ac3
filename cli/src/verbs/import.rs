//! `import`: transcripts of other hosts, with a report of what was read, kept, doubted, damaged.

use crate::Answer;
use crate::args::{Cli, Import};
use crate::print::{Progress, Table, clean, count, dim, failure, line, yellow};
use crate::reach::Reach;
use recount::{Error, api};
use std::path::Path;

/// More notes than this are only counted.
const NOTES: usize = 20;

pub(crate) fn run(cli: &Cli, args: &Import) -> crate::Outcome {
    let reach = Reach::open(cli)?;
    let mut failed: Option<Error> = None;
    for path in &args.paths {
        if let Err(error) = one(cli, &reach, args, path) {
            let error = if args.paths.len() > 1 {
                let message = format!("{}: {}", path.display(), error.message());
                Error::new(error.kind(), message).with_next(error.next())
            } else {
                error
            };
            // The last one is told of by who called.
            if let Some(earlier) = failed.replace(error) {
                failure(&earlier, cli.json);
            }
        }
    }
    failed.map_or(Ok(Answer::Yes), Err)
}

fn one(cli: &Cli, reach: &Reach, args: &Import, path: &Path) -> Result<(), Error> {
    let ask = api::Import {
        path: absolute(path)?,
        format: args.format.clone(),
        name: args.name.clone(),
    };
    let done = ask_with_progress(reach, &ask)?;
    if cli.json {
        let text = serde_json::to_string(&done)
            .map_err(|cause| Error::invalid(format!("the answer cannot be written: {cause}")))?;
        line(&text);
    } else {
        print(path, &done);
    }
    Ok(())
}

/// Imports; in this process with a progress bar.
pub(crate) fn ask_with_progress(reach: &Reach, ask: &api::Import) -> Result<api::Imported, Error> {
    let Some(engine) = reach.handle().local() else {
        return reach.ask("v1.import", ask);
    };
    let bar = Progress::new("import");
    engine.import_with(ask, &mut |done, whole| bar.at(done, whole))
}

pub(crate) fn absolute(path: &Path) -> Result<String, Error> {
    let path = std::path::absolute(path)
        .map_err(|cause| Error::invalid(format!("not a path: {cause}")))?;
    path.into_os_string()
        .into_string()
        .map_err(|_| Error::invalid("the path is not UTF-8"))
}

fn print(path: &Path, done: &api::Imported) {
    let summary = format!(
        "{}: {}, {} records read, {} kept beside the conversation (no model sees them)",
        clean(&path.display().to_string()),
        done.format,
        count(done.read),
        count(done.kept)
    );
    line(&summary);
    let mut table = Table::new(&["session", "", "events", "head", "from"], &[2, 3]);
    for session in &done.sessions {
        let from = session
            .from
            .as_ref()
            .map_or_else(String::new, |from| clean(from));
        table.row(vec![
            clean(&session.session),
            session.state.clone(),
            count(session.events),
            session.head.to_string(),
            from,
        ]);
    }
    table.print();
    notes("damaged", &done.damaged);
    notes("doubted", &done.doubted);
}

fn notes(name: &str, notes: &[api::Note]) {
    for note in notes.iter().take(NOTES) {
        line(&format!(
            "{} line {}, byte {}: {}",
            yellow(name),
            note.line,
            note.offset,
            clean(&note.problem)
        ));
    }
    if notes.len() > NOTES {
        line(&dim(&format!(
            "… and {} more {name}; --json lists them all",
            notes.len() - NOTES
        )));
    }
}
