//! A session in memory and what policies see of it: events as a host appends them, a prompt, a situation.
//!
//! - [`Host`] logs events through the same door as the engine and keeps the log, so that a session can be folded again.
//! - [`View`] owns what a [`Situation`] borrows. Its numbers may be changed before [`View::at`] is asked.
//! - Tokens are a quarter of the bytes, rounded up; the provider counts as we do, unless a test says otherwise.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "each test binary uses a part of the kit; a test that cannot go on has failed"
)]

use recount_events::{Body, Event, Millis, Profile, Seq, SessionKind, escape};
use recount_policies::{Constants, Fill, Proposal, Propose, Situation, Thresholds, Words, snip};
use recount_projections::render::ByBytes;
use recount_projections::{Budget, Projection, Request, State, project, replay};
use std::collections::BTreeMap;

/// A profile that limits nothing but its window of 200,000 tokens.
pub const PROFILE: &str = r#"{"type":"profile","provider":"anthropic","model":"claude-test","wire":"anthropic","window":200000,"max_output":32000,"prefill":false,"thinking":{"binds":false,"keeps":"all"},"system_role":false,"params":{}}"#;

/// The folder of spilled results, and that of the session in it.
pub const SPILL: (&str, &str) = ("/spill", "talk-1");

/// When a session begins, in ms.
pub const START: u64 = 1_700_000_000_000;

/// A quarter of the bytes, rounded up.
pub struct Quarter;

impl Words for Quarter {
    fn tokens(&self, text: &str) -> u64 {
        (text.len() as u64).div_ceil(4)
    }
}

/// A session and everything that was logged in it.
#[derive(Clone, Default)]
pub struct Host {
    /// The fold.
    pub state: State,
    /// The log, resolved.
    pub log: Vec<Event>,
    /// The time of the next event, in ms.
    pub now: u64,
    /// Spilled results are written under this folder.
    pub spills: bool,
    /// What was spilled, by name.
    pub files: BTreeMap<String, Vec<u8>>,
    /// What the tier of zombies knows; it hears of every event.
    pub zombies: snip::Index,
}

impl Host {
    /// A main session of a preset; `params`: the policy's own numbers, a JSON object, or nothing.
    pub fn new(preset: &str, params: &str) -> Self {
        Self::of("main", preset, params)
    }

    /// A session of a kind (`main`, `sub`, `side`).
    pub fn of(kind: &str, preset: &str, params: &str) -> Self {
        let mut host = Self {
            now: START,
            spills: true,
            ..Self::default()
        };
        host.log(&format!(
            r#"{{"type":"opened","session":"talk","kind":"{kind}"}}"#
        ));
        host.log(PROFILE);
        host.policy(preset, params);
        host
    }

    /// Another policy.
    pub fn policy(&mut self, preset: &str, params: &str) -> u64 {
        let params = if params.is_empty() { "{}" } else { params };
        self.log(&format!(
            r#"{{"type":"policy","preset":"{preset}","params":{params}}}"#
        ))
    }

    /// Another profile: the plain one with some members changed.
    pub fn profile(&mut self, change: &str) -> u64 {
        let mut plain: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(PROFILE).unwrap();
        let change: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(change).unwrap();
        plain.extend(change);
        self.log(&serde_json::to_string(&plain).unwrap())
    }

    /// Appends an event as a host gives it; answers its position.
    #[track_caller]
    pub fn log(&mut self, json: &str) -> u64 {
        let event = Event::from_json(json, Millis(self.now))
            .unwrap_or_else(|refusal| panic!("{refusal:?} in {json}"));
        self.take(event)
    }

    /// Appends several.
    #[track_caller]
    pub fn logs(&mut self, lines: &[&str]) {
        for line in lines {
            self.log(line);
        }
    }

    /// Appends an event.
    #[track_caller]
    pub fn take(&mut self, event: Event) -> u64 {
        let admitted = self
            .state
            .admit(event.clone())
            .unwrap_or_else(|misfit| panic!("{misfit}: {event:?}"));
        let event = admitted.event().clone();
        self.log.push(event.clone());
        let applied = self.state.apply(admitted);
        self.zombies.follow(&event, &applied, self.state.timeline());
        applied.seq.0
    }

    /// Appends an event of the engine.
    #[track_caller]
    pub fn put(&mut self, body: Body) -> u64 {
        self.take(Event {
            at: Millis(self.now),
            body,
            because: None,
            extra: None,
        })
    }

    /// The person says something.
    #[track_caller]
    pub fn says(&mut self, words: &str) -> u64 {
        self.log(&format!(
            r#"{{"type":"message","role":"user","content":{}}}"#,
            escape(words)
        ))
    }

    /// The model answers in words.
    #[track_caller]
    pub fn answers(&mut self, words: &str) -> u64 {
        self.log(&format!(
            r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":{}}}]}}"#,
            escape(words)
        ))
    }

    /// The model calls tools: id, name, input (a JSON object). Their blocks are 0, 1, 2 … of the event.
    #[track_caller]
    pub fn calls(&mut self, calls: &[(&str, &str, &str)]) -> u64 {
        let blocks: Vec<String> = calls
            .iter()
            .map(|(id, name, input)| {
                format!(
                    r#"{{"type":"tool_use","id":{},"name":{},"input":{input}}}"#,
                    escape(id),
                    escape(name)
                )
            })
            .collect();
        self.log(&format!(
            r#"{{"type":"message","role":"assistant","content":[{}]}}"#,
            blocks.join(",")
        ))
    }

    /// A tool's result.
    #[track_caller]
    pub fn result(&mut self, call: &str, words: &str) -> u64 {
        self.result_of(call, "ok", &escape(words))
    }

    /// A tool's result with a status and a content as JSON.
    #[track_caller]
    pub fn result_of(&mut self, call: &str, status: &str, content: &str) -> u64 {
        self.log(&format!(
            r#"{{"type":"tool_result","call":{},"status":"{status}","content":{content}}}"#,
            escape(call)
        ))
    }

    /// A whole exchange: one call and its result; answers the position of the call's message (the result is the next one).
    #[track_caller]
    pub fn exchange(&mut self, id: &str, tool: &str, input: &str, result: &str) -> u64 {
        let unit = self.calls(&[(id, tool, input)]);
        self.result(id, result);
        unit
    }

    /// The provider's usage of an answer.
    #[track_caller]
    pub fn usage(&mut self, request: &str, input: u64, output: u64) -> u64 {
        self.log(&format!(
            r#"{{"type":"usage","request":{},"input":{input},"output":{output}}}"#,
            escape(request)
        ))
    }

    /// Rolls back to a position.
    #[track_caller]
    pub fn back(&mut self, to: u64) -> u64 {
        self.log(&format!(r#"{{"type":"rollback","to":{{"seq":{to}}}}}"#))
    }

    /// Undoes an event.
    #[track_caller]
    pub fn undo(&mut self, event: u64) -> u64 {
        self.log(&format!(r#"{{"type":"undo","event":{event}}}"#))
    }

    /// The time passes.
    pub fn wait(&mut self, millis: u64) {
        self.now = self.now.saturating_add(millis);
    }

    /// The newest position.
    pub fn head(&self) -> u64 {
        self.state.head().map_or(0, |head| head.0)
    }

    /// What policies see now.
    #[track_caller]
    pub fn view(&self) -> View {
        View::of(&self.state, Millis(self.now), self.spills)
    }

    /// The prompt now, open calls healed.
    #[track_caller]
    pub fn prompt(&self) -> String {
        String::from_utf8(self.view().projection.body()).unwrap()
    }

    /// What a tier proposes now.
    #[track_caller]
    pub fn asks(&self, tier: Propose) -> Proposal {
        tier(&self.view().at())
    }

    /// A tier runs: what it proposes is logged.
    #[track_caller]
    pub fn runs(&mut self, tier: Propose) -> Proposal {
        let proposal = self.asks(tier);
        self.accept(&proposal);
        proposal
    }

    /// Logs a proposal, as the engine does: files first, then the events in order, causes kept.
    #[track_caller]
    pub fn accept(&mut self, proposal: &Proposal) {
        for spill in &proposal.spills {
            self.files.insert(spill.name.clone(), spill.bytes.clone());
        }
        for proposed in &proposal.events {
            self.take(Event {
                at: Millis(self.now),
                body: proposed.body.clone(),
                because: proposed.because,
                extra: None,
            });
        }
    }

    /// The same session in another process: its log written as lines, read and folded from nothing.
    pub fn reopened(&self) -> Self {
        let lines = (0_u64..)
            .zip(&self.log)
            .map(|(seq, event)| event.to_json(Seq(seq), None));
        let events: Vec<Event> = lines
            .map(|line| Event::from_log_json(&line).unwrap().event)
            .collect();
        Self {
            state: replay(events.iter().cloned().map(Ok)),
            log: events,
            zombies: snip::Index::default(),
            ..self.clone()
        }
    }

    /// A session that goes on from a position of this one, with a log of its own.
    #[track_caller]
    pub fn fork(&self, at: u64) -> Self {
        let kept = usize::try_from(at).unwrap() + 1;
        Self {
            state: self.state.fork(Seq(at)).unwrap(),
            log: self.log.iter().take(kept).cloned().collect(),
            zombies: snip::Index::default(),
            ..self.clone()
        }
    }
}

/// What a situation borrows.
pub struct View {
    /// The session.
    pub state: State,
    /// The prompt.
    pub projection: Projection,
    /// For whom.
    pub profile: Profile,
    /// The policy's numbers.
    pub constants: Constants,
    /// What the session is for.
    pub kind: SessionKind,
    /// Proactive tiers run.
    pub auto: bool,
    /// Reactive compaction runs even then.
    pub reactive: bool,
    /// The time.
    pub now: Millis,
    /// How full the window is.
    pub fill: Fill,
    /// The lines.
    pub lines: Thresholds,
    /// There is a folder for spilled results.
    pub spills: bool,
}

impl View {
    /// A state, as its own events say; the window and all else by the profile in force.
    #[track_caller]
    pub fn of(state: &State, now: Millis, spills: bool) -> Self {
        let header = &state.timeline().header;
        let profile = match header.profile.as_ref().map(|logged| &logged.event.body) {
            Some(Body::Profile(profile)) => profile.clone(),
            _ => panic!("a session of the kit has a profile"),
        };
        let policy = match header.policy.as_ref().map(|logged| &logged.event.body) {
            Some(Body::Policy(policy)) => policy.clone(),
            _ => panic!("a session of the kit has a policy"),
        };
        let kind = match state
            .ledger()
            .opened
            .as_ref()
            .map(|logged| &logged.event.body)
        {
            Some(Body::Opened(opened)) => opened.kind,
            _ => SessionKind::Main,
        };
        let params = policy.params.as_ref().and_then(|text| text.as_str());
        // As the engine reads what a log holds.
        let (constants, _) = Constants::recorded(policy.preset, params).unwrap();
        let projection = project(&Request {
            timeline: state.timeline(),
            profile: &profile,
            wire: profile.wire,
            heal: true,
            counts: &ByBytes,
            budget: Budget::default(),
        });
        let fill = Fill {
            total: projection.tokens.saturating_add(profile.overhead_tokens),
            measured: 0,
            counted: projection.tokens,
            factor_milli: 1_000,
            floor: projection
                .by
                .tools
                .saturating_add(projection.by.system)
                .saturating_add(profile.overhead_tokens),
            bytes: projection.bytes,
            images: projection.images,
            pending: false,
        };
        Self {
            lines: Thresholds::of(&constants.compact, &profile, None),
            state: state.clone(),
            projection,
            profile,
            constants,
            kind,
            auto: policy.auto,
            reactive: policy.reactive,
            now,
            fill,
            spills,
        }
    }

    /// What a policy looks at.
    pub fn at(&self) -> Situation<'_> {
        Situation {
            state: &self.state,
            profile: &self.profile,
            constants: &self.constants,
            kind: self.kind,
            auto: self.auto,
            reactive: self.reactive,
            now: self.now,
            pieces: &self.projection.pieces,
            fill: self.fill,
            lines: self.lines,
            words: &Quarter,
            spill: self.spills.then_some(SPILL),
        }
    }
}
