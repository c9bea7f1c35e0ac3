//! Bodies for the rules of Anthropic Messages.

use super::{Fixture, breaks, png};
use recount_tests::validator::Facts;
use serde_json::{Value, json};

/// A body of these messages.
pub(super) fn said(messages: Value) -> Value {
    json!({"model": "m", "max_tokens": 4096, "messages": messages})
}

/// A body whose members are joined by further ones.
pub(super) fn with(mut body: Value, key: &str, value: Value) -> Value {
    body[key] = value;
    body
}

pub(super) fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

pub(super) fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

pub(super) fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "read", "input": {}})
}

pub(super) fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "ok"})
}

pub(super) fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

pub(super) fn server(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": "q"}})
}

pub(super) fn found(id: &str) -> Value {
    json!({"type": "web_search_tool_result", "tool_use_id": id, "content": []})
}

pub(super) fn thinking() -> Value {
    json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"})
}

pub(super) fn picture(media: &str, data: &str) -> Value {
    json!({"type": "image", "source": {"type": "base64", "media_type": media, "data": data}})
}

/// A conversation of a question, these blocks of an answer, and one more word.
pub(super) fn answered(blocks: Value) -> Value {
    said(json!([
        user(json!("hi")),
        assistant(blocks),
        user(json!("go on"))
    ]))
}

pub(super) fn tool(extra: Value) -> Value {
    let mut tool = json!({"name": "read", "input_schema": {"type": "object"}});
    if let (Some(tool), Some(extra)) = (tool.as_object_mut(), extra.as_object()) {
        tool.extend(extra.clone());
    }
    tool
}

pub(super) fn fact(change: impl FnOnce(&mut Facts)) -> Facts {
    let mut facts = Facts::default();
    change(&mut facts);
    facts
}

pub(super) fn broken() -> Vec<Fixture> {
    let d = Facts::default();
    let hi = || said(json!([user(json!("hi"))]));
    let all = [
        plain(d, &hi),
        turns(d),
        contents(d),
        pairs(d),
        servers(d),
        thoughts(d),
        media(d),
        header(d, &hi),
        super::cache::broken(),
        super::cache::compactions(),
    ];
    all.into_iter().flatten().collect()
}

pub(super) fn rule(name: &'static str, facts: Facts, body: Value) -> Fixture {
    breaks(name, facts, body.to_string())
}

fn plain(d: Facts, hi: &dyn Fn() -> Value) -> Vec<Fixture> {
    let raw = |content: &str| {
        format!(
            r#"{{"model":"m","max_tokens":1,"messages":[{{"role":"user","content":{content}}}]}}"#
        )
    };
    let many: Vec<Value> = (0..100_001)
        .map(|i| {
            if i % 2 == 0 {
                user(json!("a"))
            } else {
                assistant(json!("b"))
            }
        })
        .collect();
    vec![
        breaks("utf8", d, b"{\"model\":\"\xff\"}".to_vec()),
        breaks("surrogate", d, raw(r#""a\ud800""#)),
        breaks("surrogate", d, raw(r#""a\ud800b""#)),
        breaks("surrogate", d, raw(r#""a\ud800\n""#)),
        breaks("surrogate", d, raw(r#""a\ud800\u0041""#)),
        breaks("surrogate", d, raw(r#""\udc00""#)),
        breaks("json", d, "{\"model\":"),
        breaks("json", d, format!("{} x", raw(r#""a""#))),
        breaks(
            "duplicate-key",
            d,
            raw(r#"[{"type":"text","text":"a","text":"b"}]"#),
        ),
        breaks("nul", d, raw(r#""a\u0000""#)),
        rule("body-object", d, json!([])).also(&["model", "max-tokens", "messages-list"]),
        rule("body-bytes", fact(|f| f.body_bytes = 10), hi()),
        rule("body-keys", d, with(hi(), "betas", json!(["x"]))),
        rule("model", d, with(hi(), "model", json!(""))),
        rule("max-tokens", d, with(hi(), "max_tokens", json!(0))),
        rule("messages-list", d, with(hi(), "messages", json!("hi"))),
        rule("messages-empty", d, said(json!([]))),
        rule("messages-count", d, said(json!(many))),
        rule(
            "message-object",
            d,
            said(json!([user(json!("hi")), "there"])),
        ),
        rule(
            "message-keys",
            d,
            said(json!([{"role": "user", "content": "hi", "ts": 1}])),
        ),
        rule("content-shape", d, said(json!([{"role": "user"}]))),
        rule(
            "content-shape",
            d,
            said(json!([user(json!({"type": "text", "text": "hi"}))])),
        ),
        rule("content-shape", d, said(json!([user(json!(["hi"]))]))),
    ]
}

fn turns(d: Facts) -> Vec<Fixture> {
    let allowed = fact(|f| f.system_role = true);
    let prefill = fact(|f| f.prefill = true);
    let system = |content: Value| json!({"role": "system", "content": content});
    let hi = || user(json!("hi"));
    vec![
        rule(
            "role",
            d,
            said(json!([hi(), {"role": "tool", "content": "x"}, hi()])),
        ),
        rule("first-user", d, said(json!([assistant(json!("hi")), hi()]))),
        rule("roles-alternate", d, said(json!([hi(), hi()]))),
        rule(
            "system-role",
            d,
            said(json!([hi(), system(json!("be brief"))])),
        ),
        rule(
            "system-place",
            allowed,
            said(json!([system(json!("be brief")), hi()])),
        ),
        rule(
            "system-place",
            allowed,
            said(json!([
                hi(),
                assistant(json!("a")),
                system(json!("x")),
                assistant(json!("b")),
                hi()
            ])),
        ),
        rule(
            "system-words",
            allowed,
            said(json!([
                hi(),
                system(json!([picture("image/png", &png(1, 1))]))
            ])),
        ),
        rule("prefill", d, said(json!([hi(), assistant(json!("I"))]))),
        rule(
            "prefill-space",
            prefill,
            said(json!([hi(), assistant(json!("I "))])),
        ),
        rule(
            "prefill-space",
            prefill,
            said(json!([hi(), assistant(json!([text("I\n")]))])),
        ),
    ]
}

fn contents(d: Facts) -> Vec<Fixture> {
    let block = |block: Value| said(json!([user(json!([text("hi"), block]))]));
    let in_result = |content: Value| {
        let answer = json!({"type": "tool_result", "tool_use_id": "a", "content": content});
        said(json!([
            user(json!("hi")),
            assistant(json!([call("a")])),
            user(json!([answer]))
        ]))
    };
    let inline = || json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let in_error = |content: Value| {
        let answer = json!({"type": "tool_result", "tool_use_id": "a", "content": content, "is_error": true});
        said(json!([
            user(json!("hi")),
            assistant(json!([call("a")])),
            user(json!([answer]))
        ]))
    };
    vec![
        rule("content-empty", d, said(json!([user(json!([]))]))),
        rule("content-empty", d, said(json!([user(json!(" "))]))),
        rule("content-empty", d, answered(json!([]))),
        rule(
            "block-kind",
            d,
            block(json!({"type": "reasoning", "text": "x"})),
        ),
        rule(
            "block-role",
            d,
            answered(json!([picture("image/png", &png(1, 1))])),
        ),
        rule(
            "block-keys",
            d,
            block(json!({"type": "text", "text": "x", "index": 0})),
        ),
        rule(
            "block-keys",
            d,
            in_result(json!([{"type": "text", "text": "x", "index": 0}])),
        ),
        rule(
            "block-must",
            d,
            block(json!({"type": "search_result", "source": "s", "title": "t"})),
        ),
        rule("text-string", d, block(json!({"type": "text", "text": 1}))),
        rule("text-empty", d, block(text(""))),
        rule("text-blank", d, block(text("\n\n"))),
        rule("text-blank", d, in_result(json!([text(" ")]))),
        rule("result-kind", d, in_result(json!([call("b")]))),
        rule("result-kind", d, in_result(json!(null))),
        rule("result-kind", d, in_result(json!(["x"]))),
        rule("result-kind", d, in_error(json!([text("x"), inline()]))),
        rule(
            "source-keys",
            d,
            block(
                json!({"type": "image", "source": {"type": "url", "url": "https://x.test/a.png", "detail": 1}}),
            ),
        ),
        rule(
            "source-keys",
            d,
            block(json!({"type": "image", "source": {"type": "blob"}})),
        ),
        rule(
            "source-keys",
            d,
            block(json!({"type": "document", "source": {"type": "text", "data": "x"}})),
        ),
    ]
}

fn pairs(d: Facts) -> Vec<Fixture> {
    let bedrock = fact(|f| f.tools_with_calls = true);
    let one = |call: Value, result: Value| {
        said(json!([
            user(json!("hi")),
            assistant(json!([call])),
            user(json!([result]))
        ]))
    };
    let turn = |id: &str| [assistant(json!([call(id)])), user(json!([result(id)]))];
    let [a1, r1] = turn("a");
    let [a2, r2] = turn("a");
    vec![
        rule(
            "call-id",
            d,
            one(call("functions.x:0"), result("functions.x:0")),
        ),
        rule("call-id", d, one(call(""), result(""))),
        rule(
            "call-id-unique",
            d,
            said(json!([user(json!("hi")), a1, r1, a2, r2])),
        ),
        rule(
            "call-name",
            d,
            one(
                json!({"type": "tool_use", "id": "a", "name": "a b", "input": {}}),
                result("a"),
            ),
        ),
        rule(
            "call-input",
            d,
            one(
                json!({"type": "tool_use", "id": "a", "name": "b", "input": "x"}),
                result("a"),
            ),
        ),
        rule("result-missing", d, answered(json!([call("a")]))),
        rule(
            "result-missing",
            fact(|f| f.prefill = true),
            said(json!([user(json!("hi")), assistant(json!([call("a")]))])),
        ),
        rule(
            "result-orphan",
            d,
            said(json!([user(json!([result("a")]))])),
        ),
        rule(
            "result-orphan",
            d,
            said(json!([
                user(json!("hi")),
                assistant(json!("x")),
                user(json!([result("a")]))
            ])),
        ),
        rule(
            "result-twice",
            d,
            said(json!([
                user(json!("hi")),
                assistant(json!([call("a")])),
                user(json!([result("a"), result("a")]))
            ])),
        ),
        rule(
            "results-first",
            d,
            said(json!([
                user(json!("hi")),
                assistant(json!([call("a")])),
                user(json!([text("stop"), result("a")]))
            ])),
        ),
        rule("tools-with-calls", bedrock, one(call("a"), result("a"))),
    ]
}

fn servers(d: Facts) -> Vec<Fixture> {
    let search = || json!([{"type": "web_search_20250305", "name": "web_search"}]);
    let offered = |body: Value| with(body, "tools", search());
    vec![
        rule(
            "server-id",
            d,
            offered(answered(json!([server("s"), found("s")]))),
        ),
        rule(
            "server-result-missing",
            d,
            offered(answered(json!([server("srvtoolu_1")]))),
        ),
        rule(
            "server-result-orphan",
            d,
            offered(answered(json!([found("srvtoolu_1")]))),
        ),
        rule(
            "server-result-orphan",
            d,
            offered(answered(json!([text("a"), found("srvtoolu_1"), text("b")]))),
        ),
        rule(
            "server-tool",
            d,
            answered(json!([server("srvtoolu_1"), found("srvtoolu_1")])),
        ),
    ]
}

fn thoughts(d: Facts) -> Vec<Fixture> {
    let config = |body: Value, thinking: Value| with(body, "thinking", thinking);
    let on = || json!({"type": "enabled", "budget_tokens": 1024});
    let first = fact(|f| f.thinking_first = true);
    let prefill = fact(|f| f.prefill = true);
    let hi = || said(json!([user(json!("hi"))]));
    let unsigned = json!({"type": "thinking", "thinking": "hm", "signature": ""});
    let looped = said(json!([
        user(json!("hi")),
        assistant(json!([call("a")])),
        user(json!([result("a")]))
    ]));
    let clear = json!({"edits": [{"type": "clear_tool_uses_20250919"}, {"type": "clear_thinking_20251015"}]});
    let alone = json!({"edits": [{"type": "clear_thinking_20251015"}]});
    vec![
        rule("thinking-config", d, config(hi(), json!({"type": "on"}))),
        rule(
            "thinking-config",
            d,
            config(hi(), json!({"type": "disabled", "budget_tokens": 2048})),
        ),
        rule(
            "thinking-budget",
            d,
            config(hi(), json!({"type": "enabled", "budget_tokens": 4096})),
        ),
        rule(
            "thinking-budget",
            d,
            config(hi(), json!({"type": "enabled", "budget_tokens": 10})),
        ),
        rule("thinking-off", d, answered(json!([thinking(), text("a")]))),
        rule(
            "thinking-signature",
            d,
            config(answered(json!([unsigned, text("a")])), on()),
        ),
        rule(
            "thinking-last",
            prefill,
            config(
                said(json!([user(json!("hi")), assistant(json!([thinking()]))])),
                on(),
            ),
        ),
        rule("thinking-loop", d, config(looped, on())),
        rule(
            "thinking-first",
            first,
            config(answered(json!([text("a"), thinking(), text("b")])), on()),
        ),
        rule(
            "clear-thinking",
            d,
            with(config(hi(), on()), "context_management", clear),
        ),
        rule("clear-thinking", d, with(hi(), "context_management", alone)),
    ]
}

fn media(d: Facts) -> Vec<Fixture> {
    let shown = |pictures: Vec<Value>| said(json!([user(json!(pictures))]));
    let one = |picture: Value| shown(vec![picture]);
    let small = || picture("image/png", &png(1, 1));
    let inside = json!({"type": "tool_result", "tool_use_id": "a", "content": [picture("image/png", &png(9_000, 1))]});
    vec![
        rule("image-media", d, one(picture("image/bmp", &png(1, 1)))),
        rule("image-base64", d, one(picture("image/png", "!!"))),
        rule("image-bytes", fact(|f| f.images_bytes = 10), one(small())),
        rule(
            "image-pixels",
            d,
            one(picture("image/png", &png(8_001, 10))),
        ),
        rule(
            "image-pixels",
            d,
            said(json!([
                user(json!("hi")),
                assistant(json!([call("a")])),
                user(json!([inside]))
            ])),
        ),
        rule("image-count", d, shown((0..101).map(|_| small()).collect())),
        rule(
            "image-many-pixels",
            d,
            shown(
                (0..21)
                    .map(|_| picture("image/png", &png(2_001, 10)))
                    .collect(),
            ),
        ),
    ]
}

fn header(d: Facts, hi: &dyn Fn() -> Value) -> Vec<Fixture> {
    let tools = |tools: Value| with(hi(), "tools", tools);
    let marked = |mut block: Value, ttl: &str| {
        block["cache_control"] = json!({"type": "ephemeral", "ttl": ttl});
        block
    };
    let five: Vec<Value> = (0..5).map(|_| marked(text("a"), "5m")).collect();
    let on = json!({"type": "adaptive"});
    let thought = |block: Value| with(answered(json!([block, text("a")])), "thinking", on.clone());
    vec![
        rule("tool-object", d, tools(json!(["read"]))),
        rule("tool-name", d, tools(json!([tool(json!({"name": "a b"}))]))),
        rule(
            "tool-twice",
            d,
            tools(json!([tool(json!({})), tool(json!({}))])),
        ),
        rule("tool-keys", d, tools(json!([tool(json!({"server": "x"}))]))),
        rule("tool-schema", d, tools(json!([{"name": "read"}]))),
        rule(
            "tool-description",
            d,
            tools(json!([tool(json!({"description": 1}))])),
        ),
        rule(
            "tool-choice",
            d,
            with(hi(), "tool_choice", json!({"type": "auto"})),
        ),
        rule(
            "system-shape",
            d,
            with(hi(), "system", json!([{"type": "image"}])),
        ),
        rule(
            "system-keys",
            d,
            with(
                hi(),
                "system",
                json!([{"type": "text", "text": "a", "id": 1}]),
            ),
        ),
        rule("system-blank", d, with(hi(), "system", json!([text(" ")]))),
        rule("cache-count", d, said(json!([user(json!(five))]))),
        rule(
            "cache-empty",
            d,
            said(json!([user(json!([marked(text(" "), "5m")]))])),
        )
        .also(&["text-blank"]),
        rule("cache-thinking", d, thought(marked(thinking(), "5m"))).also(&["block-keys"]),
        rule(
            "cache-order",
            d,
            said(json!([user(json!([
                marked(text("a"), "5m"),
                marked(text("b"), "1h")
            ]))])),
        ),
        rule(
            "cache-deferred",
            d,
            tools(json!([
                marked(tool(json!({"defer_loading": true})), "5m"),
                {"name": "other", "input_schema": {"type": "object"}}
            ])),
        ),
    ]
}
