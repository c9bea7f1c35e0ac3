//! Bodies for the rules about edits of the provider's cache, and about its own compactions.

use super::Fixture;
use super::anthropic::{assistant, call, fact, result, rule, said, text, user};
use recount_tests::validator::Facts;
use serde_json::{Value, json};

/// Results with references, and edits that delete some of them from the provider's cache.
pub(super) fn broken() -> Vec<Fixture> {
    let d = fact(|facts| facts.cache_edits = true);
    let breaks = |name: &'static str, more: Value| rule(name, d, edited(more));
    let named = |id: &str| json!({"type": "delete", "cache_reference": id});
    let one = |id: &str| json!({"type": "cache_edits", "edits": [named(id)]});
    let mut strange = edited(json!([]));
    strange["messages"][2]["content"][0]["cache_reference"] = "b".into();
    let mut late = edited(json!([]));
    late["messages"][2]["content"][0]["cache_control"] = json!({"type": "ephemeral"});
    late["messages"][2]["content"][2]
        .as_object_mut()
        .and_then(|text| text.remove("cache_control"));
    vec![
        rule("cache-edits-allowed", Facts::default(), edited(json!([]))),
        rule("cache-reference", d, strange),
        rule("cache-reference", d, late),
        breaks(
            "cache-edits-shape",
            json!([{"type": "cache_edits", "edits": []}]),
        ),
        breaks(
            "cache-edits-shape",
            json!([{"type": "cache_edits", "edits": [{"type": "replace", "cache_reference": "a"}]}]),
        ),
        breaks("cache-edits-known", json!([one("c")])),
        breaks("cache-edits-twice", json!([one("a"), one("a")])),
    ]
}

/// Compactions of the provider's own.
pub(super) fn compactions() -> Vec<Fixture> {
    let d = Facts::default();
    let answer = |blocks: Value| said(json!([assistant(blocks), user(json!("go on"))]));
    let empty = json!({"type": "compaction", "content": null});
    vec![
        rule("compaction-content", d, answer(json!([empty, text("a")]))),
        rule(
            "compaction-place",
            d,
            answer(json!([compaction(), compaction()])),
        ),
    ]
}

/// A compaction of the provider's own.
pub(super) fn compaction() -> Value {
    json!({"type": "compaction", "content": "in short"})
}

/// A request whose two results can be edited away, with these blocks behind them.
pub(super) fn edited(more: Value) -> Value {
    let referred = |id: &str| {
        let mut result = result(id);
        result["cache_reference"] = id.into();
        result
    };
    let mut kept = text("on");
    kept["cache_control"] = json!({"type": "ephemeral"});
    let mut last = vec![referred("a"), referred("b"), kept];
    last.extend(more.as_array().into_iter().flatten().cloned());
    said(json!([
        user(json!("hi")),
        assistant(json!([call("a"), call("b")])),
        user(json!(last))
    ]))
}
