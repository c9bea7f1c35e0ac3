//! A log that exists, an event a line, an empty line for one that damage took: it is folded, whatever it says.
//!
//! - Folding what the fold kept gives the same again; the past is what it was; everything that is not shown has a cause.

use super::lines::lines;
use super::prompts::{is_promised, is_said, show_the_same, shows_the_same};
use recount_events::{Body, Event, Millis, Seq};
use recount_projections::{Gap, State, replay};
use std::collections::BTreeSet;

/// Folds a log of lines.
pub fn replay_log(data: &[u8]) {
    let log: Vec<Result<Event, Gap>> = lines(data).map(event).collect();
    let state = replay(log.iter().cloned());
    assert_eq!(
        state.head().map_or(0, |head| head.0 + 1),
        log.len() as u64,
        "every line has its position"
    );
    state.skipped().for_each(|skipped| is_said(&skipped.misfit));
    is_promised(state.timeline());
    show_the_same(&state, &replay(kept(&state).into_iter()));
    the_past_is_what_it_was(&state, &log);
    what_is_absent_has_a_cause(&state);
}

fn event(line: &str) -> Result<Event, Gap> {
    let logged = Event::from_log_json(line).map(|logged| logged.event);
    logged
        .or_else(|_| Event::from_json(line, Millis(0)))
        .map_err(|_| Gap)
}

/// The log as the state keeps it, everything resolved.
fn kept(state: &State) -> Vec<Result<Event, Gap>> {
    let head = state.head().map_or(0, |head| head.0 + 1);
    (0..head)
        .map(|seq| {
            let logged = state.event(Seq(seq)).ok_or(Gap)?;
            Ok(logged.event.clone())
        })
        .collect()
}

/// A cut shows what a replay up to it shows: at a third, two thirds, and just before the end.
fn the_past_is_what_it_was(state: &State, log: &[Result<Event, Gap>]) {
    let cuts = [
        log.len() / 3,
        log.len() * 2 / 3,
        log.len().saturating_sub(2),
    ];
    for cut in cuts.into_iter().filter(|cut| *cut < log.len()) {
        let then = replay(log.iter().take(cut + 1).cloned());
        let now = state
            .timeline_at(Seq(cut as u64))
            .expect("a position that is there");
        // An erasure holds at every past cut: what it took is no longer what it was.
        let erased = log
            .iter()
            .flatten()
            .any(|event| matches!(event.body, Body::Erased(_)));
        if !erased {
            shows_the_same(&now, then.timeline());
        }
    }
}

/// Or it is reported as what fits nowhere.
fn what_is_absent_has_a_cause(state: &State) {
    let timeline = state.timeline();
    let skipped: BTreeSet<Seq> = state.skipped().map(|skipped| skipped.seq).collect();
    let head = state.head().map_or(0, |head| head.0 + 1);
    for seq in (0..head).map(Seq) {
        let content = state
            .event(seq)
            .is_some_and(|logged| match &logged.event.body {
                Body::Message(message) => !message.content.blocks.is_empty(),
                Body::ToolResult(_) => true,
                _ => false,
            });
        if content && !timeline.visible(seq) && !skipped.contains(&seq) {
            assert!(
                state.hidden_by(timeline, seq).is_some(),
                "what is not shown has a cause: seq={seq}"
            );
        }
    }
}
