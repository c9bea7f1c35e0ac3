//! M8: falls of the provider's cache, and what is behind them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says so by failing"
)]

#[path = "../common/mod.rs"]
mod common;

use common::Host;
use recount_events::{Body, CacheBreak, CacheCause, Issued, Seq, Text};
use recount_policies::cache::{Rules, detect, fell};

/// A session on the wire, call by call.
struct Talk {
    host: Host,
    calls: u64,
}

impl Talk {
    fn new() -> Self {
        let mut host = Host::new("claude-code", "");
        host.log(r#"{"type":"system","content":"Be kind."}"#);
        host.log(r#"{"type":"tools","tools":[{"name":"read","description":"reads","input_schema":{"type":"object"}}]}"#);
        host.says("Hello.");
        Self { host, calls: 0 }
    }

    /// The prompt leaves; the provider reads so many tokens from its cache; the model answers and the person goes on.
    fn call(&mut self, read: u64) {
        self.asks(read);
        self.goes_on();
    }

    fn goes_on(&mut self) {
        let words = format!("Answer {}.", self.calls);
        self.host.answers(&words);
        self.host.says("Go on.");
    }

    /// The prompt leaves and its usage comes.
    fn asks(&mut self, read: u64) {
        self.sent(read, "{}");
    }

    fn sent(&mut self, read: u64, params: &str) {
        let view = self.host.view();
        let profile = view.state.timeline().header.profile.as_ref().unwrap().seq;
        let issued = Issued {
            digest: view.projection.digest,
            cut: Seq(self.host.head()),
            estimate: view.projection.tokens,
            params: Some(Text::json(params)),
            wire: view.profile.wire,
            rendering: 1,
            profile: Some(profile),
            healed: true,
        };
        let digest = issued.digest;
        self.host.put(Body::Issued(issued));
        self.calls += 1;
        self.host.log(&format!(
            r#"{{"type":"usage","request":"r{}","issued":"{digest}","input":10,"output":5,"cache_read":{read},"cache_write":{{"5m":100}}}}"#,
            self.calls
        ));
    }

    fn found(&self) -> Option<CacheBreak> {
        let found = detect(&self.host.state);
        // The same from the log alone.
        assert_eq!(detect(&self.host.reopened().state), found);
        found
    }

    fn cause(&self) -> Option<CacheCause> {
        self.found().map(|found| found.cause)
    }
}

#[test]
fn m8_only_a_fall_of_more_than_a_twentieth_and_of_more_than_2_000_tokens() {
    let fall = |before, after| {
        let mut talk = Talk::new();
        talk.call(before);
        talk.asks(after);
        talk.cause().is_some()
    };
    assert!(!fall(10_000, 8_000));
    assert!(fall(10_000, 7_999));
    // A twentieth of 100,000 is 5,000.
    assert!(!fall(100_000, 95_000));
    assert!(fall(100_000, 94_999));
    assert!(!fall(0, 0) && !fall(5_000, 50_000));
}

#[test]
fn m8_nothing_changed_and_its_time_was_not_over() {
    let mut talk = Talk::new();
    talk.call(50_000);
    talk.host.wait(300_000);
    talk.asks(0);
    let found = talk.found().unwrap();
    assert_eq!(found.cause, CacheCause::Unexplained);
    assert_eq!((found.before, found.after), (50_000, 0));
    assert_eq!(found.usage.0, talk.host.head());
    assert_eq!((found.byte, found.piece, found.event), (None, None, None));
}

#[test]
fn m8_its_time_was_over() {
    let mut talk = Talk::new();
    talk.call(50_000);
    talk.host.wait(300_001);
    talk.asks(0);
    assert_eq!(talk.cause(), Some(CacheCause::Expired));
}

#[test]
fn m8_another_system_prompt_is_named_with_its_first_byte() {
    let mut talk = Talk::new();
    talk.call(50_000);
    let before = talk.host.prompt();
    let system = talk.host.log(r#"{"type":"system","content":"Be quick."}"#);
    // Also when the time was over: the change would have cost it anyway.
    talk.host.wait(300_001);
    talk.asks(0);
    let found = talk.found().unwrap();
    assert_eq!(found.cause, CacheCause::Changed);
    assert_eq!(found.event, Some(Seq(system)));
    assert_eq!(found.piece.map(|piece| piece.seq), Some(Seq(system)));
    let place = before.find("kind.").unwrap();
    assert_eq!(found.byte, Some(place as u64));
}

#[test]
fn m8_other_tools_are_named() {
    let mut talk = Talk::new();
    talk.call(50_000);
    let tools = talk.host.log(r#"{"type":"tools","tools":[{"name":"read","description":"reads files","input_schema":{"type":"object"}}]}"#);
    talk.asks(0);
    assert_eq!(talk.found().unwrap().event, Some(Seq(tools)));
}

#[test]
fn m8_other_parameters_change_it_without_a_piece() {
    let mut talk = Talk::new();
    talk.sent(
        50_000,
        r#"{"max_tokens":100,"tool_choice":{"type":"auto"}}"#,
    );
    talk.goes_on();
    talk.sent(0, r#"{"max_tokens":90,"tool_choice":{"type":"any"}}"#);
    let found = talk.found().unwrap();
    assert_eq!((found.cause, found.event), (CacheCause::Changed, None));
    // The answer's limit is no part of the key.
    talk.goes_on();
    talk.sent(50_000, r#"{"max_tokens":90}"#);
    talk.goes_on();
    talk.sent(0, r#"{"max_tokens":80}"#);
    assert_eq!(talk.cause(), Some(CacheCause::Unexplained));
}

#[test]
fn m8_a_result_in_the_place_of_a_placeholder_would_be_named_but_was_never_cached() {
    let mut talk = Talk::new();
    talk.host.calls(&[("t1", "read", "{}")]);
    talk.host.says("Meanwhile?");
    talk.call(50_000);
    talk.host.result("t1", "late");
    talk.asks(0);
    // The breakpoint stood before the placeholder: what was kept is still the beginning.
    assert_eq!(talk.cause(), Some(CacheCause::Unexplained));
}

#[test]
fn m8_what_the_log_announces_is_no_break() {
    let announced: &[&dyn Fn(&mut Talk)] = &[
        &|talk| {
            talk.host
                .log(r#"{"type":"replace","block":[5,0],"with":"-"}"#);
        },
        &|talk| {
            talk.host
                .log(r#"{"type":"compact_commit","first":5,"last":8,"summary":"s"}"#);
        },
        &|talk| {
            talk.host.log(r#"{"type":"snip","messages":[5]}"#);
        },
        &|talk| {
            talk.host
                .log(r#"{"type":"delete_range","first":5,"last":5}"#);
        },
        &|talk| {
            talk.call(60_000);
            talk.host.back(5);
        },
        &|talk| {
            talk.host.log(r#"{"type":"cache_reset","reason":"cold"}"#);
        },
        &|talk| {
            talk.host.profile(r#"{"model":"claude-other"}"#);
        },
        &|talk| {
            let system = talk.host.log(r#"{"type":"system","content":"Be quick."}"#);
            talk.call(60_000);
            talk.host.undo(system);
        },
    ];
    for (number, change) in announced.iter().enumerate() {
        let mut talk = Talk::new();
        talk.call(50_000);
        let position = talk.host.head() - 1;
        assert_eq!(position, 8, "the message is 5, its answer 8");
        change(&mut talk);
        talk.asks(0);
        assert!(fell(&talk.host.state));
        assert_eq!(talk.cause(), None, "{number}");
    }
}

#[test]
fn m8_what_was_undone_is_not_what_announces() {
    let mut talk = Talk::new();
    talk.call(50_000);
    let replace = talk
        .host
        .log(r#"{"type":"replace","block":[5,0],"with":"-"}"#);
    talk.host.undo(replace);
    talk.asks(0);
    assert_eq!(talk.cause(), Some(CacheCause::Unexplained));
}

#[test]
fn m8_a_compactions_own_call_is_not_the_call_before() {
    let mut talk = Talk::new();
    talk.call(50_000);
    talk.host.log(
        r#"{"type":"usage","request":"own","compaction":"c1","input":10,"output":5,"cache_read":90000}"#,
    );
    talk.asks(50_100);
    assert!(!fell(&talk.host.state));
    talk.host.log(
        r#"{"type":"usage","request":"own2","compaction":"c1","input":10,"output":5,"cache_read":0}"#,
    );
    assert!(!fell(&talk.host.state));
}

#[test]
fn m8_once_until_the_next_prompt_leaves() {
    let mut talk = Talk::new();
    talk.call(50_000);
    talk.asks(0);
    let found = talk.found().unwrap();
    let mut logged = talk.host.clone();
    logged.put(Body::CacheBreak(found));
    assert_eq!(detect(&logged.state), None);
    talk.goes_on();
    let mut next = Talk {
        host: talk.host.clone(),
        calls: 9,
    };
    next.call(0);
    assert_eq!(detect(&next.host.state), None, "it did not fall again");
}

#[test]
fn m8_without_issued_prompts_only_time_and_announcements_are_known() {
    let mut host = Host::new("claude-code", "");
    host.says("Hello.");
    let usage = |host: &mut Host, request: &str, read: u64| {
        host.log(&format!(
            r#"{{"type":"usage","request":"{request}","input":1,"output":1,"cache_read":{read}}}"#
        ))
    };
    usage(&mut host, "a", 50_000);
    let between = host.head();
    usage(&mut host, "b", 0);
    assert_eq!(detect(&host.state).unwrap().cause, CacheCause::Unexplained);
    let mut announced = host.fork(between);
    announced.log(r#"{"type":"replace","block":[3,0],"with":"-"}"#);
    usage(&mut announced, "c", 0);
    assert_eq!(detect(&announced.state), None);
}

#[test]
fn the_rules_of_a_model_are_those_of_its_family() {
    let minimum = |provider: &str, model: &str| {
        let mut host = Host::new("claude-code", "");
        host.profile(&format!(r#"{{"provider":"{provider}","model":"{model}"}}"#));
        Rules::of(&host.view().profile).minimum
    };
    assert_eq!(minimum("anthropic", "claude-opus-5-5"), 512);
    assert_eq!(minimum("anthropic", "claude-opus-4-5-20251101"), 4_096);
    assert_eq!(minimum("anthropic", "claude-opus-4-1"), 1_024);
    assert_eq!(minimum("anthropic", "claude-haiku-4-5"), 4_096);
    assert_eq!(minimum("bedrock", "anthropic.claude-opus-4-7-v1"), 2_048);
    assert_eq!(minimum("openai", "gpt-5"), 1_024);
}
