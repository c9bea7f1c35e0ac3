//! `doctor`: what stands there, what is wrong with it, what to do next. Opens no engine and takes no lock, except to repair.

use crate::Answer;
use crate::args::{Cli, Doctor};
use crate::print::{Table, bytes, clean, count, dim, green, line, red, short, state, time, yellow};
use recount::{Error, api, doctor};

/// More notes than this are only counted.
const NOTES: usize = 20;

pub(crate) fn run(cli: &Cli, args: &Doctor) -> crate::Outcome {
    let path = match &args.path {
        Some(path) => path.clone(),
        None => crate::reach::directory(cli)?,
    };
    if !args.repair {
        return tell(cli, &doctor::plan(&path, args.derived));
    }
    if !cli.json {
        let planned = doctor::plan(&path, args.derived);
        line("to be done:");
        remedies(&planned.remedies);
    }
    tell(cli, &doctor::repair(&path, args.derived)?)
}

fn tell(cli: &Cli, diagnosis: &api::Diagnosis) -> crate::Outcome {
    if cli.json {
        let text = serde_json::to_string(diagnosis)
            .map_err(|cause| Error::invalid(format!("the answer cannot be written: {cause}")))?;
        line(&text);
    } else {
        print(diagnosis);
    }
    Ok(if diagnosis.is_well() {
        Answer::Yes
    } else {
        Answer::No
    })
}

fn print(diagnosis: &api::Diagnosis) {
    line(&format!(
        "{}: {}",
        clean(&diagnosis.path),
        clean(&diagnosis.summary)
    ));
    if let Some(found) = diagnosis.state {
        line(&format!("the log is {}", state(found)));
    }
    if let Some(holder) = &diagnosis.holder {
        line(&format!("held by a live process: {}", clean(holder)));
    }
    parts(&diagnosis.parts);
    sessions(&diagnosis.sessions);
    for problem in &diagnosis.problems {
        ailment(&red("problem"), problem);
    }
    for note in diagnosis.notes.iter().take(NOTES) {
        ailment(&dim("note"), note);
    }
    more("notes", diagnosis.notes.len());
    places("damaged", &diagnosis.damaged);
    places("doubted", &diagnosis.doubted);
    if !diagnosis.remedies.is_empty() {
        line("repairs:");
        remedies(&diagnosis.remedies);
    }
    if diagnosis.is_well() {
        line(&green("nothing is wrong with it"));
    }
}

fn more(what: &str, all: usize) {
    if all > NOTES {
        line(&dim(&format!(
            "… and {} more {what}; --json lists them all",
            all - NOTES
        )));
    }
}

fn parts(parts: &[api::Part]) {
    if parts.is_empty() {
        return;
    }
    let mut table = Table::new(&["part", "files", "size", ""], &[1, 2]);
    for part in parts {
        table.row(vec![
            clean(&part.name),
            count(part.files),
            bytes(part.bytes),
            clean(&part.what),
        ]);
    }
    table.print();
}

fn sessions(sessions: &[api::SessionFound]) {
    if sessions.is_empty() {
        return;
    }
    let heading = ["session", "head", "lost", "last event", "digest"];
    let mut table = Table::new(&heading, &[1, 2]);
    for session in sessions {
        let lost = if session.lost == 0 {
            String::new()
        } else {
            count(session.lost)
        };
        table.row(vec![
            clean(&session.session),
            session.head.to_string(),
            lost,
            time(session.at),
            short(&session.digest).to_owned(),
        ]);
    }
    table.print();
}

/// One thing that was found, and what to do about it.
fn ailment(word: &str, found: &api::Ailment) {
    line(&format!("{word} {}", clean(&found.what)));
    let mut place = Vec::new();
    if let Some(file) = &found.file {
        place.push(clean(file));
    }
    if let Some(offset) = found.offset {
        place.push(format!("from byte {offset}"));
    }
    if let Some(size) = found.bytes.filter(|size| *size > 0) {
        place.push(format!("{size} bytes"));
    }
    if let Some(session) = &found.session {
        place.push(format!("session {}", clean(session)));
    }
    match (found.first, found.last) {
        (Some(first), Some(last)) if first == last => place.push(format!("event {first}")),
        (Some(first), Some(last)) => place.push(format!("events {first}–{last}")),
        _ => {}
    }
    if !place.is_empty() {
        line(&format!("  {}", place.join(", ")));
    }
    line(&dim(&format!("  next: {}", clean(&found.next))));
}

fn places(name: &str, notes: &[api::Note]) {
    for note in notes.iter().take(NOTES) {
        line(&format!(
            "{} line {}, byte {}: {}",
            yellow(name),
            note.line,
            note.offset,
            clean(&note.problem)
        ));
    }
    more(name, notes.len());
}

fn remedies(remedies: &[api::Remedy]) {
    if remedies.is_empty() {
        line("  nothing that is safe to be done by itself");
    }
    for remedy in remedies {
        let act = match remedy.act {
            api::Act::Remove => "take away",
            api::Act::Restore => "write again",
        };
        let outcome = match &remedy.failed {
            Some(cause) => red(&format!(": failed: {}", clean(cause))),
            None if remedy.done => green(": done"),
            None => String::new(),
        };
        line(&format!(
            "  {act} {} ({}){outcome}",
            clean(&remedy.file),
            clean(&remedy.why)
        ));
    }
}
