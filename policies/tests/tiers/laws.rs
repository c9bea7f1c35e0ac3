//! What holds in any session: tiers ① to ③ settle in one round, touch nothing of the person, split nothing, decide once, and never make a
//! prompt larger; a log that was folded again decides the same.

use crate::common::Host;
use crate::plain;
use crate::snip::hides;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use recount_events::{BlockId, Body, Role, Seq};
use recount_policies::{Proposal, Propose, budget, micro, snip};
use recount_projections::Shown;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

const ROUND: [(&str, Propose); 3] = [
    ("budget", budget::propose),
    ("snip", snip::propose),
    ("micro", micro::propose),
];

/// What happens in a session.
#[derive(Clone, Debug)]
enum Step {
    Says(u8),
    Answers(u8),
    /// A response with calls (tool, file) and results (length, what they say); one in eight comes late, or is interim first.
    Works(Vec<(u8, u8, u8, u8)>),
    /// An earlier response is made again, with the same results.
    Repeats(u8),
    /// Five answers and a word of the person: what was before is old.
    Settles,
    Injects(u8, u8),
    Shows(u16),
    Waits(u8),
    Tells(u16),
    Reads(u8),
    Back(u8),
    Undoes(u8),
    Policy(u8),
    Round,
}

fn step() -> impl Strategy<Value = Step> {
    let call = (0_u8..6, 0_u8..3, any::<u8>(), 0_u8..4);
    prop_oneof![
        3 => (0_u8..4).prop_map(Step::Says),
        3 => (0_u8..4).prop_map(Step::Answers),
        12 => prop::collection::vec(call, 1..4).prop_map(Step::Works),
        5 => any::<u8>().prop_map(Step::Repeats),
        1 => Just(Step::Settles),
        2 => (0_u8..4, 0_u8..3).prop_map(|(slot, words)| Step::Injects(slot, words)),
        1 => (0_u16..9_000).prop_map(Step::Shows),
        2 => (0_u8..80).prop_map(Step::Waits),
        2 => (0_u16..3_000).prop_map(Step::Tells),
        1 => (0_u8..3).prop_map(Step::Reads),
        1 => any::<u8>().prop_map(Step::Back),
        1 => any::<u8>().prop_map(Step::Undoes),
        1 => (0_u8..4).prop_map(Step::Policy),
        6 => Just(Step::Round),
    ]
}

const TOOLS: [&str; 6] = ["Read", "Bash", "Grep", "Edit", "TodoWrite", "Shot"];

/// Small limits, so that short sessions reach them.
const POLICIES: [(&str, &str); 4] = [
    (
        "claude-code",
        r#"{"budget":{"result_limit":2000,"tool_limits":{"Bash":900,"Read":0},"response_limit":1200,"preview_bytes":100},"micro":{"keep":2,"cached_trigger":4,"cached_keep":2}}"#,
    ),
    (
        "claude-code",
        r#"{"budget":{"result_limit":700,"response_limit":0,"preview_bytes":50},"snip":{"before_thinking":true,"least_tokens":40},"micro":{"keep":0,"idle_minutes":10}}"#,
    ),
    (
        "five-layer",
        r#"{"budget":{"result_tokens":200},"micro":{"tools":["Read","Bash","Grep"],"keep":1}}"#,
    ),
    ("none", ""),
];

/// A host that does what it is told, and what was seen on the way.
struct Talk {
    host: Host,
    calls: u32,
    /// Responses so far.
    made: Vec<Vec<(u8, u8, u8, u8)>>,
    /// Calls that wait for their result, and what that says.
    late: Vec<(String, String)>,
    census: BTreeMap<String, u64>,
}

impl Talk {
    fn new(spills: bool) -> Self {
        let mut host = Host::new(POLICIES[0].0, POLICIES[0].1);
        host.profile(r#"{"cache_edits":true,"body_bytes":24000,"images":{"count":3}}"#);
        host.spills = spills;
        host.says("Go.");
        Self {
            host,
            calls: 0,
            made: Vec::new(),
            late: Vec::new(),
            census: BTreeMap::new(),
        }
    }

    fn count(&mut self, what: impl Into<String>) {
        *self.census.entry(what.into()).or_default() += 1;
    }

    fn take(&mut self, step: &Step) {
        match step {
            Step::Says(words) => {
                self.host
                    .says(["", "And now?", "Look.", "Go on."][usize::from(*words)]);
            }
            Step::Answers(words) => {
                self.host
                    .answers(["", " ", "I see.", "Done."][usize::from(*words)]);
            }
            Step::Works(calls) => {
                self.made.push(calls.clone());
                self.works(calls);
            }
            Step::Repeats(which) => {
                let which = usize::from(*which) % self.made.len().max(1);
                if let Some(calls) = self.made.get(which).cloned() {
                    self.works(&calls);
                }
            }
            Step::Settles => {
                for word in ["one", "two", "three", "four", "five"] {
                    self.host.answers(word);
                }
                self.host.says("Next.");
            }
            Step::Injects(slot, words) => {
                let slot = ["progress", "progress:x", "note", "rule"][usize::from(*slot)];
                self.host.log(&format!(
                    r#"{{"type":"inject","slot":"{slot}","content":"words {words}"}}"#
                ));
            }
            Step::Shows(bytes) => {
                let data = "A".repeat(usize::from(*bytes).next_multiple_of(4).max(400));
                self.host.log(&format!(
                    r#"{{"type":"message","role":"user","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}]}}"#
                ));
            }
            Step::Waits(minutes) => self.host.wait(u64::from(*minutes) * 60_000),
            Step::Tells(deleted) => self.tells(*deleted),
            Step::Reads(file) => self.reads(*file),
            Step::Back(share) => {
                let to =
                    4 + self.host.head().saturating_sub(4) * (128 + u64::from(*share) / 2) / 256;
                self.host.back(to);
                self.late.clear();
            }
            Step::Undoes(which) => self.undoes(*which),
            Step::Policy(which) => {
                let (preset, params) = POLICIES[usize::from(*which)];
                self.host.policy(preset, params);
            }
            Step::Round => {}
        }
    }

    fn works(&mut self, calls: &[(u8, u8, u8, u8)]) {
        let ids: Vec<String> = calls
            .iter()
            .map(|_| {
                self.calls += 1;
                format!("t{}", self.calls)
            })
            .collect();
        let inputs: Vec<String> = calls
            .iter()
            .map(|(_, file, ..)| format!(r#"{{"file_path":"{file}.rs"}}"#))
            .collect();
        let blocks: Vec<(&str, &str, &str)> = ids
            .iter()
            .zip(&inputs)
            .zip(calls)
            .map(|((id, input), (tool, ..))| {
                (id.as_str(), TOOLS[usize::from(*tool)], input.as_str())
            })
            .collect();
        self.host.calls(&blocks);
        for (id, (tool, _, length, says)) in ids.iter().zip(calls) {
            let text = result(*length, *says);
            match (length % 8, tool) {
                (7, _) => self.late.push((id.clone(), text)),
                (6, _) => {
                    self.host.result_of(id, "interim", r#""still running""#);
                    self.late.push((id.clone(), text));
                }
                (_, 5) => {
                    let token = recount_events::escape(&text);
                    self.host.result_of(id, "ok", &format!(
                        r#"[{{"type":"text","text":{token}}},{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{}"}}}}]"#,
                        "A".repeat(400)
                    ));
                }
                _ => {
                    self.host.result(id, &text);
                }
            }
        }
        if calls.len() == 1 && self.late.len() > 1 {
            for (id, text) in core::mem::take(&mut self.late) {
                self.host.result(&id, &text);
            }
        }
    }

    fn tells(&mut self, deleted: u16) {
        self.calls += 1;
        let request = self.calls;
        let seq = self.host.log(&format!(
            r#"{{"type":"usage","request":"q{request}","input":1,"output":1,"cache_deleted":{deleted}}}"#
        ));
        let usage = self.host.state.event(Seq(seq)).unwrap();
        if let Body::Usage(usage) = &usage.event.body
            && let Some(ack) = micro::acknowledge(&self.host.state, usage)
        {
            self.count("acknowledged");
            self.host.put(Body::CacheAck(ack));
        }
    }

    /// The host says which file the newest result shows.
    fn reads(&mut self, file: u8) {
        let content = self.host.state.timeline().content.iter().rev();
        let newest = content.filter(|(_, place)| !place.own).map(|(seq, _)| *seq);
        let result = newest
            .filter_map(|seq| self.host.state.event(seq))
            .find(|logged| matches!(logged.event.body, Body::ToolResult(_)))
            .map(|logged| logged.seq);
        if let Some(seq) = result {
            let digest = file.to_string().repeat(64);
            self.host.log(&format!(
                r#"{{"type":"file_read","path":"{file}.rs","block":[{seq},0],"digest":"{digest}"}}"#
            ));
        }
    }

    /// Takes back a decision of a tier, where that is admissible.
    fn undoes(&mut self, which: u8) {
        let line = &self.host.state.timeline().line;
        let decisions: Vec<u64> = (0_u64..)
            .zip(&self.host.log)
            .filter(|(seq, event)| {
                matches!(event.body, Body::Replace(_) | Body::Snip(_))
                    && line.contains(Seq(*seq))
                    && !line.fallen.contains_key(&Seq(*seq))
            })
            .map(|(seq, _)| seq)
            .collect();
        let Some(event) = decisions.get(usize::from(which) % decisions.len().max(1)) else {
            return;
        };
        let undo = recount_events::Event::from_json(
            &format!(r#"{{"type":"undo","event":{event}}}"#),
            recount_events::Millis(self.host.now),
        );
        let undo = undo.unwrap();
        if self.host.state.admit(undo.clone()).is_ok() {
            self.count("undone");
            self.host.take(undo);
        }
    }

    /// All three tiers, one after the other, each law looked at; then once more, when nothing may be left to do.
    fn round(&mut self) -> Result<(), TestCaseError> {
        for (name, tier) in ROUND {
            let proposal = self.host.asks(tier);
            prop_assert_eq!(&self.host.reopened().asks(tier), &proposal, "{}", name);
            if proposal.is_empty() {
                prop_assert!(proposal.did.is_empty() && proposal.spills.is_empty());
                continue;
            }
            self.touches_nothing_of_the_person(&proposal)?;
            self.decides_once(name, &proposal)?;
            let (said, bytes) = (self.said(), self.host.view().projection.bytes);
            self.host.accept(&proposal);
            prop_assert_eq!(self.said(), said);
            self.splits_nothing()?;
            let after = self.host.view().projection.bytes;
            // With fewer pictures the renderer shows one again that it had left out.
            let shows_again = causes(&proposal)
                .iter()
                .any(|cause| cause.contains("pictures are"));
            prop_assert!(
                after <= bytes || shows_again,
                "{}: {} to {}",
                name,
                bytes,
                after
            );
            prop_assert_eq!(self.host.reopened().prompt(), self.host.prompt());
            for (proposed, cause) in proposal.events.iter().zip(causes(&proposal)) {
                let no_number =
                    |word: &&str| !word.contains(|letter: char| letter.is_ascii_digit());
                let words: Vec<&str> = cause.split(' ').filter(no_number).take(4).collect();
                self.count(format!(
                    "{name}: {} {}",
                    proposed.body.name(),
                    words.join(" ")
                ));
            }
        }
        for (name, tier) in ROUND {
            let again = self.host.asks(tier);
            prop_assert!(again.is_empty(), "{} again: {}", name, again.did);
        }
        Ok(())
    }

    /// The words of messages, by position.
    fn said(&self) -> Vec<(u64, String)> {
        let shown = self.host.state.timeline().shown.iter();
        shown
            .filter_map(|(key, shown)| match shown {
                Shown::Said(said) => {
                    let blocks = said.logged.message()?.content.blocks.iter();
                    let words: String = blocks
                        .filter_map(|block| Some(block.words()?.into_owned()))
                        .collect();
                    Some((key.0, words))
                }
                _ => None,
            })
            .collect()
    }

    fn touches_nothing_of_the_person(&self, proposal: &Proposal) -> Result<(), TestCaseError> {
        let is_said = |seq: Seq| match self
            .host
            .state
            .event(seq)
            .map(|logged| logged.event.body.clone())
        {
            Some(Body::Message(message)) => message.role == Role::User,
            _ => false,
        };
        for proposed in &proposal.events {
            match &proposed.body {
                Body::Snip(snip) => {
                    prop_assert!(!snip.messages.iter().any(|seq| is_said(*seq)));
                }
                Body::Replace(replace) => {
                    for block in &replace.blocks {
                        let logged = self.host.state.event(block.seq).unwrap();
                        if let Body::Message(message) = &logged.event.body {
                            let kind = message.content.blocks[block.index as usize].kind;
                            prop_assert_ne!(kind, recount_events::BlockKind::Text);
                        }
                    }
                }
                Body::Budget(_) | Body::CacheEdit(_) | Body::CacheReset(_) => {}
                other => prop_assert!(false, "{}", other.name()),
            }
        }
        Ok(())
    }

    /// What was examined is not replaced later by the same tier, unless the body has to shrink; what was taken back stays; no call is named
    /// twice in the same cache.
    fn decides_once(&self, name: &str, proposal: &Proposal) -> Result<(), TestCaseError> {
        let timeline = self.host.state.timeline();
        let fallen: BTreeSet<BlockId> = timeline
            .line
            .fallen
            .keys()
            .filter_map(|seq| self.host.state.event(*seq))
            .flat_map(|logged| match &logged.event.body {
                Body::Replace(replace) => replace.blocks.clone(),
                _ => Vec::new(),
            })
            .collect();
        let named: BTreeSet<BlockId> = timeline
            .cache_edits
            .values()
            .flat_map(|logged| match &logged.event.body {
                Body::CacheEdit(edit) => edit.calls.clone(),
                _ => Vec::new(),
            })
            .collect();
        for proposed in &proposal.events {
            match &proposed.body {
                Body::Replace(replace) => {
                    let cause = replace.cause.as_ref().unwrap().words().unwrap();
                    let forced =
                        cause.starts_with("the request has") || cause.contains("pictures are");
                    for block in &replace.blocks {
                        prop_assert!(!fallen.contains(block), "{:?} was brought back", block);
                        let judged = timeline.judged.contains_key(block);
                        prop_assert!(name != "budget" || forced || !judged, "{:?}", block);
                    }
                }
                Body::Budget(budget) => {
                    let again = budget
                        .judged
                        .iter()
                        .any(|block| timeline.judged.contains_key(block));
                    prop_assert!(!again, "{:?}", budget.judged);
                }
                Body::CacheEdit(edit) => {
                    prop_assert!(!edit.calls.iter().any(|call| named.contains(call)));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Each response stands with the results of all its calls.
    fn splits_nothing(&self) -> Result<(), TestCaseError> {
        let timeline = self.host.state.timeline();
        for (key, shown) in &timeline.shown {
            if let Shown::Unit(unit) = shown {
                for call in &unit.calls {
                    let open = timeline.open.contains_key(&call.block);
                    let closed = call
                        .answer
                        .as_ref()
                        .is_some_and(|answer| answer.status.closes());
                    prop_assert!(open != closed, "{} {:?}", key, call.block);
                }
            }
        }
        Ok(())
    }
}

/// Why each event of a proposal, where it says so.
fn causes(proposal: &Proposal) -> Vec<String> {
    let bodies = proposal.events.iter().map(|proposed| &proposed.body);
    bodies
        .map(|body| {
            let cause = match body {
                Body::Replace(replace) => replace.cause.as_ref(),
                Body::Snip(snip) => snip.cause.as_ref(),
                _ => None,
            };
            let words = cause.and_then(|cause| cause.words());
            words.unwrap_or_default().into_owned()
        })
        .collect()
}

/// What a tool says: one of four texts, cut or filled to a length.
fn result(length: u8, says: u8) -> String {
    let line = [
        "fn main() {}\n",
        "the same again\n",
        "a \"quoted\" \\ path\n",
        "世界 👩‍👩‍👧‍👦 e\u{301}\n",
    ][usize::from(says)];
    // Few lengths, so that equal results are found; some are long.
    let lines = [0, 1, 3, 3, 8, 20, 60, 200][usize::from(length % 8)];
    line.repeat(lines)
}

#[test]
fn s2_b4_m6_laws_of_the_first_three_tiers() {
    let census: RefCell<BTreeMap<String, u64>> = RefCell::default();
    let mut runner = TestRunner::new(Config {
        cases: 128,
        failure_persistence: None,
        ..Config::default()
    });
    let steps = (any::<bool>(), prop::collection::vec(step(), 1..60));
    let ran = runner.run(&steps, |(spills, steps)| {
        let mut talk = Talk::new(spills);
        for step in &steps {
            talk.take(step);
            if matches!(step, Step::Round) {
                talk.round()?;
            }
        }
        talk.round()?;
        for (what, times) in talk.census {
            *census.borrow_mut().entry(what).or_default() += times;
        }
        Ok(())
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
    let census = census.into_inner();
    for (what, times) in &census {
        println!("{times:>6}  {what}");
    }
    for what in [
        "acknowledged",
        "undone",
        "budget: budget ",
        "budget: replace a result of characters",
        "budget: replace the results of one",
        "budget: replace a result of more",
        "budget: replace the request has bytes,",
        "budget: replace more than pictures are",
        "snip: snip superseded reads: the same",
        "snip: snip duplicates: the same call",
        "snip: snip empty messages: the model",
        "snip: snip markers: progress that is",
        "micro: replace the last answer was",
        "micro: cache_edit ",
        "micro: cache_reset ",
    ] {
        assert!(census.contains_key(what), "never seen: {what}");
    }
}

/// Whether the tier proposes something, and whether it was asked right after an event of a kind.
fn told(census: &mut BTreeMap<String, u64>, talk: &Talk, proposal: &Proposal) {
    let last = talk
        .host
        .log
        .last()
        .map_or("nothing", |event| event.body.name());
    let what = if proposal.is_empty() {
        "nothing"
    } else {
        "some"
    };
    for name in [format!("{what} after {last}"), what.to_owned()] {
        *census.entry(name).or_default() += 1;
    }
}

#[test]
fn s1_what_was_looked_at_before_is_decided_as_if_all_were_looked_at_again() {
    let census: RefCell<BTreeMap<String, u64>> = RefCell::default();
    let mut runner = TestRunner::new(Config {
        cases: 192,
        failure_persistence: None,
        ..Config::default()
    });
    // Asked after each step, or only now and then.
    let steps = (
        any::<bool>(),
        1_usize..6,
        prop::collection::vec(step(), 1..60),
    );
    let ran = runner.run(&steps, |(spills, every, steps)| {
        let mut talk = Talk::new(spills);
        for (number, step) in steps.iter().enumerate() {
            talk.take(step);
            if matches!(step, Step::Round) {
                talk.round()?;
            }
            if number % every > 0 {
                continue;
            }
            let view = talk.host.view();
            let proposal = snip::propose_with(&view.at(), &mut talk.host.zombies);
            prop_assert_eq!(&proposal, &snip::propose(&view.at()));
            let hidden: BTreeSet<u64> = hides(&proposal).into_iter().collect();
            prop_assert_eq!(hidden, plain::hides(&talk.host));
            told(&mut census.borrow_mut(), &talk, &proposal);
        }
        Ok(())
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
    let census = census.into_inner();
    for (what, times) in &census {
        println!("{times:>6}  {what}");
    }
    for what in [
        "some",
        "nothing",
        "some after message",
        "some after file_read",
        "some after tool_result",
        "some after undo",
        "some after rollback",
        "nothing after rollback",
        "nothing after cache_edit",
        "nothing after snip",
        "nothing after undo",
    ] {
        assert!(census.contains_key(what), "never seen: {what}");
    }
}
