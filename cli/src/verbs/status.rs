//! `status`: how full a session is.

use crate::args::{Cli, One};
use crate::print::{Table, bytes, clean, count, line, yellow};
use crate::reach::Reach;
use recount::api;

pub(crate) fn run(cli: &Cli, args: &One) -> crate::Outcome {
    let ask = api::Status {
        session: args.session.clone(),
    };
    Reach::existing(cli)?.say("v1.session.status", &ask, print)
}

fn print(status: &api::StatusReport) {
    let model = status
        .model
        .as_deref()
        .map_or_else(|| "no profile".to_owned(), clean);
    line(&format!(
        "{}: head {}, {model}",
        clean(&status.session),
        status.head
    ));
    let window = status
        .window
        .map_or_else(String::new, |window| format!(" of {}", count(window)));
    line(&format!(
        "{} tokens{window}, {}, {} turns",
        count(status.tokens.total),
        status.source,
        count(status.turns)
    ));
    let by = &status.tokens.by;
    let mut table = Table::new(
        &[
            "tools",
            "system",
            "messages",
            "results",
            "summaries",
            "injections",
        ],
        &[0, 1, 2, 3, 4, 5],
    );
    table.row(
        [
            by.tools,
            by.system,
            by.messages,
            by.results,
            by.summaries,
            by.injections,
        ]
        .map(count)
        .to_vec(),
    );
    table.print();
    fullness(status);
    line(&format!(
        "{} requests: {}",
        count(status.usage.requests),
        cost(&status.usage)
    ));
    if status.compaction_calls.requests > 0 {
        line(&format!(
            "of those {} for compactions: {}",
            count(status.compaction_calls.requests),
            cost(&status.compaction_calls)
        ));
    }
    compactions(status);
    line(&format!(
        "{}, {} pictures",
        bytes(status.bytes),
        count(status.images)
    ));
    if status.open_calls > 0 {
        line(&yellow(&format!("{} open calls", status.open_calls)));
    }
    for edit in &status.pending_edits {
        line(&yellow(&format!(
            "the effect of cache edit {} is not known yet",
            clean(edit)
        )));
    }
    for compaction in &status.pending {
        line(&yellow(&format!(
            "compaction {} waits for its summary",
            clean(compaction)
        )));
    }
    if let Some(since) = status.not_durable_since {
        line(&yellow(&format!("not on disk yet: from event {since} on")));
    }
}

/// How far it is to the next compaction.
fn fullness(status: &api::StatusReport) {
    let Some(trigger) = status.trigger else {
        return;
    };
    let policy = status.policy.as_deref().unwrap_or("no policy");
    let ahead = match status.rounds_until_compression {
        Some(-1) => ", over it".to_owned(),
        Some(rounds) => format!(
            ", about {rounds} rounds of {} left",
            count(status.estimated_next_round_tokens)
        ),
        None => String::new(),
    };
    let told = format!(
        "{policy}: {}% of the trigger {}{ahead}",
        status.compression_progress,
        count(trigger)
    );
    let quiet = matches!(status.level.as_str(), "normal" | "");
    line(&if quiet {
        told
    } else {
        yellow(&format!("{told}: {}", clean(&status.level)))
    });
    if status.floor.latched {
        line(&yellow(&format!(
            "{} tokens of tools and system prompt leave no room below the trigger",
            count(status.floor.tokens)
        )));
    }
    for breaker in status.breaker.iter().filter(|one| one.state == "trips") {
        line(&yellow(&format!(
            "stopped: {} ({})",
            clean(&breaker.name),
            breaker.value
        )));
    }
    if let Some(estimator) = &status.estimator {
        line(&format!(
            "estimate {} against {} counted: {:+.1}%",
            count(estimator.estimated),
            count(estimator.counted),
            estimator.error_milli as f64 / 10.0
        ));
    }
}

fn cost(spent: &api::Spent) -> String {
    format!(
        "{} in, {} out, {} read from the cache, {} written",
        count(spent.input),
        count(spent.output),
        count(spent.cache_read),
        count(spent.cache_write)
    )
}

fn compactions(status: &api::StatusReport) {
    if !status.compactions.is_empty() {
        let mut table = Table::new(
            &["compaction", "covers", "by", "before", "after", "counted"],
            &[0, 3, 4, 5],
        );
        let number = |tokens: Option<u64>| tokens.map_or_else(String::new, count);
        for one in &status.compactions {
            let covers = one
                .first
                .zip(one.last)
                .map_or_else(String::new, |(first, last)| format!("{first}–{last}"));
            let by = [&one.trigger, &one.by];
            let by: Vec<&str> = by.iter().filter_map(|word| word.as_deref()).collect();
            table.row(vec![
                one.event.to_string(),
                covers,
                by.join(", "),
                number(one.before),
                number(one.after),
                number(one.counted),
            ]);
        }
        table.print();
    }
    for fell in &status.cache_breaks {
        line(&yellow(&format!(
            "event {}: {} tokens less were read from the cache ({})",
            fell.event,
            count(fell.before.saturating_sub(fell.after)),
            clean(&fell.cause)
        )));
    }
}
