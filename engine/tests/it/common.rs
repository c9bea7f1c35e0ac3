//! What the tests share: a data directory with a clock and salts of its own, and a few events.

use recount::{Chance, Clock, Dispatcher, Engine, Options, Session, api};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A short conversation with a tool, closed and waiting for the model.
pub(crate) const CHAT: &[&str] = &[
    r#"{"type":"system","content":"Be brief."}"#,
    r#"{"type":"tools","tools":[{"name":"read","description":"reads","input_schema":{"type":"object"}}]}"#,
    r#"{"type":"message","role":"user","content":"what is in a.txt?"}"#,
    CALL,
    r#"{"type":"tool_result","call":"t1","content":"forty-two"}"#,
];

/// A response that calls a tool.
pub(crate) const CALL: &str = r#"{"type":"message","role":"assistant","response":"m1","stop":"tool_use","content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"read","input":{"path":"a.txt"}}]}"#;

/// The person's words.
pub(crate) fn says(text: &str) -> String {
    format!(r#"{{"type":"message","role":"user","content":"{text}"}}"#)
}

/// The model's words.
pub(crate) fn answers(text: &str) -> String {
    format!(
        r#"{{"type":"message","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}"#
    )
}

/// A data directory that goes away with it.
pub(crate) struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// An engine whose clock ticks a second at each look.
    pub(crate) fn engine(&self) -> Engine {
        let ticks = AtomicU64::new(1_700_000_000_000);
        let clock = Clock::Own(Arc::new(move || ticks.fetch_add(1_000, Ordering::Relaxed)));
        let options = Options {
            clock,
            chance: Chance::Seeded(1),
            ..Options::default()
        };
        Engine::open(self.path(), options).unwrap()
    }

    pub(crate) fn dispatcher(&self) -> Dispatcher {
        Dispatcher::new(self.engine())
    }

    /// A session `s` with a profile and the short conversation.
    pub(crate) fn chat(&self) -> Session {
        let session = self
            .engine()
            .create("s", Some("claude-opus-4-5".into()))
            .unwrap();
        session.append(CHAT).unwrap();
        session
    }
}

/// The digest of a session's prompt now.
pub(crate) fn digest(session: &Session) -> String {
    session.project(api::Project::default()).unwrap().digest
}

/// The body of a session's prompt now, as the provider would get it.
pub(crate) fn body(session: &Session) -> String {
    let projected = session
        .project(api::Project {
            heal: true,
            ..Default::default()
        })
        .unwrap();
    serde_json::from_str(projected.request.expect("a request").body.get()).unwrap()
}
