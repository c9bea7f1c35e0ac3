//! One conversation on two sides: as a task of Cline, exact, and as a session of ours.

use crate::common::Host;
use recount_cline::{Edits, Message, Overlaid, Range, UiMessage, Window, to_json};
use recount_events::escape;
use recount_policies::{Proposal, cline};
use serde_json::Value;

/// A task and a session that say the same.
pub(crate) struct Both {
    /// Ours.
    pub(crate) host: Host,
    /// Cline's history.
    pub(crate) history: Vec<Message>,
    /// What it leaves out.
    pub(crate) range: Option<Range>,
    /// What it shows with another text.
    pub(crate) edits: Edits,
    /// The model's window.
    pub(crate) window: u64,
    requests: u64,
}

/// A part of what the person or the tools say.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Words.
    Text(String),
    /// The result of a native call of the answer before: which call, and its words.
    Result(usize, String),
}

/// What is sent, in the form in which both sides are compared: role, and what it says.
pub(crate) type Sent = Vec<(String, Vec<String>)>;

impl Both {
    pub(crate) fn new(window: u64) -> Self {
        Self::of("main", window, "")
    }

    pub(crate) fn of(kind: &str, window: u64, params: &str) -> Self {
        let mut host = Host::of(kind, "cline", params);
        host.profile(&format!(r#"{{"window":{window}}}"#));
        Self {
            host,
            history: Vec::new(),
            range: None,
            edits: Edits::new(),
            window,
            requests: 0,
        }
    }

    /// The person or the tools say something.
    pub(crate) fn says(&mut self, parts: &[Part]) {
        let turn = self.history.len() / 2;
        let mut blocks = Vec::new();
        let mut words = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => {
                    let block = format!(r#"{{"type":"text","text":{}}}"#, escape(text));
                    blocks.push(block.clone());
                    words.push(block);
                }
                Part::Result(call, text) => {
                    let id = id(turn - 1, *call);
                    let content = format!(r#"[{{"type":"text","text":{}}}]"#, escape(text));
                    blocks.push(format!(
                        r#"{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}"#
                    ));
                    self.host.result_of(&id, "ok", &content);
                }
            }
        }
        if !words.is_empty() {
            self.host.log(&format!(
                r#"{{"type":"message","role":"user","content":[{}]}}"#,
                words.join(",")
            ));
        }
        let message = format!(r#"{{"role":"user","content":[{}]}}"#, blocks.join(","));
        self.history.push(Message::from_json(&message));
    }

    /// Words alone.
    pub(crate) fn asks(&mut self, words: &str) {
        self.says(&[Part::Text(words.to_owned())]);
    }

    /// The model answers, with so many native calls.
    pub(crate) fn answers(&mut self, words: &str, calls: usize) {
        let turn = self.history.len() / 2;
        let mut blocks = vec![format!(r#"{{"type":"text","text":{}}}"#, escape(words))];
        blocks.extend((0..calls).map(|call| {
            let id = id(turn, call);
            format!(r#"{{"type":"tool_use","id":"{id}","name":"read_file","input":{{}}}}"#)
        }));
        let message = format!(r#"{{"role":"assistant","content":[{}]}}"#, blocks.join(","));
        self.host.log(&format!(
            r#"{{"type":"message",{}"#,
            message.strip_prefix('{').unwrap()
        ));
        self.history.push(Message::from_json(&message));
    }

    /// So many exchanges of words, ended by words of the person.
    pub(crate) fn talk(&mut self, exchanges: usize) {
        for turn in 0..exchanges {
            self.asks(&format!("question {turn}"));
            self.answers(&format!("answer {turn}"), 0);
        }
        self.asks("the newest question");
    }

    /// The previous request used so many tokens.
    pub(crate) fn used(&mut self, tokens: u64) {
        self.requests += 1;
        let request = format!("r{}", self.requests);
        self.host.usage(&request, tokens / 2, tokens - tokens / 2);
    }

    /// What Cline does before it sends the next request.
    pub(crate) fn exact(&mut self, tokens: u64) {
        let said = UiMessage::from_json(&format!(
            r#"{{"ts":5,"say":"api_req_started","text":"{{\"tokensIn\":{tokens}}}"}}"#
        ));
        #[allow(clippy::cast_precision_loss, reason = "small numbers")]
        let window = Window::of(Some(self.window as f64), "m", false);
        let overlaid = Overlaid {
            history: &self.history,
            range: self.range,
        };
        let turn = overlaid
            .turn(&mut self.edits, &[said], 0, window, false)
            .unwrap();
        self.range = turn.range;
    }

    /// What we do then.
    pub(crate) fn ours(&mut self) -> Proposal {
        self.host.runs(cline::propose)
    }

    /// Both sides make room after a request of so many tokens.
    pub(crate) fn makes_room(&mut self, tokens: u64) -> Proposal {
        self.used(tokens);
        self.exact(tokens);
        self.ours()
    }

    /// What Cline sends.
    pub(crate) fn theirs(&self) -> Sent {
        let overlaid = Overlaid {
            history: &self.history,
            range: self.range,
        };
        sent(&to_json(&overlaid.render(&self.edits).messages))
    }

    /// What we send.
    pub(crate) fn sends(&self) -> Sent {
        let body: Value = serde_json::from_str(&self.host.prompt()).unwrap();
        sent(&body["messages"].to_string())
    }

    /// Fails where both sides do not send the same.
    #[track_caller]
    pub(crate) fn same(&self) {
        assert_eq!(self.sends(), self.theirs());
    }
}

fn id(turn: usize, call: usize) -> String {
    format!("t{turn}_{call}")
}

/// Neighbours of one role are one message; messages without a block are left out.
pub(crate) fn sent(json: &str) -> Sent {
    let messages: Vec<Value> = serde_json::from_str(json).unwrap();
    let mut all: Sent = Vec::new();
    for message in &messages {
        let role = message["role"].as_str().unwrap().to_owned();
        let blocks = blocks(&message["content"]);
        if blocks.is_empty() {
            continue;
        }
        match all.last_mut() {
            Some((last, said)) if *last == role => said.extend(blocks),
            _ => all.push((role, blocks)),
        }
    }
    all
}

fn blocks(content: &Value) -> Vec<String> {
    let Value::Array(blocks) = content else {
        return content.as_str().map(str::to_owned).into_iter().collect();
    };
    let say = |block: &Value| {
        let text = block["text"].as_str().unwrap_or_default();
        match block["type"].as_str().unwrap() {
            "tool_result" => format!(
                "result {}: {:?}",
                block["tool_use_id"],
                self::blocks(&block["content"])
            ),
            "tool_use" => format!("call {}", block["id"]),
            _ => text.to_owned(),
        }
    };
    blocks.iter().map(say).collect()
}
