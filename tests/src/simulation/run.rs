//! A whole run: a recording relived, and what must hold at its end.

use super::host::Host;
use super::line::{Kills, Line};
use super::recording::Recording;
use super::setup::Setup;
use super::tally::Tally;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The name of the relived session.
const SESSION: &str = "relived";

/// What a run came to.
#[derive(Debug)]
pub struct Outcome {
    /// What was relived.
    pub name: String,
    /// Under what.
    pub setup: Setup,
    /// What was seen.
    pub tally: Tally,
    /// Changed prefixes by cause.
    pub causes: BTreeMap<String, u64>,
    /// Folds that were committed, by the kind of their event.
    pub folds: BTreeMap<String, u64>,
    /// Digest of the body at the head, open calls healed.
    pub last: String,
    /// Kills, and those in the middle of a call.
    pub killed: (u64, u64),
    /// Calls that change something.
    pub calls: u64,
}

/// Lives through a recording on this machine's disk.
///
/// # Errors
/// What the engine refused, in words.
pub fn run(recording: &Recording, setup: &Setup) -> Result<Outcome, String> {
    live(recording, setup, Line::on_disk(SESSION)?)
}

/// The same on a simulated disk, the engine killed now and then.
///
/// # Errors
/// What the engine refused, in words.
pub fn run_killed(
    recording: &Recording,
    setup: &Setup,
    kills: Option<Kills>,
) -> Result<Outcome, String> {
    live(recording, setup, Line::simulated(SESSION, kills)?)
}

fn live(recording: &Recording, setup: &Setup, line: Line) -> Result<Outcome, String> {
    let mut host = Host::new(recording.clone(), setup.clone(), line);
    let told = |refused: super::line::Refused| format!("{refused:?}");
    host.live().map_err(told)?;
    let before = digest(&mut host.line)?;
    host.line.reopen()?;
    let last = digest(&mut host.line)?;
    let mut ending = Ending {
        host: &mut host,
        folds: BTreeMap::new(),
    };
    if before != last {
        ending.defect(format!("reopened, it shows {last} instead of {before}"));
    }
    ending.sums()?;
    ending.folds()?;
    ending.verified()?;
    let folds = ending.folds;
    let mut tally = host.tally;
    tally.defects.append(&mut host.line.differences);
    Ok(Outcome {
        name: recording.name.clone(),
        setup: setup.clone(),
        tally,
        causes: host.differ.causes,
        folds,
        last,
        killed: host.line.killed,
        calls: host.line.calls(),
    })
}

/// The digest of what is shown at the head, whatever is open or too long.
fn digest(line: &mut Line) -> Result<String, String> {
    let shown = ask(line, "v1.session.project", json!({"heal": true}))?;
    let digest = &shown["body_digest"];
    let digest = if digest.is_string() {
        digest
    } else {
        &shown["outcome"]
    };
    Ok(digest.as_str().unwrap_or_default().to_owned())
}

fn ask(line: &mut Line, method: &'static str, params: Value) -> Result<Value, String> {
    line.call(method, params)
        .map_err(|refused| format!("{refused:?}"))
}

/// The end of a run.
struct Ending<'a> {
    host: &'a mut Host,
    folds: BTreeMap<String, u64>,
}

impl Ending<'_> {
    fn defect(&mut self, text: String) {
        self.host.tally.defects.push(format!("at the end: {text}"));
    }

    /// What `explain` shows adds up, and the ledger holds what the provider said.
    fn sums(&mut self) -> Result<(), String> {
        let explained = ask(&mut self.host.line, "v1.session.explain", json!({}))?;
        let shown: u64 = explained["shown"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|piece| piece["tokens"].as_u64())
            .sum();
        if Some(shown) != explained["tokens"]["total"].as_u64() {
            self.defect(format!(
                "the pieces sum to {shown}, the total is {}",
                explained["tokens"]["total"]
            ));
        }
        let status = ask(&mut self.host.line, "v1.session.status", json!({}))?;
        let usage = &status["usage"];
        let number = |name: &str| usage[name].as_u64().unwrap_or(0);
        let said = number("input") + number("cache_read") + number("cache_write");
        let real = self.host.tally.input + self.host.tally.summary_logged;
        if said != real {
            let mut told = self.host.tally.costs.clone();
            for event in self.log()? {
                if let ("usage", Some(request)) = (
                    event["type"].as_str().unwrap_or(""),
                    event["request"].as_str(),
                ) {
                    told.remove(request);
                }
            }
            self.defect(format!(
                "the ledger says {said} tokens of input, the provider {real}; not logged: {told:?}"
            ));
        }
        Ok(())
    }

    /// All events.
    fn log(&mut self) -> Result<Vec<Value>, String> {
        let mut events = Vec::new();
        let mut next = Some(0);
        while let Some(from) = next {
            let page = ask(&mut self.host.line, "v1.session.log", json!({"from": from}))?;
            events.extend(page["events"].as_array().into_iter().flatten().cloned());
            next = page["next"].as_u64();
        }
        Ok(events)
    }

    /// Law 10: each commit made the prompt smaller, and commits are as many as new content asks for.
    fn folds(&mut self) -> Result<(), String> {
        let status = ask(&mut self.host.line, "v1.session.status", json!({}))?;
        let trigger = status["trigger"].as_u64().unwrap_or(u64::MAX).max(1);
        let events = self.log()?;
        let mut since = 0_u64;
        for event in &events {
            let kind = event["type"].as_str().unwrap_or_default();
            if matches!(
                kind,
                "compact_plan"
                    | "compact_commit"
                    | "compact_abandon"
                    | "collapse_commit"
                    | "replace"
                    | "snip"
                    | "cache_edit"
                    | "overflow"
                    | "breaker"
                    | "cache_break"
            ) {
                *self.folds.entry(kind.to_owned()).or_default() += 1;
            }
            match kind {
                "usage" if event["compaction"].is_null() => since = 0,
                "compact_commit" => {
                    since += 1;
                    let (before, after) = (event["before"].as_u64(), event["after"].as_u64());
                    if let (Some(before), Some(after)) = (before, after)
                        && after >= before
                    {
                        self.defect(format!("{} made {before} tokens {after}", event["id"]));
                    }
                    if since > 3 {
                        self.defect(format!(
                            "{} is number {since} without an answer in between",
                            event["id"]
                        ));
                    }
                }
                _ => {}
            }
        }
        let commits = self.folds.get("compact_commit").copied().unwrap_or(0);
        let most = 4 + 4 * self.host.tally.appended / trigger;
        if commits > most {
            self.defect(format!(
                "{commits} compactions for {} tokens of new content with the trigger at {trigger}",
                self.host.tally.appended
            ));
        }
        Ok(())
    }

    /// Law 3: each recorded digest is rendered again.
    fn verified(&mut self) -> Result<(), String> {
        let verified = ask(&mut self.host.line, "v1.session.verify", json!({}))?;
        let problems = verified["problems"].as_array().map_or(0, Vec::len);
        if verified["state"] != "clean" || problems > 0 {
            let text = verified.to_string().chars().take(600).collect::<String>();
            self.defect(format!("verify: {text}"));
        }
        Ok(())
    }
}
