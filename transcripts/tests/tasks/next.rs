//! A task goes on under the preset `cline`: what is decided before the next request is what Cline would decide there.
//!
//! - At each task's end, and at recorded moments behind an answer, the person says something more, and the previous request used so much:
//!   below the limit, at it, at twice it, and above that.
//! - Both sides are compared by what they send then. Where they part, the reason is one that is known, and counted.

use crate::recorded::Task;
use crate::sent::plain;
use crate::world::{Disk, World, corpus, folders, messages};
use recount_cline::{Edits, Helper, Message, Overlaid, Range, UiMessage, Window, to_json};
use recount_events::{Body, Event, Millis, Rollback, SessionKind, Target};
use recount_policies::cline;
use recount_transcripts::read_task;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

#[path = "../../../policies/tests/common/mod.rs"]
pub(crate) mod kit;

/// A window of 64,000 tokens: the limit is 37,000, and half of a request is over it from 74,001 on.
const WINDOW: &str = r#"{"type":"profile","provider":"anthropic","model":"m","wire":"anthropic","window":64000,"max_output":1000,"prefill":false,"thinking":{"binds":false,"keeps":"all"},"system_role":false,"params":{}}"#;
const TOKENS: [u64; 4] = [36_999, 37_000, 74_000, 74_001];
const NEXT: &str = r#"{"role":"user","content":[{"type":"text","text":"and what is next?"}]}"#;

/// A state of a task on Cline's side.
#[derive(Clone)]
struct Exact {
    history: Vec<Message>,
    range: Option<Range>,
    edits: Edits,
}

/// What Cline sends next.
struct Next {
    sent: Value,
    /// The range is computed, and empty.
    empty: bool,
}

impl Exact {
    fn next(&self, tokens: u64) -> Next {
        let history: Vec<Message> = self
            .history
            .iter()
            .cloned()
            .chain([Message::from_json(NEXT)])
            .collect();
        let said = UiMessage::from_json(
            &json!({"ts": 5, "say": "api_req_started", "text": json!({"tokensIn": tokens}).to_string()})
                .to_string(),
        );
        let overlaid = Overlaid {
            history: &history,
            range: self.range,
        };
        let mut edits = self.edits.clone();
        let window = Window::of(Some(64_000.0), "m", false);
        let turn = overlaid
            .turn(&mut edits, &[said], 0, window, false)
            .unwrap();
        Next {
            sent: plain(&serde_json::from_str(&to_json(&turn.rendered.messages)).unwrap()),
            empty: turn.moved && turn.range.is_none_or(|range| range.end < 2),
        }
    }

    /// What Cline sends next for a sub-agent: a task that another one started is one.
    fn next_of_helper(&self, tokens: u64) -> Next {
        let next = [Message::from_json(NEXT)];
        let mut helper = Helper {
            conversation: self.history.iter().cloned().chain(next).collect(),
            range: self.range,
            edits: self.edits.clone(),
        };
        if tokens >= 37_000 {
            helper.compact(5.0);
        }
        Next {
            sent: plain(&serde_json::from_str(&to_json(&helper.render())).unwrap()),
            empty: false,
        }
    }

    /// The same with neighbours of one role as one message, and strings as blocks: as the wire shows it.
    fn as_sent(&self) -> Self {
        let mut all: Vec<(String, Vec<Value>)> = Vec::new();
        for message in &self.history {
            let value: Value = serde_json::from_str(message.as_json()).unwrap();
            let role = value["role"].as_str().unwrap().to_owned();
            let blocks = match &value["content"] {
                Value::String(text) => vec![json!({"type": "text", "text": text})],
                Value::Array(blocks) => blocks.clone(),
                _ => Vec::new(),
            };
            match all.last_mut() {
                Some((last, said)) if *last == role => said.extend(blocks),
                _ => all.push((role, blocks)),
            }
        }
        let messages = all
            .into_iter()
            .map(|(role, content)| json!({"role": role, "content": content}).to_string());
        Self {
            history: messages.map(|json| Message::from_json(&json)).collect(),
            ..self.clone()
        }
    }
}

/// What we send next.
fn ours(world: &World, at: Option<u64>, tokens: u64) -> Value {
    let mut host = kit::Host {
        state: world.state.clone(),
        now: kit::START * 2,
        ..kit::Host::default()
    };
    if let Some(at) = at {
        let asked = Target::Time(Millis(at));
        host.put(Body::Rollback(Rollback { asked, to: None }));
    }
    host.log(WINDOW);
    host.policy("cline", "");
    host.usage("r", tokens, 0);
    host.take(
        Event::from_json(
            &format!(r#"{{"type":"message",{}"#, &NEXT[1..]),
            Millis(host.now),
        )
        .unwrap(),
    );
    let before = host.head();
    let proposal = host.runs(cline::propose);
    assert_eq!(proposal.is_empty(), host.head() == before);
    assert!(host.asks(cline::propose).is_empty(), "once");
    plain(&messages(host.state.timeline()))
}

/// How often both sides are the same, and why not.
#[derive(Default)]
struct Count(BTreeMap<&'static str, usize>);

impl Count {
    fn one(&mut self, kind: &'static str) {
        *self.0.entry(kind).or_default() += 1;
    }

    fn compare(&mut self, world: &World, at: Option<u64>, exact: &Exact, what: &str) {
        let opened = world.state.ledger().opened.as_ref();
        let sub = opened.is_some_and(
            |opened| matches!(&opened.event.body, Body::Opened(opened) if opened.kind == SessionKind::Sub),
        );
        let next = match sub {
            true => Exact::next_of_helper,
            false => Exact::next,
        };
        for tokens in TOKENS {
            let sent = ours(world, at, tokens);
            let theirs = next(exact, tokens);
            if sent == theirs.sent {
                self.one("the same");
            } else if theirs.empty && sent == exact.next(0).sent {
                self.one("a notice, and nothing left out");
            } else if sent == next(&exact.as_sent(), tokens).sent {
                self.one("neighbours of one role, and strings");
            } else {
                panic!(
                    "{what} at {at:?} with {tokens}:\n{sent:#}\n{:#}",
                    theirs.sent
                );
            }
        }
    }
}

fn import(path: &Path) -> World {
    let name = path.file_name().unwrap().to_str().unwrap();
    World::new(&read_task(None, name, &Disk(path.to_owned())).unwrap())
}

#[test]
fn k10_a_task_of_cline_goes_on_as_it_would_there() {
    let Some(corpus) = corpus("cline-task") else {
        return;
    };
    let mut count = Count::default();
    for path in folders(&corpus) {
        let world = import(&path);
        let task = Task::read(&Disk(path.clone()));
        let what = path.display().to_string();
        let range = task.moments.last().and_then(|last| last.range());
        let end = Exact {
            history: task.history.clone(),
            range,
            edits: task.edits.clone(),
        };
        count.compare(&world, None, &end, &what);
        // Each of them takes a while; every third says the same as all.
        for moment in task.moments.iter().step_by(3) {
            let history = task.history[..moment.said()].to_vec();
            let answered = history
                .last()
                .is_some_and(|last| last.role() == recount_cline::Role::Assistant);
            if !answered {
                continue;
            }
            let mut edits = task.edits.clone();
            #[allow(clippy::cast_precision_loss, reason = "a time in ms")]
            edits.truncate(moment.at as f64);
            let then = Exact {
                history,
                range: moment.range(),
                edits,
            };
            count.compare(&world, Some(moment.at), &then, &what);
        }
    }
    eprintln!("{:?}", count.0);
    let same = count.0["the same"];
    let all: usize = count.0.values().sum();
    assert!(same > 150 && all - same < 40, "{:?}", count.0);
}

#[test]
fn k10_a_task_of_roo_goes_on_by_the_same_rules() {
    let Some(corpus) = corpus("roo-task") else {
        return;
    };
    let mut count = Count::default();
    for path in folders(&corpus) {
        let world = import(&path);
        let bytes = std::fs::read(path.join("api_conversation_history.json")).unwrap_or_default();
        let history: Vec<Value> = serde_json::from_slice(&bytes).unwrap_or_default();
        let shown = Value::Array(crate::roo::sent(&history)).to_string();
        let exact = Exact {
            history: Message::list(&shown).unwrap(),
            range: None,
            edits: Edits::new(),
        };
        count.compare(&world, None, &exact, &path.display().to_string());
    }
    eprintln!("{:?}", count.0);
    assert!(count.0["the same"] >= 12, "{:?}", count.0);
}
