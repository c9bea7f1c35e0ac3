//! Bodies of Anthropic Messages that break no rule.

use super::anthropic::{
    answered, assistant, call, fact, found, picture, result, said, server, text, thinking, tool,
    user, with,
};
use super::cache::{compaction, edited};
use super::png;
use recount_tests::validator::Facts;
use serde_json::json;

pub(super) fn sound() -> Vec<(Facts, String)> {
    let d = Facts::default();
    let hi = user(json!("hi"));
    let think = json!({"type": "enabled", "budget_tokens": 1024});
    let looped = said(json!([
        hi,
        assistant(json!([thinking(), text("a"), call("a"), call("b")])),
        user(json!([result("a"), result("b"), text("stop")]))
    ]));
    let search = json!([{"type": "web_search_20250305", "name": "web_search"}, tool(json!({"description": "reads"}))]);
    let paused = said(json!([
        hi,
        assistant(json!([text("a"), server("srvtoolu_1")]))
    ]));
    let system = said(
        json!([hi, {"role": "system", "content": [text("brief")]}, assistant(json!("a")), hi]),
    );
    let deletes =
        json!([{"type": "cache_edits", "edits": [{"type": "delete", "cache_reference": "a"}]}]);
    let begins = said(json!([
        assistant(json!([compaction(), thinking(), call("a")])),
        user(json!([result("a")]))
    ]));
    let bare = json!({"type": "tool_result", "tool_use_id": "a"});
    let bodies = [
        (d, said(json!([hi]))),
        (d, with(looped, "thinking", think.clone())),
        (
            d,
            with(
                answered(json!([
                    server("srvtoolu_1"),
                    found("srvtoolu_1"),
                    text("x")
                ])),
                "tools",
                search.clone(),
            ),
        ),
        (d, with(paused, "tools", search)),
        (fact(|f| f.system_role = true), system),
        (
            fact(|f| f.prefill = true),
            said(json!([hi, assistant(json!("I"))])),
        ),
        (
            d,
            said(json!([
                hi,
                assistant(json!([call("a")])),
                user(json!([bare]))
            ])),
        ),
        (
            d,
            with(
                said(json!([user(json!([picture(
                    "image/png",
                    &png(8_000, 8_000)
                )]))])),
                "system",
                json!("s"),
            ),
        ),
        (fact(|f| f.cache_edits = true), edited(deletes)),
        // Nothing needs to stand before a compaction, nor behind one that the provider paused at.
        (d, said(json!([assistant(json!([compaction()]))]))),
        (d, with(begins, "thinking", think.clone())),
        (
            d,
            said(json!([user(json!("caf\u{e9} \u{2028} \u{1f600}"))])),
        ),
    ];
    bodies.map(|(facts, body)| (facts, body.to_string())).into()
}
