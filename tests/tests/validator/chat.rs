//! Bodies for the rules of OpenAI Chat Completions.

use super::{Fixture, breaks, png};
use recount_tests::validator::Facts;
use serde_json::{Value, json};

fn said(messages: Value) -> Value {
    json!({"model": "m", "messages": messages})
}

fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}})
}

fn calls(calls: Value) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn tool(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "ok"})
}

fn one(call: Value, id: &str) -> Value {
    said(json!([user(json!("hi")), calls(json!([call])), tool(id)]))
}

fn function(extra: Value) -> Value {
    let mut function = json!({"name": "read", "parameters": {"type": "object", "properties": {}}});
    if let (Some(function), Some(extra)) = (function.as_object_mut(), extra.as_object()) {
        function.extend(extra.clone());
    }
    json!({"type": "function", "function": function})
}

fn picture(url: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn inline(media: &str, data: &str) -> Value {
    picture(&format!("data:{media};base64,{data}"))
}

fn fact(change: impl FnOnce(&mut Facts)) -> Facts {
    let mut facts = Facts::default();
    change(&mut facts);
    facts
}

fn rule(name: &'static str, facts: Facts, body: Value) -> Fixture {
    breaks(name, facts, body.to_string())
}

pub(super) fn broken() -> Vec<Fixture> {
    let d = Facts::default();
    [plain(d), messages(d), pairs(d), media(d), tools(d)]
        .into_iter()
        .flatten()
        .collect()
}

fn plain(d: Facts) -> Vec<Fixture> {
    let hi = || said(json!([user(json!("hi"))]));
    let raw = |content: &str| {
        format!(r#"{{"model":"m","messages":[{{"role":"user","content":{content}}}]}}"#)
    };
    vec![
        breaks("utf8", d, b"\xc3".to_vec()),
        breaks("surrogate", d, raw(r#""\ud83d \ude00""#)),
        breaks("json", d, "[1,]"),
        breaks("duplicate-key", d, raw(r#""a","role":"user""#)),
        breaks("nul", d, raw(r#""\u0000""#)),
        rule("body-object", d, json!(1)).also(&["model", "messages-list"]),
        rule("body-bytes", fact(|f| f.body_bytes = 10), hi()),
        rule("body-keys", d, with(hi(), "system", json!("x"))),
        rule("model", d, with(hi(), "model", json!(null))),
        rule(
            "max-tokens",
            d,
            with(hi(), "max_completion_tokens", json!(0)),
        ),
        rule(
            "max-tokens",
            d,
            with(
                with(hi(), "max_tokens", json!(5)),
                "max_completion_tokens",
                json!(5),
            ),
        ),
        rule("messages-list", d, with(hi(), "messages", json!({}))),
        rule("messages-empty", d, said(json!([]))),
        rule("message-object", d, said(json!([user(json!("hi")), null]))),
    ]
}

fn messages(d: Facts) -> Vec<Fixture> {
    let prefill = fact(|f| f.prefill = true);
    let hi = || user(json!("hi"));
    let part = |part: Value| said(json!([user(json!([{"type": "text", "text": "hi"}, part]))]));
    vec![
        rule(
            "role",
            d,
            said(json!([hi(), {"role": "model", "content": "x"}])),
        ),
        rule(
            "message-keys",
            d,
            said(json!([{"role": "user", "content": "hi", "reasoning_details": []}])),
        ),
        rule("content-shape", d, said(json!([{"role": "user"}]))),
        rule(
            "content-shape",
            d,
            said(json!([hi(), {"role": "assistant", "content": null}, hi()])),
        ),
        rule("content-empty", d, said(json!([user(json!([]))]))),
        rule(
            "content-empty",
            d,
            said(
                json!([hi(), calls(json!([call("a")])), {"role": "tool", "tool_call_id": "a", "content": ""}]),
            ),
        ),
        rule("part-kind", d, part(json!({"type": "tool_use"}))),
        rule(
            "part-kind",
            d,
            said(
                json!([hi(), {"role": "assistant", "content": [picture("https://x.test/a")]}, hi()]),
            ),
        ),
        rule(
            "part-keys",
            d,
            part(json!({"type": "text", "text": "x", "cache_control": {}})),
        ),
        rule("part-keys", d, part(json!({"type": "text"}))),
        rule(
            "part-keys",
            d,
            part(
                json!({"type": "image_url", "image_url": {"url": "https://x.test/a", "media": "x"}}),
            ),
        ),
        rule("text-blank", d, part(json!({"type": "text", "text": " "}))),
        rule(
            "prefill",
            d,
            said(json!([hi(), {"role": "assistant", "content": "I"}])),
        ),
        rule(
            "prefill-space",
            prefill,
            said(json!([hi(), {"role": "assistant", "content": "I "}])),
        ),
        rule(
            "user-missing",
            d,
            said(json!([{"role": "system", "content": "x"}])),
        ),
    ]
}

fn pairs(d: Facts) -> Vec<Fixture> {
    let hi = || user(json!("hi"));
    let named = |name: &str| json!({"id": "a", "type": "function", "function": {"name": name, "arguments": "{}"}});
    let long = "x".repeat(41);
    vec![
        rule(
            "calls-list",
            d,
            said(json!([hi(), {"role": "assistant", "content": "a", "tool_calls": []}, hi()])),
        ),
        rule(
            "call-keys",
            d,
            one(
                json!({"id": "a", "type": "function", "index": 0, "function": {"name": "n", "arguments": ""}}),
                "a",
            ),
        ),
        rule(
            "call-keys",
            d,
            one(
                json!({"id": "a", "type": "custom", "function": {"name": "n", "arguments": ""}}),
                "a",
            ),
        ),
        rule("call-id", d, one(call(&long), &long)),
        rule("call-id", d, one(call(""), "")),
        rule(
            "call-id-unique",
            d,
            said(json!([
                hi(),
                calls(json!([call("a")])),
                tool("a"),
                calls(json!([call("a")])),
                tool("a")
            ])),
        ),
        rule("call-name", d, one(named(&"n".repeat(65)), "a")),
        rule(
            "call-arguments",
            d,
            one(
                json!({"id": "a", "type": "function", "function": {"name": "n", "arguments": {}}}),
                "a",
            ),
        ),
        rule(
            "result-missing",
            d,
            said(json!([
                hi(),
                calls(json!([call("a"), call("b")])),
                tool("a")
            ])),
        ),
        rule(
            "result-missing",
            d,
            said(json!([hi(), calls(json!([call("a")])), hi()])),
        ),
        rule("result-orphan", d, said(json!([hi(), tool("a")]))),
        rule(
            "result-twice",
            d,
            said(json!([
                hi(),
                calls(json!([call("a")])),
                tool("a"),
                tool("a")
            ])),
        ),
    ]
}

fn media(d: Facts) -> Vec<Fixture> {
    let shown = |pictures: Vec<Value>| said(json!([user(json!(pictures))]));
    let one = |picture: Value| shown(vec![picture]);
    vec![
        rule("image-url", d, one(picture("file:///a.png"))),
        rule("image-media", d, one(inline("image/tiff", &png(1, 1)))),
        rule("image-base64", d, one(inline("image/png", "a b"))),
        rule(
            "image-bytes",
            fact(|f| f.images_bytes = 10),
            one(inline("image/png", &png(1, 1))),
        ),
        rule("image-pixels", d, one(inline("image/png", &png(1, 8_001)))),
        rule(
            "image-count",
            fact(|f| f.images_count = 1),
            shown(vec![
                picture("https://x.test/a"),
                picture("https://x.test/b"),
            ]),
        ),
        rule(
            "image-many-pixels",
            d,
            shown(
                (0..21)
                    .map(|_| inline("image/png", &png(2_001, 1)))
                    .collect(),
            ),
        ),
    ]
}

fn tools(d: Facts) -> Vec<Fixture> {
    let offered = |tools: Value| with(said(json!([user(json!("hi"))])), "tools", tools);
    vec![
        rule("tool-shape", d, offered(json!([]))),
        rule(
            "tool-shape",
            d,
            offered(json!([function(json!({"parameters": 1}))])),
        ),
        rule(
            "tool-keys",
            d,
            offered(json!([function(json!({"input_schema": {}}))])),
        ),
        rule(
            "tool-name",
            d,
            offered(json!([function(json!({"name": "a.b"}))])),
        ),
        rule(
            "tool-twice",
            d,
            offered(json!([function(json!({})), function(json!({}))])),
        ),
        rule(
            "tool-choice",
            d,
            with(
                said(json!([user(json!("hi"))])),
                "tool_choice",
                json!("auto"),
            ),
        ),
    ]
}

pub(super) fn sound() -> Vec<(Facts, String)> {
    let d = Facts::default();
    let hi = user(json!("hi"));
    let both = said(json!([
        hi,
        calls(json!([call("a"), call("b")])),
        tool("b"),
        tool("a"),
        hi
    ]));
    let bodies = [
        said(json!([hi])),
        with(
            both,
            "tools",
            json!([function(json!({"description": "x"}))]),
        ),
        said(
            json!([{"role": "system", "content": [{"type": "text", "text": "s"}]}, user(json!([picture("https://x.test/a")]))]),
        ),
        said(
            json!([hi, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}, user(json!([inline("image/png", &png(9, 9))]))]),
        ),
    ];
    bodies.map(|body| (d, body.to_string())).into()
}
