//! What a drill is judged by: the laws of budgets and of compaction.

use super::super::body::Body;
use super::{ATTEMPTS, Drill};
use serde_json::{Value, json};

impl Drill {
    /// Nothing can be sent: whether the floor and the newest words alone would have fitted.
    pub(super) fn stuck(&mut self, prepared: &Value) {
        if self.setup.preset == "none" {
            return;
        }
        let ask = json!({"heal": true, "profile": self.setup.unlimited(false)});
        let Some(whole) = self.call("v1.session.project", ask) else {
            return;
        };
        let body = whole["request"]["body"].as_str().unwrap_or_default();
        let least =
            Body::parse(self.setup.wire, body).map_or(u64::MAX, |body| self.provider.least(&body));
        // A margin for what the engine can only estimate: until an answer came, it takes 1,600 thousandths for the factor.
        if least.saturating_mul(2) <= self.setup.window {
            self.defects.push(format!(
                "{} although the floor and the newest words need {least} of {}: {}",
                prepared["outcome"], self.setup.window, prepared["impossible"]
            ));
        }
    }

    /// Law 9: after the first answer nothing is refused that could have been made to fit.
    pub(super) fn judge(&mut self, text: &str, prepared: &Value) {
        if self.answered == 0 {
            return;
        }
        let Ok(body) = Body::parse(self.setup.wire, text) else {
            return;
        };
        let input: u64 = self.provider.counts(&body).iter().sum();
        let least = self.provider.least(&body);
        let room = body.max_tokens.min(self.setup.window / 4);
        if least + room <= self.setup.window {
            self.defects.push(format!(
                "refused: {input} + {} > {}, estimate {}, least {least}",
                body.max_tokens, self.setup.window, prepared["estimate"]
            ));
        }
    }

    /// Reads what was logged since, and weighs each commit.
    pub(super) fn follow(&mut self) {
        let mut next = Some(self.log.len() as u64);
        let begin = self.log.len();
        while let Some(from) = next {
            let Some(page) = self.call("v1.session.log", json!({"from": from})) else {
                return;
            };
            self.log
                .extend(page["events"].as_array().into_iter().flatten().cloned());
            next = page["next"].as_u64();
        }
        let fresh: Vec<Value> = self.log.get(begin..).unwrap_or_default().to_vec();
        for event in &fresh {
            let kind = event["type"].as_str().unwrap_or("?").to_owned();
            self.count(&format!("logged {kind}"));
            if kind == "compact_commit" && !event["first"].is_null() {
                self.weigh(event["seq"].as_u64().unwrap_or(0), &fresh);
            }
        }
    }

    /// Law 10: what is shown with a commit, and with all that it brought back, is smaller than what was shown before it.
    fn weigh(&mut self, commit: u64, fresh: &[Value]) {
        let last = fresh
            .iter()
            .filter(|event| event["because"].as_u64() == Some(commit))
            .filter_map(|event| event["seq"].as_u64())
            .next_back()
            .unwrap_or(commit);
        let shown = |drill: &mut Self, seq: u64| {
            let profile = drill.setup.unlimited(false);
            let ask = json!({"at": {"seq": seq}, "heal": true, "as": "none", "profile": profile});
            let shown = drill.call("v1.session.project", ask)?;
            shown["tokens"]["total"].as_u64()
        };
        let before = shown(self, commit.saturating_sub(1));
        let after = shown(self, last);
        if let (Some(before), Some(after)) = (before, after) {
            self.commits.push((commit, before, after));
            if after >= before {
                self.defects.push(format!(
                    "the compaction at {commit} made {before} tokens {after}"
                ));
            }
        }
    }

    /// Asks again and again without anything new: compaction comes to rest.
    pub fn settle(&mut self) {
        self.late = false;
        let mut quiet = 0;
        for _ in 0..ATTEMPTS {
            let before = self.log.len();
            self.now += 1_000;
            let Some(prepared) =
                self.call("v1.session.prepare", json!({"now": self.now, "heal": true}))
            else {
                return;
            };
            let acted = self.act(&prepared["actions"]);
            self.follow();
            let changed = self
                .log
                .get(before..)
                .unwrap_or_default()
                .iter()
                .any(|event| !matches!(event["type"].as_str(), Some("issued" | "counted")));
            quiet = if acted || changed { 0 } else { quiet + 1 };
            if quiet == 2 {
                return;
            }
        }
        let last: Vec<String> = self
            .log
            .iter()
            .rev()
            .take(6)
            .map(|event| event.to_string().chars().take(120).collect())
            .collect();
        self.defects
            .push(format!("it does not come to rest; last: {last:?}"));
    }
}
