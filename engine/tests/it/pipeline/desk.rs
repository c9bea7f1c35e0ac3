//! What these tests share: a session with a long talk, a model that answers, bodies.

use crate::common::Fixture;
use recount::{Engine, Session, api};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

/// A profile whose window holds 20,000 tokens as we count them.
pub(crate) const SMALL: &str = r#"{"provider":"openai","model":"gpt-test","wire":"openai_chat","window":20000,"max_output":2000}"#;

/// A profile of a model that thinks, in a wide window.
pub(crate) const THINKER: &str = r#"{"provider":"anthropic","model":"claude-test","wire":"anthropic","window":200000,"max_output":32000,"thinking":{"binds":false,"keeps":"all"},"params":{"thinking":{"type":"enabled","budget_tokens":4000}}}"#;

/// What a model writes when it is asked for a summary.
pub(crate) const SUMMARY: &str =
    "<analysis>let me see</analysis>\n<summary>They counted birds, and wrote it down.</summary>";

/// A session and the directory that it lives in.
pub(crate) struct Desk {
    pub(crate) fixture: Fixture,
    pub(crate) session: Session,
}

impl Desk {
    /// A session of a profile and a policy.
    pub(crate) fn new(profile: &str, policy: &str) -> Self {
        let fixture = Fixture::new();
        let engine = fixture.engine();
        Self::on(fixture, &engine, profile, policy)
    }

    /// The same on an engine of the test's own.
    pub(crate) fn on(fixture: Fixture, engine: &Engine, profile: &str, policy: &str) -> Self {
        let spec = if profile.starts_with('{') {
            api::Spec::json(profile)
        } else {
            Some(profile.into())
        };
        let session = engine.create("s", spec).unwrap();
        session.append(&[policy]).unwrap();
        session
            .append(&[r#"{"type":"system","content":"Be brief."}"#, TOOLS])
            .unwrap();
        Self { fixture, session }
    }

    /// Without a policy, on a thinking model's profile.
    pub(crate) fn plain() -> Self {
        Self::new(THINKER, NONE)
    }

    /// Turns of a person, a call, its result and an answer; the last one waits for the model.
    pub(crate) fn talks(&self, turns: usize, words: usize) {
        for turn in 0..turns {
            self.turn(turn, words);
        }
        self.says("and now?");
    }

    pub(crate) fn turn(&self, turn: usize, words: usize) {
        let text = word(turn).repeat(words);
        let events = [
            json!({"type": "message", "role": "user", "content": format!("question {turn}: {text}")}),
            json!({"type": "message", "role": "assistant", "response": format!("r{turn}"), "stop": "tool_use", "content": [
                {"type": "text", "text": format!("I look {turn}.")},
                {"type": "tool_use", "id": format!("t{turn}"), "name": "read", "input": {"path": format!("{turn}.txt")}}]}),
            json!({"type": "tool_result", "call": format!("t{turn}"), "content": text}),
            json!({"type": "message", "role": "assistant", "response": format!("e{turn}"), "stop": "end_turn",
                "content": [{"type": "text", "text": format!("It says so: {turn}.")}]}),
        ];
        let events: Vec<String> = events.iter().map(Value::to_string).collect();
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        self.session.append(&events).unwrap();
    }

    pub(crate) fn says(&self, text: &str) {
        self.session.append(&[&crate::common::says(text)]).unwrap();
    }

    pub(crate) fn answers(&self, text: &str) {
        self.session
            .append(&[&crate::common::answers(text)])
            .unwrap();
    }

    /// Plans by force.
    pub(crate) fn plans(&self) -> api::Compacted {
        self.session.compact(api::Compact::default()).unwrap()
    }

    /// Hands in a text for a chunk.
    pub(crate) fn hands_in(&self, plan: &str, chunk: u32, text: &str) -> api::SummarisedAnswer {
        self.session
            .summarised(api::Summarised {
                compaction: plan.to_owned(),
                chunk,
                text: Some(text.to_owned()),
                ..Default::default()
            })
            .unwrap()
    }

    /// Hands in an error in place of a text.
    pub(crate) fn fails(&self, plan: &str, chunk: u32, error: &str) -> api::SummarisedAnswer {
        self.session
            .summarised(api::Summarised {
                compaction: plan.to_owned(),
                chunk,
                error: Some(said(error)),
                ..Default::default()
            })
            .unwrap()
    }

    /// The provider refuses what was issued last.
    pub(crate) fn refused(&self, words: &str) -> api::OverflowAnswer {
        self.session
            .overflowed(api::Overflowed {
                error: Some(said(words)),
                ..Default::default()
            })
            .unwrap()
    }

    pub(crate) fn prepares(&self) -> api::Prepared {
        self.session.prepare(api::Prepare::default()).unwrap()
    }

    pub(crate) fn head(&self) -> u64 {
        self.session.status().unwrap().head
    }

    pub(crate) fn body(&self) -> String {
        // Also of what does not fit: a refusal teaches what the provider counts.
        let prompt = self.session.prompt(api::Project {
            heal: true,
            ..Default::default()
        });
        String::from_utf8(prompt.unwrap().body()).unwrap()
    }

    /// The events of a type, oldest first.
    pub(crate) fn logged(&self, kind: &str) -> Vec<Value> {
        events(&self.session)
            .into_iter()
            .filter(|event| event["type"] == kind)
            .collect()
    }

    /// Closes everything, opens it again: another process could not know more.
    pub(crate) fn reopened(self) -> Self {
        let Self { fixture, session } = self;
        session.engine().close().unwrap();
        drop(session);
        let session = fixture.engine().session("s").unwrap();
        Self { fixture, session }
    }
}

/// Nothing is proposed by itself.
pub(crate) const NONE: &str = r#"{"type":"policy","preset":"none"}"#;

const TOOLS: &str = r#"{"type":"tools","tools":[{"name":"read","description":"reads","input_schema":{"type":"object"}}]}"#;

/// A word that no other turn says, about a token long.
pub(crate) fn word(turn: usize) -> String {
    format!("bird{turn} ")
}

pub(crate) fn events(session: &Session) -> Vec<Value> {
    let mut all = Vec::new();
    let mut from = 0;
    loop {
        let page = session.log(from, 1_000).unwrap();
        all.extend(
            page.events
                .iter()
                .map(|event| serde_json::from_str::<Value>(event.get()).unwrap()),
        );
        match page.next {
            Some(next) => from = next,
            None => return all,
        }
    }
}

pub(crate) fn said(words: &str) -> Box<RawValue> {
    to_raw_value(words).unwrap()
}

/// The exact bytes of a request.
pub(crate) fn text(request: &api::Request) -> String {
    serde_json::from_str(request.body.get()).unwrap()
}

/// A request as JSON.
pub(crate) fn parsed(request: &api::Request) -> Value {
    serde_json::from_str(&text(request)).unwrap()
}

/// All bodies of requests, in order.
pub(crate) fn bodies(requests: &[api::ChunkRequest]) -> Vec<String> {
    requests.iter().map(|open| text(&open.request)).collect()
}
