//! The validator judged: each rule has a body that breaks it and no other; sound bodies break none.
#![allow(
    clippy::expect_used,
    clippy::panic,
    reason = "a law that does not hold panics, in its helpers too"
)]

mod anthropic;
mod cache;
mod chat;
mod sound;

use recount_tests::validator::{Facts, Wire, rules, validate};
use std::collections::BTreeSet;

/// A body that breaks one rule.
struct Fixture {
    rule: &'static str,
    facts: Facts,
    body: Vec<u8>,
    /// Rules that no body can keep while it breaks this one.
    also: &'static [&'static str],
}

impl Fixture {
    fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }
}

fn breaks(rule: &'static str, facts: Facts, body: impl Into<Vec<u8>>) -> Fixture {
    Fixture {
        rule,
        facts,
        body: body.into(),
        also: &[],
    }
}

fn judge(wire: Wire, fixtures: &[Fixture]) {
    for fixture in fixtures {
        let violations = validate(wire, &fixture.body, &fixture.facts);
        let broken: BTreeSet<&str> = violations.iter().map(|violation| violation.rule).collect();
        let body = String::from_utf8_lossy(&fixture.body);
        let shown: String = body.chars().take(400).collect();
        let expected = fixture.also.iter().copied().chain([fixture.rule]).collect();
        assert_eq!(broken, expected, "{wire:?} {shown} {violations:?}");
    }
    let covered: BTreeSet<&str> = fixtures.iter().map(|fixture| fixture.rule).collect();
    let all: BTreeSet<&str> = rules(wire).into_iter().collect();
    assert_eq!(covered, all, "each rule has its fixture");
}

fn sound(wire: Wire, bodies: &[(Facts, String)]) {
    for (facts, body) in bodies {
        let violations = validate(wire, body.as_bytes(), facts);
        assert!(violations.is_empty(), "{body} {violations:?}");
    }
}

#[test]
fn each_rule_of_anthropic_is_broken_alone() {
    judge(Wire::Anthropic, &anthropic::broken());
}

#[test]
fn each_rule_of_chat_is_broken_alone() {
    judge(Wire::Chat, &chat::broken());
}

#[test]
fn sound_bodies_pass() {
    sound(Wire::Anthropic, &sound::sound());
    sound(Wire::Chat, &chat::sound());
}

#[test]
fn junk_is_refused_without_a_panic() {
    for junk in [
        &b""[..],
        b"\xff\xfe",
        b"{",
        b"[[[[",
        b"null",
        b"{\"messages\":[1,null,{}]}",
        b"{\"messages\":{\"a\":1}}",
    ] {
        for wire in [Wire::Anthropic, Wire::Chat] {
            assert!(!validate(wire, junk, &Facts::default()).is_empty());
        }
    }
}

/// The bytes of a small PNG's head with these sides, as base64.
fn png(width: u32, height: u32) -> String {
    use base64::Engine as _;
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(*b"\x08\x06\0\0\0");
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
