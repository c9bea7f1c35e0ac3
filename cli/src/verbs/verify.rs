//! `verify`: whether everything is there and whole.

use crate::Answer;
use crate::args::{Cli, Verify};
use crate::print::{Progress, clean, count, exact, failure, line, red, short, state, yellow};
use crate::reach::Reach;
use recount::{Error, ErrorKind, api, place};
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub(crate) fn run(cli: &Cli, args: &Verify) -> crate::Outcome {
    let against = known(&args.against)?;
    if let Some(path) = args.heads.as_deref().filter(|path| !is_output(path)) {
        place::readable(path).map_err(|error| error.with_field("heads"))?;
    }
    let reach = Reach::existing(cli)?;
    match &args.session {
        Some(session) => {
            let ask = api::Verify {
                session: session.clone(),
                against,
            };
            let people = |verified: &api::Verified| {
                print(verified);
                verified.against.iter().for_each(held);
                verdict(verified.state)
            };
            reach.tell(
                "v1.session.verify",
                &ask,
                people,
                |verified: &api::Verified| verdict(verified.state),
            )
        }
        None => {
            let only_heads = args.heads.as_deref().is_some_and(is_output);
            let held = !against.is_empty();
            let found = whole(cli, &reach, against, only_heads)?;
            match &args.heads {
                Some(path) if path.is_file() && misses(found, held) => failure(&kept(), cli.json),
                Some(path) => keep(cli, &reach, path)?,
                None => {}
            }
            Ok(verdict(found))
        }
    }
}

/// Whether heads go to standard output.
fn is_output(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Something may be missing of what was kept while all was whole, which is the evidence of it then. An end that was cut off is remembered
/// for ever: where the log was held against what was known, it took nothing of that.
fn misses(found: api::State, held: bool) -> bool {
    found > api::State::Torn || (found == api::State::Torn && !held)
}

fn kept() -> Error {
    Error::new(
        ErrorKind::Damaged,
        "the check found something: the heads that were kept before are not replaced",
    )
    .with_field("heads")
    .with_next("hold the directory against them with --against: where all of them hold, a torn end keeps nobody from replacing them; or name another file")
}

/// What the files say that sessions held.
fn known(paths: &[PathBuf]) -> Result<Vec<api::Head>, Error> {
    let mut known = Vec::new();
    for path in paths {
        place::readable(path).map_err(|error| error.with_field("against"))?;
        let bytes = std::fs::read(path).map_err(|cause| {
            Error::from(cause)
                .with_field("against")
                .with_next("check the path")
        })?;
        known.extend(recount::evidence::read(&bytes)?);
    }
    Ok(known)
}

/// Writes what the sessions end in.
fn keep(cli: &Cli, reach: &Reach, path: &Path) -> Result<(), Error> {
    let report: api::HeadsReport = reach.ask("v1.heads", &api::Heads::default())?;
    let text = recount::evidence::write(&report);
    if is_output(path) {
        exact(&text);
        return Ok(());
    }
    replace(path, text.as_bytes()).map_err(|error| {
        error
            .with_field("heads")
            .with_next("check the path, and the space on its disk")
    })?;
    if !cli.json {
        line(&format!(
            "{} heads written to {}; keep them on another disk",
            count(report.heads.len() as u64),
            clean(&path.display().to_string())
        ));
    }
    Ok(())
}

/// Writes a file durably, whole or not at all: what it held before is evidence too.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".new");
    let unfinished = Path::new(&unfinished);
    place::replaceable(unfinished)?;
    place::replaceable(path)?;
    let written = std::fs::File::create(unfinished)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(unfinished, path));
    if written.is_err() {
        // What is left of it is of no use, and the error of writing says more than one of removing.
        let _ = std::fs::remove_file(unfinished);
    }
    Ok(written?)
}

/// The whole directory; in this process with a progress bar. With `only_heads` nothing else goes to standard output.
fn whole(
    cli: &Cli,
    reach: &Reach,
    against: Vec<api::Head>,
    only_heads: bool,
) -> Result<api::State, Error> {
    let ask = api::VerifyAll { against };
    let verified: api::DirectoryVerified = match reach.handle().local() {
        None => reach.ask("v1.verify", &ask)?,
        Some(engine) => {
            let bar = Progress::new("verify");
            engine.verify_with(&ask, &mut |done, all| bar.at(done, all))?
        }
    };
    if only_heads {
        return Ok(verified.state);
    }
    if cli.json {
        line(
            &serde_json::to_string(&verified).map_err(|cause| {
                Error::invalid(format!("the answer cannot be written: {cause}"))
            })?,
        );
    } else {
        verified.sessions.iter().for_each(print);
        verified.against.iter().for_each(held);
        verified
            .problems
            .iter()
            .for_each(|problem| line(&red(&clean(problem))));
        line(&format!("directory: {}", state(verified.state)));
    }
    Ok(verified.state)
}

/// How a session stands to what was known of it.
fn held(against: &api::Against) {
    let session = clean(&against.session);
    let agrees = against
        .agrees
        .map_or_else(String::new, |seq| format!("; the same up to event {seq}"));
    let (known, found) = (against.head, against.found);
    let now = match (against.missing, found) {
        (Some(first), _) => format!("event {first} is missing"),
        (None, Some(head)) => format!("it ends at {head}"),
        (None, None) => "it is not there".to_owned(),
    };
    line(&match against.standing {
        api::Standing::Holds => format!("{session}: what was known up to event {known} is there"),
        api::Standing::Pruned => format!("{session}: was forgotten on purpose"),
        api::Standing::Truncated => red(&format!(
            "{session}: truncated: event {known} was known, {now}{agrees}"
        )),
        api::Standing::Damaged => red(&match against.missing {
            Some(first) => format!(
                "{session}: damaged: event {known} was known, event {first} cannot be read{agrees}"
            ),
            None => format!("{session}: event {known} was known and is damaged{agrees}"),
        }),
        api::Standing::Differs => red(&format!(
            "{session}: another history: event {known} is not the one that was known{agrees}"
        )),
    });
}

fn verdict(state: api::State) -> Answer {
    if matches!(state, api::State::Clean | api::State::Erased) {
        Answer::Yes
    } else {
        Answer::No
    }
}

fn print(verified: &api::Verified) {
    line(&format!(
        "{}: {}; {} events, {} contents, {} prompts checked, digest {}",
        clean(&verified.session),
        state(verified.state),
        count(verified.events),
        count(verified.contents),
        count(verified.prompts),
        short(&verified.digest)
    ));
    for damaged in &verified.damaged {
        line(&red(&format!(
            "  events {}–{}: {} bytes of segment {} from byte {}",
            damaged.first, damaged.last, damaged.bytes, damaged.segment, damaged.offset
        )));
    }
    for skipped in &verified.skipped {
        line(&yellow(&format!(
            "  event {} is skipped: {}",
            skipped.seq,
            clean(&skipped.why)
        )));
    }
    for problem in &verified.problems {
        line(&red(&format!("  {}", clean(problem))));
    }
}
