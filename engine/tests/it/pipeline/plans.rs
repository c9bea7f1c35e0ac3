//! A2, A3, A7: a compaction by force, and the requests that it asks.

use super::desk::{Desk, NONE, SMALL, SUMMARY, bodies, parsed, text};
use crate::common::digest;
use recount::{ErrorKind, api};
use serde_json::json;

#[test]
fn a2_a_compaction_is_forced_far_below_the_threshold() {
    let desk = Desk::plain();
    desk.talks(4, 60);
    let before = desk.session.status().unwrap();
    assert!(before.compression_progress < 20, "{before:?}");
    let plan = desk.plans();
    assert_eq!((plan.outcome.as_str(), plan.requests.len()), ("planned", 1));
    let logged = desk.logged("compact_plan");
    let planned = logged.last().unwrap();
    assert_eq!(planned["trigger"], "manual");
    assert_eq!(plan.compaction, format!("c{}", planned["seq"]));
    // All but the last turn, whose words are not summed up.
    let asked = desk.logged("message");
    let last_turn = asked.last().unwrap()["seq"].as_u64().unwrap();
    assert!(plan.requests[0].last < last_turn, "{:?}", plan.requests);
    let done = desk.hands_in(&plan.compaction, 0, SUMMARY);
    assert_eq!(done.outcome, "committed");
    assert!(done.after.unwrap() < done.before, "{done:?}");
    let body = desk.body();
    assert!(body.contains("They counted birds") && body.contains("and now?"));
    assert!(
        !body.contains("let me see") && !body.contains("question 0"),
        "{body}"
    );
}

#[test]
fn a2_a_custom_instruction_is_in_the_request_and_in_the_log() {
    let desk = Desk::plain();
    desk.talks(3, 40);
    let ask = || api::Compact {
        custom_instruction: Some("heed the crows".into()),
        ..Default::default()
    };
    let plain = desk.plans();
    let plan = desk.session.compact(ask()).unwrap();
    assert_ne!(
        plan.compaction, plain.compaction,
        "another ask is another plan"
    );
    assert!(text(&plan.requests[0].request).contains("heed the crows"));
    assert!(!text(&plain.requests[0].request).contains("heed the crows"));
    let logged = desk.logged("compact_plan");
    let instruction = logged.last().unwrap()["instruction"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(instruction.contains("heed the crows"), "{instruction}");
    let abandoned = desk.logged("compact_abandon");
    assert_eq!(
        (&abandoned[0]["id"], &abandoned[0]["reason"]),
        (&json!(plain.compaction), &json!("superseded"))
    );
    // The same again is the same plan, byte for byte, and nothing is logged.
    let head = desk.head();
    let again = desk.session.compact(ask()).unwrap();
    assert_eq!(
        (again.compaction, bodies(&again.requests)),
        (plan.compaction, bodies(&plan.requests))
    );
    assert_eq!(desk.head(), head);
}

#[test]
fn a2_thinking_is_off_where_a_person_asks_and_the_policy_says_so() {
    let desk = Desk::plain();
    desk.talks(3, 40);
    let body = parsed(&desk.plans().requests[0].request);
    assert_eq!(body["thinking"], json!({"type": "disabled"}));
    let policy = r#"{"type":"policy","preset":"none","params":{"compact":{"thinking_off":false}}}"#;
    let keeps = Desk::new(super::desk::THINKER, policy);
    keeps.talks(3, 40);
    let body = parsed(&keeps.plans().requests[0].request);
    assert_eq!(
        body["thinking"],
        json!({"type": "enabled", "budget_tokens": 4000})
    );
    assert_eq!(
        body["max_tokens"], 24_000,
        "room for thinking and a summary"
    );
}

#[test]
fn a2_nothing_to_fold_is_rejected_and_logs_nothing() {
    let desk = Desk::plain();
    desk.says("only one thing was said");
    let head = desk.head();
    for model_free in [false, true] {
        let error = desk
            .session
            .compact(api::Compact {
                model_free,
                ..Default::default()
            })
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Rejected, "{error}");
        assert!(!error.next().is_empty());
    }
    assert_eq!(desk.head(), head);
}

#[test]
fn a2_bad_asks_are_told_and_log_nothing() {
    let desk = Desk::plain();
    desk.talks(2, 20);
    let head = desk.head();
    let refused = |ask: api::Compact| desk.session.compact(ask).unwrap_err();
    let crossed = refused(api::Compact {
        from: Some(9),
        up_to: Some(9),
        ..Default::default()
    });
    assert_eq!(
        (crossed.kind(), crossed.field()),
        (ErrorKind::Invalid, Some("up_to"))
    );
    let late = refused(api::Compact {
        expect: Some(head + 1),
        ..Default::default()
    });
    assert_eq!(late.kind(), ErrorKind::Conflict);
    assert_eq!(desk.head(), head);
    let fixture = crate::common::Fixture::new();
    let bare = fixture.engine().create("s", None).unwrap();
    bare.append(crate::common::CHAT).unwrap();
    let error = bare.compact(api::Compact::default()).unwrap_err();
    assert_eq!(
        (error.kind(), error.field()),
        (ErrorKind::Invalid, Some("profile"))
    );
}

#[test]
fn a2_a_key_makes_a_compaction_once() {
    let desk = Desk::plain();
    desk.talks(3, 40);
    let ask = |key: &str, model_free: bool| api::Compact {
        key: Some(key.into()),
        model_free,
        ..Default::default()
    };
    let plan = desk.session.compact(ask("k", false)).unwrap();
    let head = desk.head();
    let again = desk.session.compact(ask("k", false)).unwrap();
    assert_eq!(bodies(&again.requests), bodies(&plan.requests));
    assert_eq!((again.compaction, desk.head()), (plan.compaction, head));
    let other = desk.session.compact(ask("k", true)).unwrap_err();
    assert_eq!(other.kind(), ErrorKind::Conflict);
    let done = desk.session.compact(ask("free", true)).unwrap();
    let head = desk.head();
    let again = desk.session.compact(ask("free", true)).unwrap();
    assert_eq!(
        (again.compaction, again.before, again.after, desk.head()),
        (done.compaction, done.before, done.after, head)
    );
}

#[test]
fn a3_the_request_is_the_sessions_own_prompt_and_one_instruction() {
    let policy = r#"{"type":"policy","preset":"none","params":{"compact":{"thinking_off":false}}}"#;
    let desk = Desk::new(super::desk::THINKER, policy);
    desk.talks(5, 50);
    let sent = desk.prepares();
    let sent = text(sent.prompt.request.as_ref().unwrap());
    let plan = desk.plans();
    let request = text(&plan.requests[0].request);
    // Everything up to the end of the last message is the same, byte for byte.
    let end = sent.find("and now?").unwrap() + "and now?".len();
    assert_eq!(request.get(..end), sent.get(..end));
    let (sent, asked) = (
        serde_json::from_str::<serde_json::Value>(&sent).unwrap(),
        parsed(&plan.requests[0].request),
    );
    for same in ["model", "tools", "system", "thinking"] {
        assert_eq!(asked[same], sent[same], "{same}");
    }
    let logged = desk.logged("compact_plan");
    let instruction = logged[0]["instruction"].as_str().unwrap();
    let messages = asked["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    assert_eq!(last["role"], "user");
    let blocks = last["content"].as_array().unwrap();
    assert_eq!(blocks.last().unwrap()["text"], instruction);
    assert_eq!(messages.len(), sent["messages"].as_array().unwrap().len());
}

#[test]
fn a3_the_parameters_are_those_that_the_session_was_sent_with() {
    let desk = Desk::new(SMALL, NONE);
    desk.talks(3, 40);
    let params = r#"{"temperature":0.25,"seed":7}"#;
    desk.session
        .prepare(api::Prepare {
            params: Some(serde_json::from_str(params).unwrap()),
            ..Default::default()
        })
        .unwrap();
    let body = parsed(&desk.plans().requests[0].request);
    assert_eq!(
        (&body["temperature"], &body["seed"]),
        (&json!(0.25), &json!(7))
    );
    assert_eq!(
        body["max_completion_tokens"], 2_000,
        "no longer than the model can"
    );
}

#[test]
fn a3_no_call_is_forced_where_text_is_asked_for() {
    let anthropic = r#"{"provider":"anthropic","model":"claude-test","wire":"anthropic","window":200000,"max_output":32000}"#;
    let forced = [
        (anthropic, r#"{"type":"any"}"#),
        (anthropic, r#"{"type":"tool","name":"read"}"#),
        (SMALL, r#""required""#),
        (SMALL, r#"{"type":"function","function":{"name":"read"}}"#),
        (
            SMALL,
            r#"{"type":"allowed_tools","allowed_tools":{"mode":"required","tools":[]}}"#,
        ),
    ];
    let free = [
        (
            anthropic,
            r#"{"type": "auto", "disable_parallel_tool_use": true}"#,
        ),
        (anthropic, r#"{"type":"none"}"#),
        (SMALL, r#""auto""#),
        (SMALL, r#""none""#),
        (
            SMALL,
            r#"{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}"#,
        ),
    ];
    let asks = |profile: &str, choice: &str| {
        let desk = Desk::new(profile, NONE);
        desk.talks(3, 40);
        let params = format!(r#"{{"top_p":0.5,"tool_choice":{choice}}}"#);
        let sent = desk.session.prepare(api::Prepare {
            params: Some(serde_json::from_str(&params).unwrap()),
            ..Default::default()
        });
        let sent = text(sent.unwrap().prompt.request.as_ref().unwrap());
        let own = format!(r#""tool_choice":{choice}"#);
        assert!(sent.contains(&own), "{sent}");
        let request = text(&desk.plans().requests[0].request);
        assert!(request.contains(r#""top_p":0.5"#), "{request}");
        (request.contains(&own), request.contains("tool_choice"))
    };
    for (profile, choice) in forced {
        assert_eq!(asks(profile, choice), (false, false), "{choice}");
    }
    for (profile, choice) in free {
        assert_eq!(asks(profile, choice), (true, true), "{choice}");
    }
}

/// What gives an answer another form than text of the model's own is left out of a request for a summary, whatever the session asks for.
#[test]
fn a3_no_form_of_the_answer_is_asked_of_a_summary() {
    let anthropic = r#"{"provider":"anthropic","model":"claude-test","wire":"anthropic","window":200000,"max_output":32000}"#;
    let schema = r#"{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}}"#;
    let forms = [
        (SMALL, "response_format", schema.to_owned()),
        (
            SMALL,
            "response_format",
            r#"{"type":"json_object"}"#.to_owned(),
        ),
        (SMALL, "modalities", r#"["text","audio"]"#.to_owned()),
        (SMALL, "audio", r#"{"voice":"v","format":"wav"}"#.to_owned()),
        (SMALL, "n", "2".to_owned()),
        (
            SMALL,
            "prediction",
            r#"{"type":"content","content":"x"}"#.to_owned(),
        ),
        (SMALL, "stop", r#"["2."]"#.to_owned()),
        (anthropic, "stop_sequences", r#"["2."]"#.to_owned()),
        (
            anthropic,
            "output_config",
            r#"{"format":{"type":"json_schema","schema":{}}}"#.to_owned(),
        ),
    ];
    for (profile, name, value) in forms {
        let (sent, asked) = both(profile, name, &value);
        assert!(sent.contains(&format!("\"{name}\":")), "{sent}");
        assert!(!asked.contains(&format!("\"{name}\":")), "{asked}");
    }
    // What else stands beside the form stays.
    let (sent, asked) = both(
        anthropic,
        "output_config",
        r#"{"effort":"low","format":{"type":"json_schema","schema":{}}}"#,
    );
    assert!(sent.contains(r#""format":{"type":"json_schema""#), "{sent}");
    assert!(
        asked.contains(r#""output_config":{"effort":"low"}"#),
        "{asked}"
    );
}

/// A prompt that was sent with a parameter, and the request for a summary behind it.
fn both(profile: &str, name: &str, value: &str) -> (String, String) {
    let desk = Desk::new(profile, NONE);
    desk.talks(3, 40);
    let params = format!(r#"{{"{name}":{value}}}"#);
    let sent = desk.session.prepare(api::Prepare {
        params: Some(serde_json::from_str(&params).unwrap()),
        ..Default::default()
    });
    let sent = text(sent.unwrap().prompt.request.as_ref().unwrap());
    (sent, text(&desk.plans().requests[0].request))
}

#[test]
fn a3_the_requests_are_the_same_after_a_restart_and_whatever_was_said_since() {
    let desk = Desk::plain();
    desk.talks(4, 40);
    let plan = desk.plans();
    let bytes = bodies(&plan.requests);
    desk.session
        .append(&[
            r#"{"type":"usage","input":9000,"output":5}"#,
            r#"{"type":"system","content":"Be long."}"#,
            r#"{"type":"message","role":"assistant","content":[{"type":"text","text":"later"}]}"#,
        ])
        .unwrap();
    desk.says("later still");
    let desk = desk.reopened();
    let actions = desk.session.actions().unwrap();
    let again: Vec<String> = actions
        .iter()
        .map(|action| text(action.request.as_ref().unwrap()))
        .collect();
    assert_eq!(again, bytes);
}

#[test]
fn a3_a_window_that_holds_no_such_request_gets_chunks() {
    let desk = Desk::new(SMALL, NONE);
    desk.talks(8, 2_000);
    let plan = desk.plans();
    assert!(plan.requests.len() > 1, "{}", plan.requests.len());
    let all = bodies(&plan.requests);
    for (one, open) in all.iter().zip(&plan.requests) {
        assert!(one.len() / 4 < 20_000, "{}", one.len());
        assert!(open.first <= open.last);
        assert!(one.contains("\"tools\""), "the same tools");
    }
    let pairs = plan.requests.iter().zip(plan.requests.iter().skip(1));
    for (one, next) in pairs {
        assert!(one.last < next.first);
    }
    // In any order, each once; the last one commits.
    let desk = desk.reopened();
    let last = plan.requests.len() - 1;
    for chunk in (1..=last).rev() {
        let text = format!("<summary>part {chunk}</summary>");
        let answer = desk.hands_in(&plan.compaction, u32::try_from(chunk).unwrap(), &text);
        assert_eq!(
            (answer.outcome.as_str(), answer.requests.len()),
            ("next", chunk)
        );
    }
    let done = desk.hands_in(&plan.compaction, 0, "<summary>part 0</summary>");
    assert_eq!(done.outcome, "committed", "{done:?}");
    let body = desk.body();
    let places: Vec<usize> = (0..=last)
        .map(|chunk| body.find(&format!("part {chunk}")).unwrap())
        .collect();
    assert!(places.is_sorted(), "in the order of the talk");
}

#[test]
fn a7_from_an_event_on_the_prefix_stays_and_up_to_one_the_tail_stays() {
    let desk = Desk::plain();
    desk.talks(6, 40);
    let asked: Vec<u64> = desk
        .logged("message")
        .iter()
        .filter(|event| event["role"] == "user")
        .map(|event| event["seq"].as_u64().unwrap())
        .collect();
    let cut = asked[3];
    let before = digest(&desk.session);
    let plan = desk
        .session
        .compact(api::Compact {
            from: Some(cut),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(plan.requests[0].first, cut);
    assert_eq!(
        desk.hands_in(&plan.compaction, 0, SUMMARY).outcome,
        "committed"
    );
    let body = desk.body();
    assert!(
        body.contains("question 2") && !body.contains("question 3"),
        "{body}"
    );
    let commit = desk.logged("compact_commit")[0]["seq"].as_u64().unwrap();
    desk.session.undo(commit).unwrap();
    assert_eq!(digest(&desk.session), before);
    let plan = desk
        .session
        .compact(api::Compact {
            up_to: Some(cut),
            ..Default::default()
        })
        .unwrap();
    assert!(plan.requests[0].last < cut);
    assert_eq!(
        desk.hands_in(&plan.compaction, 0, SUMMARY).outcome,
        "committed"
    );
    let body = desk.body();
    assert!(
        !body.contains("question 2") && body.contains("question 3"),
        "{body}"
    );
}

#[test]
fn a11_undo_and_rollback_bring_back_what_was_summed_up() {
    let desk = Desk::plain();
    desk.talks(4, 40);
    let before = digest(&desk.session);
    let head = desk.head();
    let plan = desk.plans();
    desk.hands_in(&plan.compaction, 0, SUMMARY);
    let after = digest(&desk.session);
    assert_ne!(after, before);
    let commit = desk.logged("compact_commit")[0]["seq"].as_u64().unwrap();
    let undone = desk.session.undo(commit).unwrap();
    assert_eq!(digest(&desk.session), before);
    let desk = desk.reopened();
    assert_eq!(digest(&desk.session), before);
    desk.session.undo(undone.event).unwrap();
    assert_eq!(digest(&desk.session), after);
    desk.session.rollback(api::To::Seq(head)).unwrap();
    assert_eq!(digest(&desk.session), before);
}

#[test]
fn a10_without_a_model_there_is_always_a_plan() {
    let desk = Desk::plain();
    desk.talks(5, 60);
    let before = digest(&desk.session);
    let done = desk
        .session
        .compact(api::Compact {
            model_free: true,
            ..Default::default()
        })
        .unwrap();
    assert_eq!(
        (done.outcome.as_str(), done.requests.len()),
        ("committed", 0)
    );
    assert!(done.after.unwrap() < done.before);
    let commit = desk.logged("compact_commit");
    assert_eq!(commit[0]["boundary"]["by"], "rule");
    assert_eq!(commit[0]["boundary"]["trigger"], "manual");
    assert!(desk.body().contains("and now?"));
    let desk = desk.reopened();
    desk.session
        .undo(commit[0]["seq"].as_u64().unwrap())
        .unwrap();
    assert_eq!(digest(&desk.session), before);
}

#[test]
fn a3_what_the_policy_adds_to_a_request_is_in_a_compactions_too() {
    let policy = r#"{"type":"policy","preset":"claude-code","params":{"micro":{"cached":"context_management"}}}"#;
    let desk = Desk::new(super::desk::THINKER, policy);
    desk.talks(4, 40);
    let header = |request: &api::Request| {
        let headers: serde_json::Value = serde_json::from_str(request.headers.get()).unwrap();
        headers["anthropic-beta"].clone()
    };
    let unsent = desk.plans();
    let unsent = &unsent.requests[0].request;
    assert!(parsed(unsent)["context_management"].is_object());
    let sent = desk.prepares();
    let sent = sent.prompt.request.as_ref().unwrap();
    assert_eq!(header(unsent), header(sent));
    let again = desk.session.compact(api::Compact {
        custom_instruction: Some("once more".into()),
        ..Default::default()
    });
    let asked = &again.unwrap().requests[0].request;
    assert_eq!(
        parsed(asked)["context_management"],
        parsed(sent)["context_management"]
    );
    assert_eq!(text(asked).matches("\"context_management\"").count(), 1);
    assert_eq!(header(asked), header(sent));
}
