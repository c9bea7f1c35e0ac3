//! Questions: how full a session is, which calls are open, the log itself.

use super::directory::{Directory, durable};
use super::engine::Engine;
use super::load::Read;
use super::words::tokens;
use super::{ask, stream};
use crate::core::{Core, Measured, scaled};
use crate::{Error, api};
use recount_events::{BreakerState, Digest, Profile, Seq};
use recount_wal::StreamId;
use serde_json::value::RawValue;

/// The most events in one answer of `log`.
const PAGE: u64 = 1_000;

impl Engine {
    /// How full a session is.
    ///
    /// # Errors
    /// `not_found`.
    pub fn status(&self, ask: &api::Status) -> Result<api::StatusReport, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        dir.ask(&mut held, |live| {
            let core = &mut live.core;
            let prompt = match ask::resolve(core, &api::At::Head, None, None, false) {
                Err(_) => None,
                Ok(asked) => {
                    let measured =
                        core.prompt(&asked.timeline, &asked.profile, asked.wire, asked.heal);
                    Some((asked.profile, measured))
                }
            };
            let prompt = prompt
                .as_ref()
                .map(|(profile, measured)| (profile, measured));
            report(dir, slot.stream, &slot.name, core, prompt)
        })
    }

    /// The events themselves, as JSON.
    ///
    /// # Errors
    /// `not_found`, `io`.
    pub fn log(&self, ask: &api::Log) -> Result<api::LogPage, Error> {
        let dir = &*self.inner;
        super::directory::check_name(&ask.session)?;
        let log = dir.log()?;
        let stream = dir.stream(&ask.session);
        let head = log
            .heads(stream)
            .ok_or_else(|| super::load::no_session(&ask.session))?
            .accepted;
        let from = ask.from.unwrap_or(0);
        let limit = ask.limit.unwrap_or(PAGE).clamp(1, PAGE);
        let to = head.min(from.saturating_add(limit.saturating_sub(1)));
        let mut events = Vec::new();
        stream::visit(dir, &log, stream, from, to, &mut |read| {
            line(&mut events, read, to)
        })?;
        Ok(api::LogPage {
            events,
            next: (to < head && from <= head).then(|| to.saturating_add(1)),
        })
    }
}

/// Writes what was read at a position as lines of the log.
fn line(events: &mut Vec<Box<RawValue>>, read: Read, to: u64) -> Result<(), Error> {
    match read {
        Read::Event(event, record) => events.push(raw(
            event.to_json(Seq(record.seq), Some(&Digest(record.digest.0)))
        )?),
        Read::Unreadable(record) => events.push(raw(lost(record.seq, Some(record.kind)))?),
        Read::Gap(gap) => {
            for seq in gap.first..=gap.last.min(to) {
                events.push(raw(lost(seq, None))?);
            }
        }
    }
    Ok(())
}

/// What stands for an event that cannot be read.
fn lost(seq: u64, kind: Option<u16>) -> String {
    match kind {
        Some(kind) => format!(r#"{{"seq":{seq},"type":"damaged","kind":{kind},"lost":true}}"#),
        None => format!(r#"{{"seq":{seq},"type":"damaged","lost":true}}"#),
    }
}

fn raw(json: String) -> Result<Box<RawValue>, Error> {
    RawValue::from_string(json)
        .map_err(|cause| Error::invalid(format!("an event cannot be written: {cause}")))
}

/// How full a session is, from a prompt that was rendered.
pub(super) fn report(
    dir: &Directory,
    stream: StreamId,
    name: &str,
    core: &Core,
    prompt: Option<(&Profile, &Measured)>,
) -> Result<api::StatusReport, Error> {
    let mut report = api::StatusReport {
        session: name.to_owned(),
        head: core.head().map_or(0, |head| head.0),
        durable: durable(dir, stream)?,
        not_durable_since: dir.log()?.not_durable_since(stream),
        source: "estimated".to_owned(),
        usage: spent(core),
        floor: api::Floor {
            tokens: 0,
            latched: breakers(core).any(|one| one.name == "floor" && one.state == "trips"),
        },
        breaker: breakers(core).collect(),
        turns: core.state.turns().len() as u64,
        open_calls: core.state.open_calls().len() as u64,
        ..api::StatusReport::default()
    };
    if let Some((profile, measured)) = prompt {
        fill(&mut report, core, profile, measured);
    }
    Ok(report)
}

fn fill(report: &mut api::StatusReport, core: &Core, profile: &Profile, measured: &Measured) {
    let (projection, meter) = (&measured.projection, &measured.meter);
    let trigger = profile.window.saturating_sub(profile.max_output).max(1);
    report.model = profile.model.as_str().map(str::to_owned);
    report.tokens = api::Tokens {
        total: meter.total,
        by: shares(tokens(projection), meter.total),
    };
    if meter.exact {
        "measured".clone_into(&mut report.source);
    }
    report.measured = meter.measured;
    report.factor_milli = meter.factor_milli;
    report.window = Some(profile.window);
    report.trigger = Some(trigger);
    report.compression_threshold = Some(trigger);
    report.compression_progress = meter.total.saturating_mul(100) / trigger;
    report.estimated_next_round_tokens = core.next_round();
    report.rounds_until_compression =
        rounds(trigger, meter.total, report.estimated_next_round_tokens);
    let header = projection.by.tools.saturating_add(projection.by.system);
    report.floor.tokens =
        scaled(header, meter.factor_milli).saturating_add(profile.overhead_tokens);
    report.bytes = projection.bytes;
    report.images = u64::from(projection.images);
}

/// The categories as they are counted, scaled so that their sum is the metered total.
fn shares(counted: api::Tokens, total: u64) -> api::TokensBy {
    let milli = total
        .saturating_mul(1_000)
        .checked_div(counted.total)
        .unwrap_or(1_000);
    let by = counted.by;
    let mut scaled_by = api::TokensBy {
        tools: scaled(by.tools, milli),
        system: scaled(by.system, milli),
        messages: 0,
        results: scaled(by.results, milli),
        summaries: scaled(by.summaries, milli),
        injections: scaled(by.injections, milli),
    };
    let others = [
        scaled_by.tools,
        scaled_by.system,
        scaled_by.results,
        scaled_by.summaries,
        scaled_by.injections,
    ];
    // What rounding leaves goes to the messages, so that the sum is the total.
    scaled_by.messages = total.saturating_sub(others.into_iter().fold(0, u64::saturating_add));
    scaled_by
}

/// Rounds until the trigger; -1 when over it, none when no round is known.
fn rounds(trigger: u64, total: u64, next: u64) -> Option<i64> {
    if total >= trigger {
        return Some(-1);
    }
    let left = trigger.saturating_sub(total).checked_div(next)?;
    Some(i64::try_from(left).unwrap_or(i64::MAX))
}

fn breakers(core: &Core) -> impl Iterator<Item = api::BreakerLine> + '_ {
    core.state.ledger().breakers.iter().map(|(name, breaker)| {
        let state = match breaker.state {
            BreakerState::Counts => "counts",
            BreakerState::Trips => "trips",
            BreakerState::Releases => "releases",
        };
        api::BreakerLine {
            name: name.clone(),
            state: state.to_owned(),
            value: breaker.value,
        }
    })
}

fn spent(core: &Core) -> api::Spent {
    let totals = &core.state.ledger().totals;
    api::Spent {
        input: totals.input,
        output: totals.output,
        cache_read: totals.cache_read,
        cache_write: totals.cache_write_5m.saturating_add(totals.cache_write_1h),
        requests: totals.requests,
    }
}
