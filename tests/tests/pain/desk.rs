//! A host with one session: what it appends, and what is sent for it.

use recount::{Engine, Error, Session, api};
use recount_tests::host::{self, Verdict, judge};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A host, its directory, its session `s`.
pub(crate) struct Desk {
    dir: TempDir,
    engine: Option<Engine>,
}

impl Desk {
    /// With a profile that refuses prefill.
    pub(crate) fn new() -> Self {
        Self::with(&"claude-sonnet-5".into())
    }

    /// With a profile of its own.
    pub(crate) fn with(profile: &api::Spec) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let engine = host::engine(dir.path()).unwrap();
        engine.create("s", Some(profile.clone())).unwrap();
        Self {
            dir,
            engine: Some(engine),
        }
    }

    /// With thinking asked for.
    pub(crate) fn thinking(more: &str) -> Self {
        Self::with(&thinking_profile("anthropic", more))
    }

    pub(crate) fn engine(&self) -> &Engine {
        self.engine.as_ref().unwrap()
    }

    pub(crate) fn session(&self) -> Session {
        self.engine().session("s").unwrap()
    }

    /// The data directory.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.dir.path()
    }

    /// Closes the directory and opens it again, between which something may happen to its files.
    pub(crate) fn reopen_after(&mut self, meanwhile: impl FnOnce(&std::path::Path)) {
        if let Some(engine) = self.engine.take() {
            engine.close().unwrap();
        }
        meanwhile(self.dir.path());
        self.engine = Some(host::engine(self.dir.path()).unwrap());
    }

    pub(crate) fn reopen(&mut self) {
        self.reopen_after(|_| {});
    }

    /// Appends one event; its position.
    pub(crate) fn log(&self, event: &Value) -> u64 {
        self.try_log(event)
            .unwrap_or_else(|error| panic!("{event}: {error}"))
    }

    pub(crate) fn try_log(&self, event: &Value) -> Result<u64, Error> {
        let appended = self.session().append(&[&event.to_string()])?;
        Ok(appended.first)
    }

    pub(crate) fn says(&self, text: &str) -> u64 {
        self.log(&json!({"type": "message", "role": "user", "content": text}))
    }

    pub(crate) fn answers(&self, text: &str) -> u64 {
        self.blocks(&json!([{"type": "text", "text": text}]))
    }

    /// The model's blocks.
    pub(crate) fn blocks(&self, blocks: &Value) -> u64 {
        self.log(&json!({"type": "message", "role": "assistant", "content": blocks}))
    }

    /// The model calls tools.
    pub(crate) fn calls(&self, ids: &[&str]) -> u64 {
        let call = |id: &&str| json!({"type": "tool_use", "id": id, "name": "read", "input": {"path": "a.txt"}});
        self.blocks(&ids.iter().map(call).collect())
    }

    pub(crate) fn result(&self, id: &str, content: &str) -> u64 {
        self.log(&json!({"type": "tool_result", "call": id, "content": content}))
    }

    /// Folds everything before a position.
    pub(crate) fn fold(&self, keep_from: u64, summary: &str) -> u64 {
        self.try_fold(keep_from, summary)
            .unwrap_or_else(|error| panic!("fold before {keep_from}: {error}"))
    }

    pub(crate) fn try_fold(&self, keep_from: u64, summary: &str) -> Result<u64, Error> {
        self.try_log(&json!({"type": "compact_commit", "keep_from": keep_from, "summary": summary}))
    }

    /// A turn: question and answer, long enough that a fold is smaller. The question's position.
    pub(crate) fn turn(&self, name: &str) -> u64 {
        let question = self.says(&format!(
            "question {name}: {}",
            "what is it about? ".repeat(8)
        ));
        self.answers(&format!(
            "answer {name}: {}",
            "it is about this. ".repeat(8)
        ));
        question
    }

    pub(crate) fn head(&self) -> u64 {
        self.session().status().unwrap().head
    }

    /// The prompt at a cut for the session's profile, open calls healed.
    pub(crate) fn project(&self, at: api::At) -> api::Projected {
        let ask = api::Project {
            at,
            heal: true,
            pieces: true,
            ..Default::default()
        };
        self.session().project(ask).unwrap()
    }

    pub(crate) fn digest(&self) -> String {
        self.project(api::At::Head).digest
    }

    /// What is sent on both dialects: valid, or nothing because it is the person's turn.
    pub(crate) fn sent(&self) -> Sent {
        sent(&self.session())
    }
}

/// A profile of a provider with thinking asked for, and more members.
pub(crate) fn thinking_profile(provider: &str, more: &str) -> api::Spec {
    let profile = format!(
        r#"{{"provider":"{provider}","model":"m","wire":"anthropic","window":200000,"max_output":8000,"params":{{"thinking":{{"type":"enabled","budget_tokens":2000}}}}{more}}}"#
    );
    api::Spec::json(&profile).unwrap()
}

/// Both bodies.
pub(crate) struct Sent {
    pub(crate) anthropic: Value,
    pub(crate) chat: Value,
}

impl Sent {
    /// Some text stands in both.
    pub(crate) fn shows(&self, text: &str) -> bool {
        let quoted = Value::from(text).to_string();
        let inner = &quoted[1..quoted.len() - 1];
        let (one, two) = (self.anthropic.to_string(), self.chat.to_string());
        assert_eq!(
            one.contains(inner),
            two.contains(inner),
            "{text} on one dialect only:\n{one}\n{two}"
        );
        one.contains(inner)
    }

    /// All blocks of a kind, in order, on the Anthropic dialect.
    pub(crate) fn blocks(&self, kind: &str) -> Vec<Value> {
        let messages = self.anthropic["messages"].as_array().unwrap();
        messages
            .iter()
            .flat_map(|message| message["content"].as_array().unwrap())
            .filter(|block| block["type"] == kind)
            .cloned()
            .collect()
    }
}

pub(crate) fn sent(session: &Session) -> Sent {
    let [anthropic, chat] = host::WIRES.map(|(wire, _)| {
        let chat = wire == "openai_chat";
        let ask = api::Project {
            wire: Some(wire.to_owned()),
            profile: chat.then(|| "gpt-4.1".into()),
            heal: true,
            ..Default::default()
        };
        let projected = session.project(ask).unwrap();
        let facts = host::shipped(if chat { "gpt-4.1" } else { "claude-sonnet-5" });
        match judge(&projected, &facts) {
            Verdict::Ready => serde_json::from_str(&host::body(&projected).unwrap()).unwrap(),
            Verdict::Waiting(whom) if whom == "person" => Value::Null,
            other => panic!("{wire}: {other:?}"),
        }
    });
    Sent { anthropic, chat }
}

/// The names of what was mended.
pub(crate) fn repairs(projected: &api::Projected) -> Vec<&str> {
    projected
        .repairs
        .iter()
        .map(|repair| repair.kind.as_str())
        .collect()
}

/// The offer of a refusal.
pub(crate) fn suggest(error: &Error) -> Value {
    assert_eq!(error.kind(), recount::ErrorKind::Rejected, "{error}");
    serde_json::from_str(error.suggest().unwrap_or("null")).unwrap()
}
