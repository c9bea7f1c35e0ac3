//! What the engine asks of its host: summaries above all.

use super::super::body::Body;
use super::super::line::Refused;
use super::super::provider::{Provider, Reply};
use super::super::summary;
use super::{ATTEMPTS, Host};
use serde_json::{Value, json};

impl Host {
    /// Does what the engine asks of its host. True: something changed, prepare again.
    pub(super) fn act(&mut self, actions: &Value) -> Result<bool, Refused> {
        let mut changed = false;
        // Its other chunks were answered with the first: an answer names what is still open.
        let mut answered: Vec<&Value> = Vec::new();
        for action in actions.as_array().into_iter().flatten() {
            match action["kind"].as_str() {
                Some("summarise") if answered.contains(&&action["compaction"]) => {}
                Some("summarise") => {
                    answered.push(&action["compaction"]);
                    let request = json!([{"chunk": action["chunk"], "request": action["request"]}]);
                    self.summarise(&action["compaction"], &request)?;
                    changed = true;
                }
                Some("resize") => {
                    let at = self.tick(0);
                    let replace = json!({"type": "replace", "block": action["block"], "with": "[a picture, left out]", "at": at});
                    self.line
                        .call("v1.session.append", json!({"events": [replace]}))?;
                    self.done(action)?;
                    changed = true;
                }
                _ => {
                    self.tally.told += 1;
                    self.done(action)?;
                }
            }
        }
        Ok(changed)
    }

    fn done(&mut self, action: &Value) -> Result<(), Refused> {
        let now = self.tick(0);
        let ask = json!({"action": action["id"], "now": now});
        self.line.call("v1.session.done", ask).map(|_| ())
    }

    /// Has the model answer the requests of a compaction until nothing is open.
    pub(super) fn summarise(
        &mut self,
        compaction: &Value,
        requests: &Value,
    ) -> Result<(), Refused> {
        let mut open: Vec<Value> = requests.as_array().cloned().unwrap_or_default();
        for _ in 0..ATTEMPTS {
            let Some(one) = open.first().cloned() else {
                return Ok(());
            };
            let text = one["request"]["body"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            let mut ask =
                json!({"compaction": compaction, "chunk": one["chunk"], "now": self.tick(0)});
            let cost = self.answer_summary(&text, &mut ask);
            let answer = match self.line.call("v1.session.summarised", ask) {
                Ok(answer) => answer,
                Err(refused) if refused.kind == "Rejected" => {
                    self.tally.late_summaries += 1;
                    return Ok(());
                }
                Err(refused) => return Err(refused),
            };
            self.tally.summary_logged += cost;
            if cost > 0 {
                let request = format!("summary-{}", self.tally.summaries);
                self.tally.costs.insert(request, cost);
            }
            self.tally.summarised(&answer);
            match answer["outcome"].as_str() {
                Some("next" | "retry") => {
                    open = answer["requests"].as_array().cloned().unwrap_or_default();
                }
                _ => return Ok(()),
            }
        }
        self.defect(format!(
            "{compaction} was not done after {ATTEMPTS} answers"
        ));
        Ok(())
    }

    /// Sends a request for a summary and writes what came back into what the engine is told; answers the input that it is told of.
    fn answer_summary(&mut self, text: &str, ask: &mut Value) -> u64 {
        let wire = self.setup.wire;
        let reply = self.provider.send(text, self.now);
        let Some(object) = ask.as_object_mut() else {
            return 0;
        };
        match reply {
            Reply::Refused(refusal) => {
                self.tally.summaries_refused += 1;
                object.insert("error".to_owned(), refusal.error);
            }
            Reply::Invalid(violations) => {
                let first = format!("invalid request for a summary: {:?}", violations.first());
                self.tally.defects.push(first);
                object.insert(
                    "error".to_owned(),
                    json!({"status": 400, "body": "invalid_request_error"}),
                );
            }
            Reply::Answered { account, deleted } => {
                let Ok(body) = Body::parse(wire, text) else {
                    return 0;
                };
                if !summary::is_asked(&body) {
                    let words: String = body
                        .last_words()
                        .unwrap_or("no words")
                        .chars()
                        .take(120)
                        .collect();
                    self.tally.defects.push(format!(
                        "a request for a summary that does not ask for one: {words}"
                    ));
                }
                self.tally.summary(&account);
                let written = self.provider.summarise(&body);
                if written.fault == Some(summary::Fault::Overloaded) {
                    object.insert("error".to_owned(), json!({"status": 529, "body": "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}"}));
                    return 0;
                }
                let output = self.provider.count(&written.text);
                object.insert("text".to_owned(), json!(written.text));
                object.insert("stop".to_owned(), json!(written.stop));
                let mut usage = Provider::usage(&account, deleted, output);
                usage["request"] = json!(format!("summary-{}", self.tally.summaries));
                object.insert("usage".to_owned(), usage);
                return account.total();
            }
        }
        0
    }
}
