//! Questions: how full a session is, which calls are open, the log itself.

use super::directory::{Directory, durable};
use super::engine::Engine;
use super::pipeline::cause_name;
use super::read::Read;
use super::words::tokens;
use super::{ask, stream};
use crate::core::{Compaction, Core, InForce, Measured, maker, scaled, trigger};
use crate::profiles::preset_name;
use crate::{Error, api};
use recount_events::{Body, BreakerState, Digest, Profile, Seq};
use recount_policies::{Level, Thresholds};
use recount_projections::Totals;
use recount_projections::render::Category;
use recount_wal::StreamId;
use serde_json::value::RawValue;

/// The most events in one answer of `log`.
const PAGE: u64 = 1_000;
/// The most falls of the cache in one status.
const BREAKS: usize = 20;

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
            let mut report = report(dir, slot.stream, &slot.name, core, prompt)?;
            at_length(&mut report, core, prompt);
            Ok(report)
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
        usage: spent(&core.state.ledger().totals),
        floor: api::Floor {
            tokens: 0,
            latched: breakers(core).any(|one| one.name == "floor" && one.state == "trips"),
        },
        breaker: breakers(core).collect(),
        turns: core.state.turns().len() as u64,
        open_calls: core.state.open_calls().len() as u64,
        pending: core.planned().into_iter().collect(),
        pending_edits: core.edits_pending(),
        policy: preset_in(core),
        level: Level::Normal.name().to_owned(),
        compaction_calls: spent(&core.compaction_calls()),
        ..api::StatusReport::default()
    };
    if let Some((profile, measured)) = prompt {
        fill(&mut report, core, profile, measured);
    }
    Ok(report)
}

fn fill(report: &mut api::StatusReport, core: &Core, profile: &Profile, measured: &Measured) {
    let (projection, meter) = (&measured.projection, &measured.meter);
    let InForce { policy, constants } = core.policy(core.state.timeline());
    let lines = Thresholds::of(&constants.compact, profile, core.seen_window(profile));
    let header = projection.by.tools.saturating_add(projection.by.system);
    report.floor.tokens =
        scaled(header, meter.factor_milli).saturating_add(profile.overhead_tokens);
    report.weighed = match constants.compact.limit {
        0 => meter.total,
        _ => meter.total.saturating_sub(report.floor.tokens),
    };
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
    report.trigger = Some(lines.trigger);
    report.compression_threshold = Some(lines.trigger);
    report.compression_progress = report.weighed.saturating_mul(100) / lines.trigger.max(1);
    report.estimated_next_round_tokens = core.next_round();
    report.rounds_until_compression = rounds(
        lines.trigger,
        report.weighed,
        report.estimated_next_round_tokens,
    );
    report.suppressed = core.cleaned();
    // Where no policy is in force nothing is blocked.
    let auto = policy.auto || core.state.timeline().header.policy.is_none();
    let level = match lines.level(report.weighed, auto) {
        Level::Warning | Level::Error if report.suppressed => Level::Normal,
        level => level,
    };
    level.name().clone_into(&mut report.level);
    report.lines = api::Lines {
        effective: lines.effective,
        trigger: lines.trigger,
        warning: lines.warning,
        error: lines.error,
        blocking: lines.blocking,
    };
    report.estimator = core.estimator(profile).map(|one| api::EstimatorLine {
        estimated: one.estimated,
        counted: one.counted,
        error_milli: one.error_milli,
    });
    report.bytes = projection.bytes;
    report.images = u64::from(projection.images);
}

/// What only `status` says: it takes a look at each piece.
fn at_length(report: &mut api::StatusReport, core: &Core, prompt: Option<(&Profile, &Measured)>) {
    report.compactions = core.compactions().iter().map(compaction).collect();
    let breaks = core.state.ledger().cache_breaks.iter().rev().take(BREAKS);
    report.cache_breaks = breaks
        .filter_map(|(seq, logged)| cache_break(*seq, &logged.event.body))
        .collect();
    report.cache_breaks.reverse();
    report.bytes_by = prompt.map(|(_, measured)| bytes_by(measured));
}

fn compaction(one: &Compaction) -> api::CompactionLine {
    let boundary = one.boundary.as_ref();
    api::CompactionLine {
        event: one.event.0,
        id: one.id.clone(),
        first: one.range.map(|(first, _)| first.0),
        last: one.range.map(|(_, last)| last.0),
        trigger: boundary.map(|boundary| trigger(boundary.trigger).to_owned()),
        level: boundary.map_or(0, |boundary| boundary.level),
        by: boundary.map(|boundary| maker(boundary.by).to_owned()),
        before: one.before,
        after: one.after,
        counted: one.counted,
        messages: boundary.map(|boundary| boundary.messages),
        millis: boundary.map(|boundary| boundary.millis),
        kept: boundary
            .and_then(|boundary| boundary.kept)
            .map(|(first, last)| (first.0, last.0)),
    }
}

fn cache_break(event: Seq, body: &Body) -> Option<api::CacheBreakLine> {
    let Body::CacheBreak(fell) = body else {
        return None;
    };
    Some(api::CacheBreakLine {
        event: event.0,
        usage: fell.usage.0,
        before: fell.before,
        after: fell.after,
        cause: cause_name(fell.cause).to_owned(),
    })
}

/// Bytes of the pieces by category; what stands between them is in none.
fn bytes_by(measured: &Measured) -> api::TokensBy {
    let mut by = api::TokensBy::default();
    for piece in measured.projection.pieces.iter() {
        let sum = match piece.category {
            Category::Tools => &mut by.tools,
            Category::System => &mut by.system,
            Category::Messages => &mut by.messages,
            Category::Results => &mut by.results,
            Category::Summaries => &mut by.summaries,
            Category::Injections => &mut by.injections,
        };
        *sum = sum.saturating_add(piece.bytes.len() as u64);
    }
    by
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

/// The name of the preset in force.
fn preset_in(core: &Core) -> Option<String> {
    let logged = core.state.timeline().header.policy.as_ref()?;
    match &logged.event.body {
        Body::Policy(policy) => Some(preset_name(policy.preset).to_owned()),
        _ => None,
    }
}

fn spent(totals: &Totals) -> api::Spent {
    api::Spent {
        input: totals.input,
        output: totals.output,
        cache_read: totals.cache_read,
        cache_write: totals.cache_write_5m.saturating_add(totals.cache_write_1h),
        requests: totals.requests,
    }
}
