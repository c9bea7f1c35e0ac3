//! A host that talks with a scripted provider: it prepares, sends, and does what it is asked for.
//!
//! - The provider counts with a tokenizer of its own, judges every request, those for summaries too, and refuses what is too long.

use crate::desk::Desk;
use recount::api;
use recount_tests::simulation::{Body, Differ, Provider, Reply, Setup};
use recount_tests::validator::Wire;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// How a model behaves that is asked for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// It sums up.
    Sums,
    /// It writes so many words, whatever it was given.
    Rambles(usize),
    /// It answers with an error.
    Fails,
    /// Nothing ever comes back.
    Silent,
}

/// How a prompt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The provider answered; tokens that it read.
    Answered(u64),
    /// The person sees an error.
    Surfaced(String),
}

impl End {
    /// Tokens that the provider read.
    pub(crate) fn tokens(self) -> u64 {
        match self {
            Self::Answered(tokens) => tokens,
            Self::Surfaced(why) => panic!("surfaced: {why}"),
        }
    }
}

/// The host.
pub(crate) struct Live {
    pub(crate) desk: Desk,
    pub(crate) setup: Setup,
    pub(crate) provider: Provider,
    pub(crate) model: Model,
    /// Compares the prompts that were sent.
    pub(crate) differ: Differ,
    /// Requests for summaries that were sent.
    pub(crate) asked: u64,
    /// Prompts that were sent.
    pub(crate) sent: u64,
    /// Prompts that were refused for size.
    pub(crate) refused: u64,
    /// What the engine took the newest prompt for.
    pub(crate) estimate: u64,
    clock: u64,
}

impl Live {
    /// Under a preset in a window, with numbers of the policy's own.
    pub(crate) fn new(preset: &'static str, window: u64, params: &Value) -> Self {
        let policy = json!({"type": "policy", "preset": preset, "params": params});
        Self::under(preset, window, &policy, &json!({}))
    }

    /// Under a policy event, with members of the profile's own.
    pub(crate) fn under(
        preset: &'static str,
        window: u64,
        policy: &Value,
        profile: &Value,
    ) -> Self {
        let mut setup = Setup::new(preset, window, Wire::Anthropic, "pain");
        (setup.faults, setup.rates, setup.older) = (0, 0, false);
        let mut whole = setup.profile(false);
        for (name, value) in profile.as_object().into_iter().flatten() {
            whole[name.as_str()] = value.clone();
        }
        let mut traits = setup.traits();
        traits.facts = recount_tests::host::logged(&whole);
        traits.facts.cache_edits = setup.edits();
        let desk = Desk::with(&api::Spec::json(&whole.to_string()).unwrap());
        desk.log(policy);
        desk.log(&json!({"type": "system", "content": "Be brief."}));
        let tools = ["Grep", "Read"].map(
            |name| json!({"name": name, "description": "looks", "input_schema": {"type": "object"}}),
        );
        desk.log(&json!({"type": "tools", "tools": tools}));
        Self {
            desk,
            provider: Provider::new(traits, &setup.seed),
            setup,
            model: Model::Sums,
            differ: Differ::default(),
            asked: 0,
            sent: 0,
            refused: 0,
            estimate: 0,
            clock: 1_700_000_000_000,
        }
    }

    /// A question and its answer.
    pub(crate) fn turn(&mut self, question: &str, answer: &str) -> End {
        self.desk.says(question);
        self.reply(&json!([{"type": "text", "text": answer}]))
    }

    /// A question, so many calls one after the other with results of so many words, an answer.
    pub(crate) fn work(&mut self, name: &str, calls: usize, words: usize) -> End {
        self.desk.says(&format!("do {name}"));
        for call in 0..calls {
            let id = format!("{name}-{call}");
            let block = json!([{"type": "tool_use", "id": id, "name": "Read", "input": {"file_path": format!("{id}.txt")}}]);
            let end = self.reply(&block);
            if let End::Surfaced(_) = end {
                return end;
            }
            self.desk.result(&id, &said(&id, words));
        }
        self.reply(&json!([{"type": "text", "text": format!("done with {name}")}]))
    }

    /// Has a prompt answered, and logs the answer with what it cost.
    pub(crate) fn reply(&mut self, blocks: &Value) -> End {
        let (end, usage) = self.ask();
        if let Some((issued, mut usage)) = usage {
            let response = format!("r{}", self.sent);
            self.desk.log(&json!({"type": "message", "role": "assistant", "response": response, "issued": issued, "content": blocks}));
            usage["type"] = json!("usage");
            usage["request"] = json!(response);
            usage["issued"] = json!(issued);
            usage["output"] = json!(self.provider.count(&blocks.to_string()));
            self.desk.log(&usage);
        }
        end
    }

    /// Prepares and sends until the provider answers or an error reaches the person.
    fn ask(&mut self) -> (End, Option<(String, Value)>) {
        for _ in 0..12 {
            let prepared = self.prepare();
            if self.acts(&prepared.actions) {
                continue;
            }
            if prepared.prompt.outcome != api::Outcome::Ready {
                let why = format!(
                    "{:?} {:?} {:?}",
                    prepared.prompt.outcome, prepared.prompt.impossible, prepared.prompt.blocked
                );
                return (End::Surfaced(why), None);
            }
            if let Some(ended) = self.send(prepared) {
                return ended;
            }
        }
        panic!("no answer after twelve prompts: a loop");
    }

    pub(crate) fn prepare(&self) -> api::Prepared {
        self.desk
            .session()
            .prepare(api::Prepare::default())
            .unwrap()
    }

    fn send(&mut self, prepared: api::Prepared) -> Option<(End, Option<(String, Value)>)> {
        let mut prepared = prepared;
        for _ in 0..12 {
            let text = recount_tests::host::body(&prepared.prompt).unwrap();
            self.look(&prepared, &text);
            self.sent += 1;
            self.estimate = prepared.prompt.estimate;
            match self.give(&text) {
                Reply::Answered { account, deleted } => {
                    let usage = Provider::usage(&account, deleted, 0);
                    let end = End::Answered(account.total());
                    return Some((end, Some((prepared.prompt.digest, usage))));
                }
                Reply::Invalid(violations) => panic!("{violations:?}"),
                Reply::Refused(refusal) => {
                    self.refused += 1;
                    let answer = self.overflowed(&refusal.error);
                    match answer.outcome.as_str() {
                        "retry" => prepared = *answer.retry.unwrap(),
                        "summarise" => {
                            self.summarise(&answer.compaction.unwrap(), answer.requests);
                            return None;
                        }
                        _ => {
                            assert!(!answer.run_stop_hooks);
                            return Some((End::Surfaced(answer.why.unwrap_or_default()), None));
                        }
                    }
                }
            }
        }
        panic!("refused twelve times in a row: a loop");
    }

    pub(crate) fn overflowed(&self, error: &Value) -> api::OverflowAnswer {
        let ask = api::Overflowed {
            error: Some(raw(error)),
            ..Default::default()
        };
        self.desk.session().overflowed(ask).unwrap()
    }

    fn give(&mut self, text: &str) -> Reply {
        self.clock += 1_000;
        self.provider.send(text, self.clock)
    }

    /// What was sent before stays, but for an event that is there to change it.
    fn look(&mut self, prepared: &api::Prepared, text: &str) {
        let body = Body::parse(Wire::Anthropic, text).unwrap();
        let from = self.differ.head.map_or(0, |head| head + 1);
        let between: Vec<Value> = self.logged_from(from);
        let change = self.differ.next(&body, prepared.head, &between);
        if let Some(change) = change {
            assert!(change.cause.is_some(), "{change:?}");
        }
    }

    /// Does what the engine asks for. True: something changed.
    fn acts(&mut self, actions: &[api::Action]) -> bool {
        for action in actions {
            match (action.kind.as_str(), self.model) {
                ("summarise", Model::Silent) => {}
                ("summarise", _) => {
                    let open = api::ChunkRequest {
                        chunk: action.chunk.unwrap(),
                        request: action.request.clone().unwrap(),
                        first: action.first.unwrap(),
                        last: action.last.unwrap(),
                    };
                    self.summarise(action.compaction.as_ref().unwrap(), vec![open]);
                    return true;
                }
                _ => self.done(&action.id),
            }
        }
        false
    }

    pub(crate) fn done(&self, action: &str) {
        let ask = api::Done {
            action: action.to_owned(),
            ..Default::default()
        };
        self.desk.session().done(ask).unwrap();
    }

    /// Has the model answer a compaction's requests, as long as there are any; what became of it.
    pub(crate) fn summarise(&mut self, plan: &str, requests: Vec<api::ChunkRequest>) -> String {
        let mut plan = plan.to_owned();
        let mut open = requests;
        for _ in 0..30 {
            let Some(one) = open.first() else {
                return "nothing is open".to_owned();
            };
            let text: String = serde_json::from_str(one.request.body.get()).unwrap();
            let mut ask = self.summary(&text);
            ask.compaction.clone_from(&plan);
            ask.chunk = one.chunk;
            let answer = self.desk.session().summarised(ask).unwrap();
            if let Some(other) = &answer.compaction {
                plan.clone_from(other);
            }
            match answer.outcome.as_str() {
                "next" | "retry" => open = answer.requests,
                _ => return answer.outcome,
            }
        }
        panic!("a compaction that is asked for without end");
    }

    /// What the model answers to a request for a summary.
    fn summary(&mut self, text: &str) -> api::Summarised {
        self.asked += 1;
        let mut ask = api::Summarised::default();
        match (self.give(text), self.model) {
            (Reply::Invalid(violations), _) => panic!("{violations:?}"),
            (Reply::Refused(refusal), _) => ask.error = Some(raw(&refusal.error)),
            (_, Model::Fails | Model::Silent) => {
                ask.error = Some(raw(&json!({"status": 529, "body": "Overloaded"})));
            }
            (Reply::Answered { account, deleted }, model) => {
                let words = match model {
                    Model::Rambles(words) => {
                        format!("<summary>{}</summary>", said("much ado", words))
                    }
                    _ => {
                        let body = Body::parse(Wire::Anthropic, text).unwrap();
                        self.provider.summarise(&body).text
                    }
                };
                let output = self.provider.count(&words);
                ask.usage = Some(raw(&Provider::usage(&account, deleted, output)));
                ask.text = Some(words);
                ask.stop = Some("end_turn".to_owned());
            }
        }
        ask
    }

    pub(crate) fn status(&self) -> api::StatusReport {
        self.desk.session().status().unwrap()
    }

    /// The events of a kind, oldest first.
    pub(crate) fn logged(&self, kind: &str) -> Vec<Value> {
        let mut events = self.logged_from(0);
        events.retain(|event| event["type"] == kind);
        events
    }

    fn logged_from(&self, from: u64) -> Vec<Value> {
        let mut events = Vec::new();
        let mut next = Some(from);
        while let Some(from) = next {
            let page = self.desk.session().log(from, 1_000).unwrap();
            for event in &page.events {
                events.push(serde_json::from_str(event.get()).unwrap());
            }
            next = page.next;
        }
        events
    }

    /// How often a kind stands in the log.
    pub(crate) fn count(&self, kind: &str) -> usize {
        self.logged(kind).len()
    }

    /// Commits by their maker.
    pub(crate) fn made_by(&self, maker: &str) -> usize {
        let commits = self.logged("compact_commit");
        commits
            .iter()
            .filter(|commit| commit["boundary"]["by"] == maker)
            .count()
    }

    /// A breaker stands.
    pub(crate) fn tripped(&self, name: &str) -> bool {
        let breakers = self.status().breaker;
        breakers
            .iter()
            .any(|one| one.name == name && one.state == "trips")
    }
}

/// Words that no other text has, about a token each.
pub(crate) fn said(name: &str, words: usize) -> String {
    (0..words)
        .map(|word| format!("{name} bird{word} "))
        .collect()
}

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}
