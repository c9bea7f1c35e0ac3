//! The scripted provider and the differ, by their rules.

use recount_tests::simulation::{Account, Body, Cache, Differ, Provider, Reply, Setup, Why};
use recount_tests::validator::Wire;
use serde_json::{Value, json};

const MINUTE: u64 = 60_000;

/// A request of so many user blocks; breakpoints at the given ones, with their lives.
fn request(blocks: usize, marks: &[(usize, &str)]) -> Value {
    let content: Vec<Value> = (0..blocks)
        .map(|number| {
            let mut block = json!({"type": "text", "text": format!("block {number}")});
            if let Some((_, ttl)) = marks.iter().find(|(at, _)| *at == number) {
                block["cache_control"] = json!({"type": "ephemeral", "ttl": ttl});
            }
            block
        })
        .collect();
    json!({"model": "m", "max_tokens": 10, "messages": [{"role": "user", "content": content}]})
}

fn booked(cache: &mut Cache, request: &Value, each: u64, now: u64) -> Account {
    let body = Body::parse(Wire::Anthropic, &request.to_string()).unwrap();
    let tokens = vec![each; body.blocks.len()];
    cache.book(Wire::Anthropic, &body, &tokens, now)
}

#[test]
fn a_prefix_is_written_at_a_breakpoint_and_read_within_twenty_positions() {
    let mut cache = Cache::default();
    let first = booked(&mut cache, &request(4, &[(3, "5m")]), 1_000, 0);
    assert_eq!((first.read, first.write_short, first.input), (0, 4_000, 0));
    let near = booked(&mut cache, &request(23, &[(22, "5m")]), 1_000, MINUTE);
    assert_eq!((near.read, near.write_short), (4_000, 19_000));
    let far = booked(&mut cache, &request(60, &[(59, "5m")]), 1_000, 2 * MINUTE);
    assert_eq!(
        (far.read, far.write_short),
        (0, 60_000),
        "20 positions and no more"
    );
}

#[test]
fn lives_end_and_reads_prolong_them() {
    let mut cache = Cache::default();
    let short = request(4, &[(3, "5m")]);
    booked(&mut cache, &short, 1_000, 0);
    assert_eq!(booked(&mut cache, &short, 1_000, 4 * MINUTE).read, 4_000);
    assert_eq!(
        booked(&mut cache, &short, 1_000, 8 * MINUTE).read,
        4_000,
        "prolonged"
    );
    assert_eq!(
        booked(&mut cache, &short, 1_000, 13 * MINUTE).read,
        0,
        "five minutes later"
    );
    let long = request(4, &[(1, "1h"), (3, "5m")]);
    let mixed = booked(&mut cache, &long, 1_000, 40 * MINUTE);
    assert_eq!((mixed.write_long, mixed.write_short), (2_000, 2_000));
    assert_eq!(booked(&mut cache, &long, 1_000, 70 * MINUTE).read, 2_000);
}

#[test]
fn small_prefixes_and_changed_ones_are_not_read() {
    let mut cache = Cache::default();
    let small = request(4, &[(3, "5m")]);
    assert_eq!(booked(&mut cache, &small, 200, 0).write_short, 0);
    assert_eq!(booked(&mut cache, &small, 200, 1).read, 0);
    booked(&mut cache, &small, 1_000, 2);
    let mut changed = small;
    changed["messages"][0]["content"][0]["text"] = json!("Block 0");
    assert_eq!(booked(&mut cache, &changed, 1_000, 3).read, 0);
}

#[test]
fn what_does_not_fit_is_refused_in_a_providers_words() {
    for (wire, older) in [
        (Wire::Anthropic, false),
        (Wire::Anthropic, true),
        (Wire::Chat, true),
    ] {
        let mut setup = Setup::new("none", 2_000, wire, "words");
        (setup.older, setup.rates) = (older, 0);
        let mut provider = Provider::new(setup.traits(), "words");
        let text = |words: usize| {
            json!({"model": "m", "max_tokens": 400, "messages": [{"role": "user", "content": "word ".repeat(words).trim()}]}).to_string()
        };
        assert!(matches!(
            provider.send(&text(200), 0),
            Reply::Answered { .. }
        ));
        // The most words that fit without room for the answer.
        let words = (200..3_000).rev().find(|words| {
            let body = Body::parse(wire, &text(*words)).unwrap();
            provider.counts(&body).iter().sum::<u64>() <= 2_000
        });
        let between = provider.send(&text(words.unwrap()), 0);
        assert_eq!(
            matches!(between, Reply::Refused(_)),
            older,
            "{wire:?} {between:?}"
        );
        let Reply::Refused(refusal) = provider.send(&text(3_000), 0) else {
            panic!("{wire:?}: three thousand words fit");
        };
        let Why::Tokens {
            input,
            window,
            with_output,
            ..
        } = refusal.why
        else {
            panic!("{refusal:?}");
        };
        assert!(input > window && !with_output);
        assert_eq!(refusal.error["status"], 400);
    }
}

#[test]
fn a_cache_edit_names_what_is_there_and_saves_it() {
    let mut setup = Setup::new("claude-code", 200_000, Wire::Anthropic, "edits");
    setup.rates = 0;
    let mut provider = Provider::new(setup.traits(), "edits");
    let long = "many words in a result ".repeat(400);
    let request = |edits: Value| {
        let mut words = vec![json!({"type": "text", "text": "go on"})];
        if !edits.is_null() {
            words.insert(0, json!({"type": "cache_edits", "edits": edits}));
        }
        json!({"model": "m", "max_tokens": 10,
            "tools": [{"name": "read", "input_schema": {"type": "object"}}],
            "messages": [
            {"role": "user", "content": "begin"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "read", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": long.trim(), "cache_reference": "t1"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "read"}]},
            {"role": "user", "content": words},
        ]})
        .to_string()
    };
    let body = |text: &str| Body::parse(Wire::Anthropic, text).unwrap();
    let plain = body(&request(Value::Null));
    let edited = body(&request(
        json!([{"type": "delete", "cache_reference": "t1"}]),
    ));
    let sum = |body: &Body| provider.counts(body).iter().sum::<u64>();
    assert!(sum(&edited) + 1_000 < sum(&plain));
    let mut differ = Differ::default();
    assert_eq!(differ.next(&plain, 1, &[]), None);
    assert_eq!(differ.next(&edited, 2, &[]), None, "not one byte changes");
    let reply = provider.send(
        &request(json!([{"type": "delete", "cache_reference": "t9"}])),
        0,
    );
    assert!(matches!(reply, Reply::Invalid(_)), "{reply:?}");
}

#[test]
fn a_change_without_a_cause_is_seen() {
    let body = |text: &str| {
        let request = json!({"messages": [{"role": "user", "content": [{"type": "text", "text": text}, {"type": "text", "text": "b"}]}]});
        Body::parse(Wire::Anthropic, &request.to_string()).unwrap()
    };
    let mut differ = Differ::default();
    assert_eq!(differ.next(&body("a"), 1, &[]), None);
    let silent = differ
        .next(&body("A"), 2, &[json!({"seq": 2, "type": "message"})])
        .unwrap();
    assert_eq!((silent.block, silent.cause), (0, None));
    let named = differ
        .next(&body("a"), 3, &[json!({"seq": 3, "type": "replace"})])
        .unwrap();
    assert_eq!(named.cause, Some(("replace".to_owned(), 3)));
}
