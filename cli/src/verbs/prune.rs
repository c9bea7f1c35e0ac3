//! `prune`: forgets sessions for ever; without `--yes` it only says which, and what would be given up.

use crate::args::{Cli, Prune};
use crate::print::{Table, bytes, clean, count, dim, line, red, time, yellow};
use crate::reach::Reach;
use crate::{Answer, verbs};
use recount::{Error, api};
use std::path::Path;

pub(crate) fn run(cli: &Cli, args: &Prune) -> crate::Outcome {
    // An archive is read back before anything goes: standard output cannot be.
    if args.archive.as_deref() == Some(Path::new("-")) {
        let cause = Error::invalid("an archive cannot go to standard output: it is read back");
        return Err(cause
            .with_field("archive")
            .with_next("name a file that is not there yet; `./-` if it is to be called so"));
    }
    let archive = args
        .archive
        .as_deref()
        .map(verbs::import::absolute)
        .transpose()?;
    let some = |list: &Vec<String>| Some(list.clone()).filter(|list| !list.is_empty());
    let ask = api::Prune {
        older_than: args.older_than,
        sessions: some(&args.sessions),
        kinds: some(&args.kind),
        keep: args.keep,
        dry_run: !args.yes,
        archive,
        give_up_damage: args.give_up_damage,
        ..api::Prune::default()
    };
    let people = |done: &api::Pruned| {
        print(done);
        verdict(done)
    };
    Reach::existing(cli)?.tell("v1.prune", &ask, people, verdict)
}

/// No when something stands in the way.
fn verdict(done: &api::Pruned) -> Answer {
    if done.damaged.is_empty() {
        Answer::Yes
    } else {
        Answer::No
    }
}

fn print(done: &api::Pruned) {
    if !done.pruned.is_empty() {
        let heading = ["session", "kind", "events", "size", "last event"];
        let mut table = Table::new(&heading, &[2, 3]);
        for one in &done.pruned {
            table.row(vec![
                clean(&one.session),
                one.kind.clone(),
                count(one.events),
                bytes(one.bytes),
                time(one.at),
            ]);
        }
        table.print();
    }
    for kept in &done.kept {
        line(&dim(&format!(
            "stays: {} ({})",
            clean(&kept.session),
            clean(&kept.why)
        )));
    }
    for absent in &done.absent {
        line(&yellow(&format!("not there: {}", clean(absent))));
    }
    for damaged in &done.damaged {
        line(&red(&clean(damaged)));
    }
    let what = format!(
        "{} sessions, {} events, {}",
        count(done.pruned.len() as u64),
        count(done.events),
        bytes(done.bytes)
    );
    if done.dry_run {
        line(&format!("would be forgotten for ever: {what}"));
        line(&dim(
            "nothing was done; --yes does it, --archive FILE keeps a copy first",
        ));
        return;
    }
    line(&format!(
        "forgotten for ever: {what}; {} on disk before, {} now",
        bytes(done.disk_before),
        bytes(done.disk_after)
    ));
    if let Some(path) = &done.archive {
        line(&format!("archives: {}", clean(path)));
    }
    if done.left > 0 {
        line(&yellow(&format!(
            "{} segments could not be written again yet and still hold some of it; prune again",
            count(done.left)
        )));
    }
}
