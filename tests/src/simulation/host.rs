//! A live host: it relives a recording turn by turn against the engine and a scripted provider, and does what a host must.

mod summaries;

use super::background::Background;
use super::body::Body;
use super::differ::Differ;
use super::line::{Line, Refused};
use super::provider::{Provider, Reply, Traits};
use super::recording::{Happening, Recording, Step, is_result, prose};
use super::refusal::Why;
use super::setup::Setup;
use super::tally::Tally;
use crate::recordings::Dice;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// How often a prompt is asked for before the host gives up on an answer.
const ATTEMPTS: usize = 12;

/// How a turn went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// The prompt of this number was answered.
    Answered(usize),
    /// Nobody has to be asked: the session waits for the person.
    Unasked,
    /// The provider's error, or the engine's, reached the person.
    Surfaced,
}

/// A host at work.
#[derive(Debug)]
pub struct Host {
    /// What is relived.
    pub recording: Recording,
    /// Under which policy, window and dialect.
    pub setup: Setup,
    /// The engine.
    pub line: Line,
    /// The provider.
    pub provider: Provider,
    /// What was seen.
    pub tally: Tally,
    /// Compares what is issued.
    pub differ: Differ,
    now: u64,
    /// Where the recording's events stand in the relived session.
    places: BTreeMap<u64, u64>,
    /// Calls by id: the tool and what it was given.
    calls: BTreeMap<String, (String, Value)>,
    background: Background,
    /// The last request that was sent, parsed.
    newest: Option<Body>,
    spent: Option<(Value, u64)>,
}

impl Host {
    /// A host on a line.
    #[must_use]
    pub fn new(recording: Recording, setup: Setup, line: Line) -> Self {
        let provider = Provider::new(setup.traits(), &setup.seed);
        Self {
            recording,
            setup,
            line,
            provider,
            tally: Tally::default(),
            differ: Differ::default(),
            now: 0,
            places: BTreeMap::new(),
            calls: BTreeMap::new(),
            background: Background::default(),
            newest: None,
            spent: None,
        }
    }

    /// Lives through the whole recording.
    ///
    /// # Errors
    /// The engine refused what no host could do otherwise.
    pub fn live(&mut self) -> Result<(), Refused> {
        self.open()?;
        let steps = std::mem::take(&mut self.recording.steps);
        let mut skipping = false;
        for step in &steps {
            match step {
                Step::Say(said) => {
                    skipping &= !said.iter().any(|one| is_authored(&one.event));
                    if !skipping {
                        self.say(said)?;
                    }
                }
                Step::Answer { response, parts } if !skipping => {
                    skipping = self.turn(response, parts)? == Asked::Surfaced;
                }
                Step::Answer { .. } => {}
                Step::Back(to) => {
                    self.back(*to)?;
                    skipping = false;
                }
            }
        }
        self.recording.steps = steps;
        Ok(())
    }

    fn open(&mut self) -> Result<(), Refused> {
        let first = self.recording.steps.iter().find_map(|step| match step {
            Step::Say(said) => said.first().map(|one| one.at),
            Step::Answer { parts, .. } => parts.first().map(|one| one.at),
            Step::Back(_) => None,
        });
        self.now = first.unwrap_or(0).max(1_600_000_000_000);
        let ask = json!({
            "create": true,
            "host": "simulated",
            "profile": self.setup.profile(self.recording.thinks),
            "policy": self.setup.policy(),
            "spill_root": self.setup.spills,
            "at": self.now,
        });
        self.line.call("v1.session.open", ask)?;
        let mut dice = Dice::new(&format!("system {}", self.recording.name));
        let system = prose(&mut dice, self.setup.system_words());
        let mut events = vec![json!({"type": "system", "content": system, "at": self.now})];
        let tools = self.recording.declared();
        if !tools.is_empty() {
            events.push(json!({"type": "tools", "tools": tools, "at": self.now}));
        }
        self.line
            .call("v1.session.append", json!({"events": events}))?;
        Ok(())
    }

    fn tick(&mut self, at: u64) -> u64 {
        self.now = at.max(self.now + 1);
        self.now
    }

    /// Appends what was said; what the engine cannot take (a result of a call that went with its turn) is passed over.
    fn say(&mut self, said: &[Happening]) -> Result<(), Refused> {
        for one in said {
            if is_authored(&one.event) {
                self.tally.turns += 1;
            }
            self.happen(one, None)?;
        }
        Ok(())
    }

    fn happen(&mut self, one: &Happening, issued: Option<usize>) -> Result<(), Refused> {
        let at = self.tick(one.at);
        let mut event = one.event.clone();
        let assistant = event["role"] == "assistant";
        if let Some(object) = event.as_object_mut() {
            object.insert("at".to_owned(), json!(at));
            if let (true, Some(number)) = (assistant, issued) {
                object.insert("issued".to_owned(), json!(format!("@issued:{number}")));
            }
        }
        for block in event["content"].as_array().into_iter().flatten() {
            if let (Some(id), Some(name)) = (block["id"].as_str(), block["name"].as_str()) {
                let call = (name.to_owned(), block["input"].clone());
                self.calls.insert(id.to_owned(), call);
            }
        }
        let receipt = match self
            .line
            .call("v1.session.append", json!({"events": [event]}))
        {
            Ok(receipt) => receipt,
            Err(refused) if is_result(&one.event) || refused.kind == "Rejected" => {
                self.tally.passed_over += 1;
                return Ok(());
            }
            Err(refused) => return Err(refused),
        };
        let seq = receipt["first"].as_u64().unwrap_or(0);
        self.places.insert(one.seq, seq);
        self.background.said(seq, &event);
        let output = self.output(&event);
        self.tally.appended += output;
        self.remember(seq, &event)
    }

    /// Tokens of an event's content, as the provider counts.
    fn output(&self, event: &Value) -> u64 {
        match &event["content"] {
            Value::String(text) => self.provider.count(text),
            other => self.provider.count(&other.to_string()),
        }
    }

    /// What a host notes beside the talk: files that were read, the to-do list.
    fn remember(&mut self, seq: u64, event: &Value) -> Result<(), Refused> {
        let mut notes = Vec::new();
        let blocks = event["content"].as_array();
        for (index, block) in blocks.into_iter().flatten().enumerate() {
            let call = block["tool_use_id"]
                .as_str()
                .and_then(|id| self.calls.get(id));
            if let Some((tool, input)) = call
                && tool == "Read"
                && let Some(path) = input["file_path"].as_str()
            {
                notes.push(json!({"type": "file_read", "path": path, "block": [seq, index], "at": self.now}));
            }
            if block["name"] == "TodoWrite"
                && let Some(items) = block["input"]["todos"].as_array()
            {
                let items: Vec<&str> = items
                    .iter()
                    .filter_map(|item| item["content"].as_str())
                    .collect();
                notes.push(json!({"type": "todo", "items": items, "at": self.now}));
            }
        }
        if notes.is_empty() {
            return Ok(());
        }
        self.line
            .call("v1.session.append", json!({"events": notes}))
            .map(|_| ())
    }

    fn back(&mut self, to: u64) -> Result<(), Refused> {
        let Some(seq) = self.places.range(..=to).next_back().map(|(_, seq)| *seq) else {
            return Ok(());
        };
        let at = self.tick(0);
        self.tally.rollbacks += 1;
        let ask = json!({"to": {"seq": seq}, "at": at});
        self.line.call("v1.session.rollback", ask).map(|_| ())
    }

    /// Asks for an answer and logs it with what it cost.
    fn turn(&mut self, response: &str, parts: &[Happening]) -> Result<Asked, Refused> {
        let setup = (self.setup.stages, self.setup.notes);
        for note in self.background.due(setup, self.now) {
            // A span that a fold has taken meanwhile is no span any more.
            match self
                .line
                .call("v1.session.append", json!({"events": [note]}))
            {
                Err(refused) if refused.kind != "Rejected" => return Err(refused),
                Err(_) => self.tally.passed_over += 1,
                Ok(_) => {}
            }
        }
        self.background.begins();
        let asked = self.ask()?;
        let number = match asked {
            Asked::Answered(number) => Some(number),
            Asked::Unasked => None,
            Asked::Surfaced => {
                self.give_up()?;
                return Ok(asked);
            }
        };
        let mut output = 0;
        for part in parts {
            let mut part = part.clone();
            if part.event["role"] == "assistant"
                && let Some(object) = part.event.as_object_mut()
            {
                object.insert("response".to_owned(), json!(response));
                output += self.output(&part.event);
            }
            self.happen(&part, number)?;
        }
        if let (Some(number), Some((mut usage, _))) = (number, self.spent.take())
            && let Some(object) = usage.as_object_mut()
        {
            object.insert("type".to_owned(), json!("usage"));
            object.insert("at".to_owned(), json!(self.now));
            object.insert("request".to_owned(), json!(response));
            object.insert("issued".to_owned(), json!(format!("@issued:{number}")));
            object.insert("output".to_owned(), json!(output));
            let cost = ["input", "cache_read"].map(|name| usage[name].as_u64().unwrap_or(0));
            let written = ["5m", "1h"].map(|name| usage["cache_write"][name].as_u64().unwrap_or(0));
            let cost = cost.iter().chain(&written).sum();
            self.tally.costs.insert(response.to_owned(), cost);
            self.line
                .call("v1.session.append", json!({"events": [usage]}))?;
        }
        Ok(asked)
    }

    /// The person takes back what cannot be sent.
    fn give_up(&mut self) -> Result<(), Refused> {
        let at = self.tick(0);
        self.tally.given_up += 1;
        let ask = json!({"to": {"turns": 1}, "at": at});
        match self.line.call("v1.session.rollback", ask) {
            Err(refused) if refused.kind != "NotFound" => Err(refused),
            _ => Ok(()),
        }
    }

    fn ask(&mut self) -> Result<Asked, Refused> {
        for _ in 0..ATTEMPTS {
            let now = self.tick(0);
            let prepared = self.line.call("v1.session.prepare", json!({"now": now}))?;
            self.tally.prepared(&prepared);
            let acted = self.act(&prepared["actions"])?;
            if acted {
                continue;
            }
            match prepared["outcome"].as_str() {
                Some("ready") => match self.send(&prepared)? {
                    Some(asked) => return Ok(asked),
                    None => continue,
                },
                Some("waiting") => match prepared["waiting"]["for"].as_str() {
                    Some("person") => {
                        self.tally.unasked += 1;
                        return Ok(Asked::Unasked);
                    }
                    Some("results") => {
                        let now = self.tick(0);
                        self.tally.interrupted += 1;
                        self.line
                            .call("v1.session.interrupt", json!({"now": now}))?;
                    }
                    other => self.defect(format!("waiting for {other:?} without an action")),
                },
                other => {
                    self.impossible(other.unwrap_or("?"), &prepared)?;
                    return Ok(Asked::Surfaced);
                }
            }
        }
        self.defect(format!("no answer after {ATTEMPTS} prompts"));
        Ok(Asked::Surfaced)
    }

    /// An outcome that nothing can be sent from: whether the floor and the newest words alone would have fitted.
    fn impossible(&mut self, outcome: &str, prepared: &Value) -> Result<(), Refused> {
        let window = self.setup.window;
        let ask = json!({"heal": true, "profile": self.setup.unlimited(self.recording.thinks)});
        let whole = self.line.call("v1.session.project", ask)?;
        let body = whole["request"]["body"].as_str().unwrap_or_default();
        let least = Body::parse(self.setup.wire, body)
            .map(|body| self.provider.least(&body))
            .unwrap_or(0);
        self.tally.surfaced += 1;
        let room = self.setup.max_output.min(window / 4);
        if least + room <= window * 9 / 10 {
            self.defect(format!(
                "{outcome} although the floor and the newest words need {least} of {window}: {}",
                prepared["impossible"]
            ));
        }
        Ok(())
    }

    /// Sends what was prepared. None: prepare again.
    fn send(&mut self, prepared: &Value) -> Result<Option<Asked>, Refused> {
        let mut prepared = prepared.clone();
        for _ in 0..ATTEMPTS {
            let text = prepared["request"]["body"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let number = self.line.next_issued().saturating_sub(1);
            self.look(&prepared, &text)?;
            let now = self.tick(0);
            let reply = self.provider.send(&text, now);
            match reply {
                Reply::Answered { account, deleted } => {
                    let calibrated = self.tally.answered > 0;
                    self.tally
                        .answered(&account, self.setup.window, &prepared, calibrated);
                    self.spent = Some((Provider::usage(&account, deleted, 0), now));
                    return Ok(Some(Asked::Answered(number)));
                }
                Reply::Invalid(violations) => {
                    let first = violations.first();
                    self.defect(format!(
                        "invalid request: {first:?} of {}",
                        violations.len()
                    ));
                    return Ok(Some(Asked::Answered(number)));
                }
                Reply::Refused(refusal) => {
                    self.refused(&refusal.why, &prepared);
                    let ask = json!({"now": self.tick(0), "error": refusal.error, "issued": format!("@issued:{number}")});
                    let answer = self.line.call("v1.session.overflowed", ask)?;
                    self.tally.overflowed(&answer);
                    if let Why::Rate = refusal.why {
                        if answer["refused_for"] != "none" {
                            self.defect(format!(
                                "a rate limit was taken for {}",
                                answer["refused_for"]
                            ));
                        }
                        continue;
                    }
                    match answer["outcome"].as_str() {
                        Some("retry") => prepared = answer["retry"].clone(),
                        Some("summarise") => {
                            self.summarise(&answer["compaction"], &answer["requests"])?;
                            return Ok(None);
                        }
                        _ => {
                            if answer["run_stop_hooks"] != false {
                                self.defect("hooks may run after a refusal for size".to_owned());
                            }
                            self.surfaced(&answer);
                            return Ok(Some(Asked::Surfaced));
                        }
                    }
                }
            }
        }
        self.defect(format!("refused {ATTEMPTS} times in a row"));
        Ok(Some(Asked::Surfaced))
    }

    /// Whether a refusal could have been prevented.
    fn refused(&mut self, why: &Why, prepared: &Value) {
        match why {
            Why::Rate => self.tally.rates += 1,
            Why::Bytes => {
                self.tally.refusals += 1;
                self.defect("a body of too many bytes was issued".to_owned());
            }
            Why::Tokens {
                input,
                max_tokens,
                window,
                ..
            } => {
                self.tally.refusals += 1;
                if self.tally.answered == 0 {
                    self.tally.uncalibrated += 1;
                    return;
                }
                let least = self
                    .newest
                    .as_ref()
                    .map_or(0, |body| self.provider.least(body));
                let room = (*max_tokens).min(window / 4);
                if least + room <= *window {
                    self.tally.preventable += 1;
                    let text = format!(
                        "refused although it could have been prevented: {input} + {max_tokens} > {window}, estimate {}, measured {}, least {least}",
                        prepared["estimate"], prepared["status"]["measured"]
                    );
                    self.defect(text);
                }
            }
        }
    }

    fn surfaced(&mut self, answer: &Value) {
        self.tally.surfaced += 1;
        let least = self
            .newest
            .as_ref()
            .map_or(0, |body| self.provider.least(body));
        let room = self.setup.max_output.min(self.setup.window / 4);
        if least + room <= self.setup.window * 9 / 10 {
            self.defect(format!(
                "an error surfaced although the floor and the newest words need {least} of {}: {}",
                self.setup.window, answer["why"]
            ));
        }
    }

    /// Looks at a prompt before it is sent: what changed since the last one, and why.
    fn look(&mut self, prepared: &Value, text: &str) -> Result<(), Refused> {
        self.tally.requests += 1;
        if let Some(digest) = prepared["body_digest"].as_str() {
            self.tally.bodies.push(digest.to_owned());
        }
        if self.setup.keep {
            self.tally.texts.push(text.to_owned());
        }
        let body = match Body::parse(self.setup.wire, text) {
            Ok(body) => body,
            Err(why) => {
                self.defect(format!("unreadable body: {why}"));
                return Ok(());
            }
        };
        let head = prepared["head"].as_u64().unwrap_or(0);
        let between = self.events(self.differ.head.map_or(0, |head| head + 1))?;
        if let Some(change) = self.differ.next(&body, head, &between)
            && change.cause.is_none()
        {
            self.defect(format!("changed without a cause in the log: {change:?}"));
        }
        self.newest = Some(body);
        Ok(())
    }

    /// Events of the log from a position on.
    fn events(&mut self, from: u64) -> Result<Vec<Value>, Refused> {
        let mut events = Vec::new();
        let mut next = Some(from);
        while let Some(from) = next {
            let page = self.line.call("v1.session.log", json!({"from": from}))?;
            events.extend(page["events"].as_array().into_iter().flatten().cloned());
            next = page["next"].as_u64();
        }
        Ok(events)
    }

    fn defect(&mut self, text: String) {
        let place = self.tally.requests;
        self.tally.defects.push(format!("request {place}: {text}"));
    }

    /// What the provider is like.
    #[must_use]
    pub fn traits(&self) -> &Traits {
        &self.provider.traits
    }
}

/// The person wrote it.
fn is_authored(event: &Value) -> bool {
    event["role"] == "user" && !is_result(event) && event["authored"] != false
}
