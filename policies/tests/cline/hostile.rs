//! Random sessions, whatever a host does in them: nothing that the session does not admit is proposed, nothing that waits is hidden, what was
//! decided is frozen, and it all comes to an end.

use crate::common::Host;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use recount_events::{Body, escape};
use recount_policies::{Proposal, cline, compact};
use std::cell::Cell;

/// Something that happens.
#[derive(Clone, Debug)]
enum Step {
    Says(u8, usize),
    Answers(usize),
    Read(u8, usize),
    /// Two calls, the second result behind words of the person.
    Spread(usize),
    Open,
    Close,
    Inject(u8),
    /// A message that is a string of another dialect, or one without blocks.
    Odd(u8),
    Used(u64),
    Refused(u32),
    Condense,
    Fold(u8, u8),
    Replace(u8),
    Snip(u8),
    Undo(u8),
    Back(u8),
    Policy(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let size = || prop_oneof![4 => 0_usize..60, 1 => 60_usize..3_000];
    prop_oneof![
        5 => (any::<u8>(), size()).prop_map(|(path, size)| Step::Says(path, size)),
        5 => size().prop_map(Step::Answers),
        5 => (any::<u8>(), size()).prop_map(|(path, size)| Step::Read(path, size)),
        2 => size().prop_map(Step::Spread),
        1 => Just(Step::Open),
        1 => Just(Step::Close),
        1 => any::<u8>().prop_map(Step::Inject),
        1 => any::<u8>().prop_map(Step::Odd),
        6 => prop_oneof![Just(0_u64), Just(40_000), Just(80_000), Just(u64::MAX)].prop_map(Step::Used),
        2 => (0_u32..6).prop_map(Step::Refused),
        1 => Just(Step::Condense),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(from, to)| Step::Fold(from, to)),
        1 => any::<u8>().prop_map(Step::Replace),
        1 => any::<u8>().prop_map(Step::Snip),
        1 => any::<u8>().prop_map(Step::Undo),
        1 => any::<u8>().prop_map(Step::Back),
        1 => any::<u8>().prop_map(Step::Policy),
    ]
}

struct Session {
    host: Host,
    calls: u64,
    open: Vec<String>,
    decided: u64,
}

impl Session {
    fn new(kind: &str) -> Self {
        let mut host = Host::of(kind, "cline", r#"{"cline":{"auto_condense":true}}"#);
        host.profile(r#"{"window":64000}"#);
        Self {
            host,
            calls: 0,
            open: Vec::new(),
            decided: 0,
        }
    }

    /// Takes what fits; hosts try what does not.
    fn tries(&mut self, json: &str) {
        let event = recount_events::Event::from_json(json, recount_events::Millis(self.host.now));
        let Ok(event) = event else { return };
        if self.host.state.admit(event.clone()).is_ok() {
            self.host.take(event);
        }
    }

    fn call(&mut self) -> String {
        self.calls += 1;
        format!("t{}", self.calls)
    }

    fn seq(&self, pick: u8) -> u64 {
        let head = self.host.head();
        head * u64::from(pick) / 255
    }

    fn does(&mut self, step: &Step) {
        match step {
            Step::Says(path, size) => {
                let body = "w".repeat(*size);
                let words = match path % 3 {
                    0 => body,
                    1 => format!("<file_content path=\"f{}\">{body}</file_content>", path % 2),
                    _ => format!("[read_file for 'f{}'] Result:\n{body}", path % 2),
                };
                let words = escape(&words);
                let content = match path % 2 {
                    0 => words,
                    _ => format!(r#"[{{"type":"text","text":{words}}},{{"type":"text","text":"env"}}]"#),
                };
                self.tries(&format!(
                    r#"{{"type":"message","role":"user","content":{content}}}"#
                ));
            }
            Step::Answers(size) => {
                self.host.answers(&"a".repeat(*size));
            }
            Step::Read(path, size) => {
                let id = self.call();
                self.host.calls(&[(&id, "read_file", "{}")]);
                let words = format!("[read_file for 'f{}'] Result:\n{}", path % 2, "x".repeat(*size));
                let content = match path % 2 {
                    0 => escape(&words),
                    _ => format!(r#"[{{"type":"text","text":{}}},{{"type":"text","text":"more"}}]"#, escape(&words)),
                };
                self.host.result_of(&id, "ok", &content);
            }
            Step::Spread(size) => {
                let (one, other) = (self.call(), self.call());
                self.host.calls(&[(&one, "read_file", "{}"), (&other, "read_file", "{}")]);
                self.host.result(&one, &"x".repeat(*size));
                self.host.says("while it runs");
                self.host.result(&other, "late");
            }
            Step::Open => {
                let id = self.call();
                self.host.calls(&[(&id, "read_file", "{}")]);
                self.open.push(id);
            }
            Step::Close => {
                if let Some(id) = self.open.pop() {
                    self.tries(&format!(
                        r#"{{"type":"tool_result","call":"{id}","status":"unknown","content":"late"}}"#
                    ));
                }
            }
            Step::Inject(pick) => {
                let lifetime = ["once", "session", "tail"][usize::from(*pick) % 3];
                self.tries(&format!(
                    r#"{{"type":"inject","slot":"s","lifetime":"{lifetime}","content":"put in"}}"#
                ));
            }
            Step::Odd(pick) => self.tries(match pick % 4 {
                0 => r#"{"type":"message","role":"user","content":[]}"#,
                1 => r#"{"type":"message","role":"user","format":"openai_chat","content":[{"type":"text","text":"hi"}]}"#,
                2 => r#"{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"}]}"#,
                _ => r#"{"type":"message","role":"system","content":"mind the gap"}"#,
            }),
            Step::Used(tokens) => {
                self.calls += 1;
                let request = format!("r{}", self.calls);
                self.host.usage(&request, *tokens, *tokens);
            }
            Step::Refused(refusals) => {
                self.host
                    .log(r#"{"type":"overflow","error":"too long","kind":"tokens"}"#);
                let proposal = cline::overflowed(&self.host.view().at(), *refusals);
                self.accept(&proposal);
            }
            Step::Condense => {
                let view = self.host.view();
                let ask = compact::Ask { whole: true, ..compact::Ask::default() };
                if let Ok(proposal) = compact::by_rule(&view.at(), &ask) {
                    self.accept(&proposal);
                }
            }
            Step::Fold(from, to) => {
                let (from, to) = (self.seq(*from), self.seq(*to));
                self.tries(&format!(
                    r#"{{"type":"compact_commit","first":{from},"last":{to},"summary":"s"}}"#
                ));
            }
            Step::Replace(pick) => {
                let seq = self.seq(*pick);
                self.tries(&format!(r#"{{"type":"replace","block":[{seq},0],"with":"other"}}"#));
            }
            Step::Snip(pick) => {
                let seq = self.seq(*pick);
                self.tries(&format!(r#"{{"type":"snip","messages":[{seq}]}}"#));
            }
            Step::Undo(pick) => {
                let seq = self.seq(*pick).max(4);
                self.tries(&format!(r#"{{"type":"undo","event":{seq}}}"#));
            }
            Step::Back(pick) => {
                let seq = self.seq(*pick).max(4);
                self.tries(&format!(r#"{{"type":"rollback","to":{{"seq":{seq}}}}}"#));
            }
            Step::Policy(pick) => {
                let condenses = pick % 2 == 0;
                self.host.policy(
                    "cline",
                    &format!(r#"{{"cline":{{"auto_condense":{condenses}}}}}"#),
                );
                let model = if pick % 4 < 2 { "claude-sonnet-4-5" } else { "m" };
                self.host.profile(&format!(r#"{{"window":64000,"model":"{model}"}}"#));
            }
        }
    }

    /// Logs a proposal, which the session has to admit, and looks at what it hides.
    fn accept(&mut self, proposal: &Proposal) {
        let open: Vec<_> = self.host.state.timeline().open.keys().copied().collect();
        self.decided += u64::from(!proposal.is_empty());
        self.host.accept(proposal);
        let timeline = self.host.state.timeline();
        let hidden = |body: &Body| matches!(body, Body::DeleteRange(_));
        if proposal.events.iter().any(|one| hidden(&one.body)) {
            for block in open {
                assert!(timeline.open.contains_key(&block));
            }
            let entries = timeline.shown.values();
            assert!(
                entries.take(2).count() == 2,
                "the first pair stays: {:?}",
                timeline.shown.keys().collect::<Vec<_>>()
            );
        }
    }

    fn prepares(&mut self) {
        let proposal = self.host.asks(cline::propose);
        self.accept(&proposal);
        let condensed = self.host.asks(cline::condense);
        self.accept(&condensed);
        if !proposal.is_empty() || !condensed.is_empty() {
            let first = self.host.prompt();
            assert!(self.host.asks(cline::propose).is_empty());
            let again = self.host.asks(cline::condense);
            let decides = |body: &Body| !matches!(body, Body::Breaker(_));
            assert!(
                !again.events.iter().any(|one| decides(&one.body)),
                "{again:?}"
            );
            assert_eq!(self.host.reopened().prompt(), first);
        }
    }
}

#[test]
fn k2_k3_k7_k9_whatever_a_host_does_what_is_proposed_fits_and_is_frozen() {
    let kind = prop_oneof![4 => Just("main"), 1 => Just("sub"), 1 => Just("side")];
    let sessions = (kind, prop::collection::vec(step(), 1..60));
    let decided = Cell::new(0);
    let config = ProptestConfig {
        cases: 128,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let ran = TestRunner::new(config).run(&sessions, |(kind, steps)| {
        let mut session = Session::new(kind);
        for step in &steps {
            session.does(step);
            session.prepares();
        }
        decided.set(decided.get() + session.decided);
        Ok(())
    });
    ran.unwrap_or_else(|failed| panic!("{failed}"));
    assert!(decided.get() > 300, "{} decisions only", decided.get());
}
