//! `stats`: sizes, what waits, how the store stands.

use crate::args::{Cli, Stats};
use crate::print::{Table, bytes, clean, count, line, state, time, yellow};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &Stats) -> crate::Outcome {
    let ask = api::Stats {
        sessions: args.sessions,
        prefix: args.prefix.clone(),
        limit: args.limit,
    };
    Reach::existing(cli)?.say("v1.stats", &ask, print)
}

fn print(stats: &api::StatsReport) {
    line(&format!(
        "{}: {} sessions, {} events, {} on disk",
        clean(&stats.directory),
        count(stats.sessions),
        count(stats.events),
        bytes(stats.disk.total)
    ));
    disk(&stats.disk);
    let syncs = &stats.syncs;
    let mean = syncs.micros.checked_div(syncs.count).unwrap_or(0);
    line(&format!(
        "{} syncs, {} µs each, the slowest {} µs",
        count(syncs.count),
        count(mean),
        count(syncs.slowest_micros)
    ));
    waiting(&stats.backlog);
    store(&stats.store);
    found(&stats.recovered);
    sessions(&stats.by_session);
}

fn disk(disk: &api::DiskUse) {
    let raw = if disk.segments_raw == disk.segments {
        String::new()
    } else {
        format!("of {}", bytes(disk.segments_raw))
    };
    let files = format!("{} files {raw}", count(disk.segment_files));
    let mut table = Table::new(&["part", "size", ""], &[1]);
    let parts = [
        ("segments", disk.segments, files.trim_end()),
        ("key", disk.key, ""),
        ("store", disk.store, "derived"),
        ("states", disk.states, "derived"),
        ("out", disk.out, "prompts written to files"),
        ("spills", disk.spills, "results too large for a prompt"),
        ("other", disk.other, ""),
    ];
    for (name, size, what) in parts {
        table.row(vec![name.to_owned(), bytes(size), what.to_owned()]);
    }
    table.print();
}

fn waiting(backlog: &api::Backlog) {
    let waiting = format!(
        "{} batches wait for the disk ({}), {} for the store",
        count(backlog.batches),
        bytes(backlog.bytes),
        bytes(backlog.store_bytes)
    );
    line(&if backlog.batches == 0 {
        waiting
    } else {
        yellow(&waiting)
    });
}

fn store(store: &api::StoreLine) {
    let why = store
        .why
        .as_deref()
        .map_or_else(String::new, |why| format!(": {}", clean(why)));
    let progress = match store.state.as_str() {
        "comparing" | "rebuilding" => {
            format!(", {} of {} records", count(store.done), count(store.total))
        }
        _ => String::new(),
    };
    line(&format!("store {}{why}{progress}", clean(&store.state)));
}

fn found(found: &api::Found) {
    let closed = if found.closed { "" } else { ", was not closed" };
    line(&format!("found at open: {}{closed}", state(found.state)));
    if let Some(cut) = &found.cut {
        line(&yellow(&format!("  {} cut off its end", bytes(cut.bytes))));
    }
    if found.damaged > 0 {
        line(&yellow(&format!(
            "  {} stretches of damage took {} positions; `recount verify` names them",
            count(found.damaged),
            count(found.lost)
        )));
    }
    if let Some(why) = &found.rebuilt {
        line(&format!("  the store was built again: {}", clean(why)));
    }
    if let Some(why) = &found.no_evidence {
        line(&yellow(&format!(
            "  the store could not say whether the end is whole: {}",
            clean(why)
        )));
    }
    if found.key_restored {
        line("  the key was made again from a segment");
    }
}

fn sessions(sizes: &[api::SessionSize]) {
    if sizes.is_empty() {
        return;
    }
    let heading = [
        "session",
        "events",
        "bodies",
        "contents",
        "size",
        "last event",
    ];
    let mut table = Table::new(&heading, &[1, 2, 3, 4]);
    for size in sizes {
        table.row(vec![
            clean(&size.session),
            count(size.events),
            bytes(size.bodies),
            count(size.contents),
            bytes(size.content_bytes),
            time(size.at),
        ]);
    }
    table.print();
}
