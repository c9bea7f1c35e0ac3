//! What only the host can do, until it is answered: across restarts, and no longer.

use super::desk::{Desk, SUMMARY, THINKER, text};
use recount::{ErrorKind, api};
use serde_json::json;

#[test]
fn a_summary_is_an_action_until_it_is_there() {
    let desk = Desk::plain();
    desk.talks(3, 40);
    assert!(desk.session.actions().unwrap().is_empty());
    let plan = desk.plans();
    let desk = desk.reopened();
    let actions = desk.session.actions().unwrap();
    let seq = desk.logged("compact_plan")[0]["seq"].as_u64().unwrap();
    assert_eq!(actions.len(), 1);
    let action = &actions[0];
    assert_eq!(
        (action.id.clone(), action.kind.as_str(), action.chunk),
        (format!("summarise-{seq}-0"), "summarise", Some(0))
    );
    assert_eq!(action.compaction.as_ref(), Some(&plan.compaction));
    assert_eq!(
        text(action.request.as_ref().unwrap()),
        text(&plan.requests[0].request)
    );
    assert_eq!(action.first, Some(plan.requests[0].first));
    desk.hands_in(&plan.compaction, 0, SUMMARY);
    assert!(desk.session.actions().unwrap().is_empty());
}

#[test]
fn prepare_tells_the_same_actions() {
    let desk = Desk::plain();
    desk.talks(3, 40);
    desk.plans();
    let ids = |actions: &[api::Action]| -> Vec<String> {
        actions.iter().map(|action| action.id.clone()).collect()
    };
    let prepared = desk.prepares();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    assert_eq!(
        ids(&prepared.actions),
        ids(&desk.session.actions().unwrap())
    );
}

#[test]
fn a_compaction_can_be_given_up() {
    let desk = Desk::plain();
    desk.talks(3, 40);
    let plan = desk.plans().compaction;
    let noted = desk.session.abandon(&plan, "changed my mind").unwrap();
    assert_eq!(noted.head, desk.head());
    assert!(desk.session.actions().unwrap().is_empty());
    assert_eq!(
        desk.logged("compact_abandon")[0]["reason"],
        "changed my mind"
    );
    assert!(
        desk.logged("breaker").is_empty(),
        "the host's own word is no failure"
    );
    let again = desk.session.abandon(&plan, "again").unwrap_err();
    assert_eq!(
        (again.kind(), desk.head()),
        (ErrorKind::Rejected, noted.head)
    );
    let void = desk.hands_in(&plan, 0, SUMMARY);
    assert!(void.why.unwrap().contains("changed my mind"));
    // With a key, once.
    let plan = desk.plans().compaction;
    let ask = || api::Abandon {
        compaction: plan.clone(),
        reason: "r".into(),
        key: Some("k".into()),
        ..Default::default()
    };
    let first = desk.session.abandon_with(ask()).unwrap();
    assert_eq!(desk.session.abandon_with(ask()).unwrap(), first);
}

#[test]
fn a_summary_is_not_done_by_saying_so_but_its_failure_is() {
    let desk = Desk::plain();
    desk.talks(3, 40);
    desk.plans();
    let id = desk.session.actions().unwrap()[0].id.clone();
    let done = |error: Option<&str>| {
        desk.session.done(api::Done {
            action: id.clone(),
            error: error.map(str::to_owned),
            ..Default::default()
        })
    };
    let head = desk.head();
    let refused = done(None).unwrap_err();
    assert_eq!(
        (refused.kind(), refused.field(), desk.head()),
        (ErrorKind::Invalid, Some("action"), head)
    );
    done(Some("no model today")).unwrap();
    assert_eq!(
        desk.session.actions().unwrap().len(),
        1,
        "it is tried once more"
    );
    done(Some("still none")).unwrap();
    let kinds: Vec<String> = desk
        .session
        .actions()
        .unwrap()
        .into_iter()
        .map(|action| action.kind)
        .collect();
    assert!(!kinds.contains(&"summarise".to_owned()), "{kinds:?}");
    assert_eq!(desk.logged("compact_abandon").len(), 1);
}

#[test]
fn a_picture_that_is_too_large_is_to_be_made_smaller() {
    let profile = THINKER.replace(
        "\"params\"",
        "\"images\":{\"count\":100,\"bytes\":0,\"pixels\":100},\"params\"",
    );
    let desk = Desk::new(&profile, super::desk::NONE);
    let picture = |width: u32| {
        let data = png(width, 10);
        json!({"type": "message", "role": "user", "content": [
            {"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}]})
        .to_string()
    };
    desk.session.append(&[&picture(100)]).unwrap();
    assert!(
        desk.session.actions().unwrap().is_empty(),
        "as large as may be"
    );
    desk.answers("nice");
    desk.session.append(&[&picture(101)]).unwrap();
    let seq = desk.head();
    let desk = desk.reopened();
    let actions = desk.session.actions().unwrap();
    assert_eq!(actions.len(), 1, "{actions:?}");
    assert_eq!(
        (actions[0].id.clone(), actions[0].block, actions[0].pixels),
        (format!("resize-{seq}-1"), Some((seq, 1)), Some(100))
    );
    desk.session
        .done(api::Done {
            action: actions[0].id.clone(),
            ..Default::default()
        })
        .unwrap();
    let desk = desk.reopened();
    assert!(desk.session.actions().unwrap().is_empty(), "not told twice");
    let head = desk.head();
    desk.session
        .done(api::Done {
            action: actions[0].id.clone(),
            ..Default::default()
        })
        .unwrap();
    assert_eq!(desk.head(), head, "said already");
}

/// Wherever it stands: alone, beside words, in a result, in a result inside of a message, in an injection.
#[test]
fn a_picture_that_is_too_large_is_named_wherever_it_stands() {
    let profile = THINKER.replace(
        "\"params\"",
        "\"images\":{\"count\":100,\"bytes\":0,\"pixels\":100},\"params\"",
    );
    let picture = |width: u32| json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png(width, 10)}});
    let words = |text: &str| json!({"type": "text", "text": text});
    let call = json!({"type": "message", "role": "assistant", "response": "r", "stop": "tool_use", "content": [
        {"type": "tool_use", "id": "t", "name": "read", "input": {}}]});
    let result = |content: &serde_json::Value| json!({"type": "tool_result", "call": "t", "content": content});
    let inside = |content: &serde_json::Value| {
        let block = json!({"type": "tool_result", "tool_use_id": "t", "content": content});
        json!({"type": "message", "role": "user", "content": [block]})
    };
    let said = |content: &serde_json::Value| json!({"type": "message", "role": "user", "content": content});
    let injected =
        |content: &serde_json::Value| json!({"type": "inject", "slot": "s", "content": content});
    let mut named = 0;
    for width in [100, 101] {
        for content in [
            json!([picture(width)]),
            json!([words("a"), picture(width)]),
            json!([picture(10), words("a"), picture(width), words("b")]),
        ] {
            for event in [
                result(&content),
                inside(&content),
                said(&content),
                injected(&content),
            ] {
                let desk = Desk::new(&profile, super::desk::NONE);
                desk.says("look");
                if event["type"] == "tool_result" || event["content"][0]["type"] == "tool_result" {
                    desk.session.append(&[&call.to_string()]).unwrap();
                }
                desk.session.append(&[&event.to_string()]).unwrap();
                let seq = desk.head();
                let actions = desk.reopened().session.actions().unwrap();
                let resize: Vec<_> = actions.iter().filter(|one| one.kind == "resize").collect();
                assert_eq!(
                    resize.len(),
                    usize::from(width > 100),
                    "{event} {actions:?}"
                );
                for one in resize {
                    named += 1;
                    assert_eq!(one.block.map(|(at, _)| at), Some(seq), "{event}");
                }
            }
        }
    }
    assert_eq!(named, 12);
}

#[test]
fn a9_what_stops_a_session_is_told_until_somebody_was_told() {
    let desk = Desk::plain();
    desk.talks(3, 40);
    for _ in 0..3 {
        let plan = desk.plans().compaction;
        while desk.fails(&plan, 0, "no luck").outcome == "retry" {}
    }
    let desk = desk.reopened();
    let told: Vec<api::Action> = desk
        .session
        .actions()
        .unwrap()
        .into_iter()
        .filter(|action| action.kind == "tell")
        .collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].text.as_ref().unwrap().contains('3'), "{told:?}");
    let trip = desk
        .logged("breaker")
        .into_iter()
        .find(|event| event["state"] == "trips")
        .unwrap();
    assert_eq!(told[0].id, format!("tell-{}", trip["seq"]));
    desk.session
        .done(api::Done {
            action: told[0].id.clone(),
            ..Default::default()
        })
        .unwrap();
    let desk = desk.reopened();
    assert!(desk.session.actions().unwrap().is_empty());
}

#[test]
fn an_action_that_is_not_there_is_told() {
    let desk = Desk::plain();
    desk.says("hello");
    let head = desk.head();
    let error = desk
        .session
        .done(api::Done {
            action: "tell-7".into(),
            ..Default::default()
        })
        .unwrap_err();
    assert_eq!((error.kind(), desk.head()), (ErrorKind::NotFound, head));
}

/// A PNG's header of a size, as base64: enough for who reads sizes.
fn png(width: u32, height: u32) -> String {
    use base64::Engine as _;
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
