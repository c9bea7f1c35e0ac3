//! Host events in, log lines out, example by example.

#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail tests"
)]

use recount_events::*;

fn host(raw: &str) -> Event {
    Event::from_json(raw, Millis(5)).unwrap_or_else(|refusal| panic!("{refusal}: {raw}"))
}

#[track_caller]
fn refused(raw: &str, message: &str) {
    assert_eq!(
        Event::from_json(raw, Millis(5)).unwrap_err().to_string(),
        message
    );
}

/// The line of a host's event, after its position.
#[track_caller]
fn line(raw: &str, expected: &str) {
    let event = host(raw);
    let line = event.to_json(Seq(3), None);
    assert_eq!(line, format!("{{\"seq\":3,{expected}}}"));
    let logged = Event::from_log_json(&line).unwrap_or_else(|refusal| panic!("{refusal}: {line}"));
    assert_eq!(
        logged,
        Logged {
            seq: Some(Seq(3)),
            digest: None,
            event
        }
    );
}

#[test]
fn a_message_stays_as_it_came() {
    line(
        r#" { "type" : "message", "role":"user", "content": [ {"type" : "text","text":"a\ud800\u0000", "ts":1} ], "novel":{"x": 1}, "at":7, "model":null}"#,
        r#""type":"message","at":7,"role":"user","content":[{"type" : "text","text":"a\ud800\u0000", "ts":1}],"novel":{"x": 1}"#,
    );
    line(
        r#"{"type":"message","role":"assistant","content":"h\u0069","response":"m\udc00","stop":"end_turn","authored":false}"#,
        r#""type":"message","at":5,"role":"assistant","content":"h\u0069","response":"m\udc00","stop":"end_turn","authored":false"#,
    );
}

#[test]
fn openai_calls_stand_beside_the_content() {
    let call = r#"{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}"#;
    for (content, index) in [
        ("null", 0),
        (r#""words""#, 1),
        (
            r#"[{"type":"text","text":"x"},{"type":"refusal","refusal":""}]"#,
            2,
        ),
        ("[]", 0),
    ] {
        let raw = format!(
            r#""format":"openai_chat","content":{content},"tool_calls":[{call},{{"odd":1}}]"#
        );
        line(
            &format!(r#"{{"type":"message","role":"assistant",{raw}}}"#),
            &format!(r#""type":"message","at":5,"role":"assistant",{raw}"#),
        );
        let Body::Message(message) =
            host(&format!(r#"{{"type":"message","role":"assistant",{raw}}}"#)).body
        else {
            panic!()
        };
        assert_eq!(message.content.blocks.len(), index + 2);
        assert_eq!(
            message.content.blocks[index]
                .call(Format::OpenaiChat)
                .unwrap()
                .id,
            "c1"
        );
    }
}

#[test]
fn openai_role_tool_is_a_result() {
    line(
        r#"{"type":"message","role":"tool","tool_call_id":"c1","format":"openai_chat","content":"done","name":"f"}"#,
        r#""type":"tool_result","at":5,"call":"c1","status":"ok","format":"openai_chat","content":"done","name":"f""#,
    );
    refused(
        r#"{"type":"message","role":"tool","format":"openai_chat"}"#,
        "missing: field=tool_call_id",
    );
    refused(
        r#"{"type":"message","role":"tool"}"#,
        "expected one of user assistant system: field=role",
    );
    refused(
        r#"{"type":"message","role":"user"}"#,
        "missing: field=content",
    );
    host(r#"{"type":"message","role":"user","content":null}"#);
}

#[test]
fn results_may_be_bytes() {
    line(
        r#"{"type":"tool_result","block":[3,0],"status":"error","bytes":"/wD+"}"#,
        r#""type":"tool_result","at":5,"block":[3,0],"status":"error","bytes":"/wD+""#,
    );
    refused(
        r#"{"type":"tool_result","call":"a","bytes":"/wD+","content":"x"}"#,
        "given twice: field=bytes",
    );
    refused(
        r#"{"type":"tool_result","content":"x"}"#,
        "missing: field=call",
    );
}

#[test]
fn ranges() {
    line(
        r#"{"type":"delete_range","first":1,"last":2.0}"#,
        r#""type":"delete_range","at":5,"first":1,"last":2"#,
    );
    line(
        r#"{"type":"compact_commit","keep_from":4,"summary":"s"}"#,
        r#""type":"compact_commit","at":5,"keep_from":4,"summary":"s""#,
    );
    line(
        r#"{"type":"compact_commit","first":null}"#,
        r#""type":"compact_commit","at":5,"first":null"#,
    );
    line(
        r#"{"type":"collapse_commit","id":"c"}"#,
        r#""type":"collapse_commit","at":5,"id":"c""#,
    );
    refused(r#"{"type":"delete_range"}"#, "missing: field=first");
    refused(
        r#"{"type":"delete_range","first":1}"#,
        "missing: field=last",
    );
    refused(
        r#"{"type":"delete_range","first":1,"last":2,"keep_from":3}"#,
        "given twice: field=keep_from",
    );
    refused(
        r#"{"type":"delete_range","first":-1,"last":2}"#,
        "expected a whole number: field=first",
    );
}

#[test]
fn what_admission_resolves_is_not_a_hosts_word() {
    line(
        r#"{"type":"snip","messages":[1],"covered":[9],"seq":4}"#,
        r#""type":"snip","at":5,"messages":[1],"extra":{"covered":[9],"seq":4}"#,
    );
    let read = Event::from_log_json(
        r#"{"seq":1,"type":"snip","at":5,"messages":[1],"covered":[1,2,3,7,[9,12]]}"#,
    )
    .unwrap();
    let Body::Snip(snip) = &read.event.body else {
        panic!()
    };
    assert_eq!(
        snip.covered,
        Covered(vec![(Seq(1), Seq(3)), (Seq(7), Seq(7)), (Seq(9), Seq(12))])
    );
    assert!(
        read.event
            .to_json(Seq(1), None)
            .ends_with(r#""covered":[1,2,3,7,9,10,11,12]}"#)
    );
}

#[test]
fn covered_never_explodes() {
    let covered = Covered(vec![(Seq(0), Seq(u64::MAX))]);
    let body = Body::Snip(Snip {
        messages: vec![],
        cause: None,
        covered,
    });
    let event = Event {
        at: Millis(0),
        body,
        because: None,
        extra: None,
    };
    let line = event.to_json(Seq(0), None);
    assert!(
        line.ends_with(r#""covered":[[0,18446744073709551615]]}"#),
        "{line}"
    );
    assert_eq!(Event::from_log_json(&line).unwrap().event, event);
}

#[test]
fn digests_of_their_own() {
    let digest = Digest([0xab; 32]);
    let event = host(&format!(
        r#"{{"type":"file_read","path":"a","digest":"{digest}"}}"#
    ));
    let line = event.to_json(Seq(1), Some(&Digest([1; 32])));
    assert!(
        line.contains(&format!(r#""digest":"{digest}""#))
            && line.contains(r#""record_digest":"0101"#)
    );
    assert_eq!(
        Event::from_log_json(&line).unwrap(),
        Logged {
            seq: Some(Seq(1)),
            digest: Some(Digest([1; 32])),
            event
        }
    );
    let event = host(r#"{"type":"file_read","path":"a","digest":"sha1:x"}"#);
    assert_eq!(
        event.extra.unwrap().as_str(),
        Some(r#"{"digest":"sha1:x"}"#)
    );
}

#[test]
fn texts_that_are_not_at_hand() {
    let mut event = host(
        r#"{"type":"message","role":"user","content":[{"type":"text","text":"x"},{"type":"tool_result"}],"model":"m"}"#,
    );
    event.texts_mut()[0].held = Held::Erased;
    let line = event.to_json(Seq(0), None);
    assert!(
        line.contains(r#""content":[null,{"type":"tool_result"}],"model":"m","erased":true"#),
        "{line}"
    );
    assert_eq!(Event::from_log_json(&line).unwrap().event, event);
    event.texts_mut()[1].held = Held::Lost;
    event.texts_mut()[2].held = Held::Lost;
    let line = event.to_json(Seq(0), None);
    assert!(
        line.contains(r#""content":null,"model":null,"lost":true,"erased":true"#),
        "{line}"
    );
    assert_eq!(Event::from_log_json(&line).unwrap().event, event);
}

#[test]
fn the_unknown() {
    refused(
        r#"{"type":"nova","at":3}"#,
        "unknown event type \"nova\": field=type",
    );
    refused(r#"{"type":"draft"}"#, "a draft is not logged: field=type");
    refused(r#"{"at":3}"#, "missing: field=type");
    refused(
        r#"{"type":"closed","type":"opened"}"#,
        "given twice: field=type",
    );
    refused("[]", "expected an object: field=");
    refused("{", "not json: field=");
    let kept = Event::keep(r#"{"type":"nova","at":3}"#, Millis(9));
    assert_eq!(kept.at, Millis(3));
    let line = kept.to_json(Seq(0), None);
    assert_eq!(
        line,
        r#"{"seq":0,"type":"kept","at":3,"name":"nova","raw":{"type":"nova","at":3}}"#
    );
    assert_eq!(Event::from_log_json(&line).unwrap().event, kept);
    let kept = Event::keep("no json\n", Millis(9));
    assert_eq!(
        Event::from_log_json(&kept.to_json(Seq(0), None))
            .unwrap()
            .event,
        kept
    );
}

#[test]
fn foreign_words() {
    let Body::Message(message) = host(r#"{"type":"message","role":"model","format":"gemini","content":[{"text":"x"}],"stop":"STOP"}"#).body else { panic!() };
    assert_eq!(
        (message.role, message.stop),
        (Role::Assistant, Some(Stop::EndTurn))
    );
    line(
        r#"{"type":"message","role":"assistant","content":"x","stop":"novel"}"#,
        r#""type":"message","at":5,"role":"assistant","content":"x","stop":"novel""#,
    );
    let Body::Usage(usage) =
        host(r#"{"type":"usage","input":1,"cache_write":{"5m":2,"1h":3},"raw":{ "a":1}}"#).body
    else {
        panic!()
    };
    assert_eq!(
        (
            usage.cache_write_5m,
            usage.cache_write_1h,
            usage.raw.unwrap().as_str()
        ),
        (2, 3, Some(r#"{ "a":1}"#))
    );
}

#[test]
fn rollbacks() {
    for (to, asked) in [
        (r#"{"seq":4}"#, Target::Seq(Seq(4))),
        (r#"{"time":4}"#, Target::Time(Millis(4))),
        (r#"{"turns":4}"#, Target::Turns(4)),
        (
            r#"{"checkpoint":"c"}"#,
            Target::Checkpoint(Text::plain("c")),
        ),
    ] {
        let event = host(&format!(r#"{{"type":"rollback","to":{to}}}"#));
        assert_eq!(event.body, Body::Rollback(Rollback { asked, to: None }));
    }
    refused(
        r#"{"type":"rollback","to":{"seq":1,"turns":1}}"#,
        "expected one of {seq}, {time}, {checkpoint}, {turns}: field=to",
    );
}

#[test]
fn lines_have_no_breaks() {
    let event = host(
        "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\n\"type\":\"text\",\r\n\"text\":\"a\\nb\"}],\"x\":[\n]}",
    );
    let line = event.to_json(Seq(0), None);
    assert!(
        !line.contains(['\n', '\r']) && recount_events::raw::is_json(&line),
        "{line}"
    );
}

#[test]
fn depth_costs_nothing() {
    let deep = format!("{}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let mut event = host(&format!(
        r#"{{"type":"message","role":"user","content":[{deep}],"x":{deep}}}"#
    ));
    let line = event.to_json(Seq(0), None);
    assert_eq!(Event::from_log_json(&line).unwrap().event, event);
    event.seal(&mut || [1; 16]);
    assert!(event.encode().is_ok());
}

#[test]
fn drafts() {
    let draft = Draft::from_json(
        r#"{"type":"draft","response":"r","index":2,"block":{"type":"text","text":"ab"}}"#,
        Millis(4),
    )
    .unwrap();
    assert_eq!(
        (draft.index, draft.at, draft.block.kind),
        (2, Millis(4), BlockKind::Text)
    );
    assert_eq!(draft.block.words().unwrap(), "ab");
}

#[test]
fn profiles() {
    let raw = r#"{"type":"profile","provider":"openai","model":"m","window":1000,"max_output":100,"images":{"count":3},"thinking":{"keeps":"last"},"params":{"b":1, "a":2}}"#;
    let Body::Profile(profile) = host(raw).body else {
        panic!()
    };
    assert_eq!(
        (profile.wire, profile.images_count, profile.thinking.keeps),
        (Wire::OpenaiChat, 3, Keeps::Last)
    );
    assert_eq!(profile.params.unwrap().as_str(), Some(r#"{"b":1, "a":2}"#));
    refused(
        r#"{"type":"profile","provider":"p","model":"m","window":1,"max_output":1,"params":[]}"#,
        "expected an object: field=params",
    );
}
