//! The tiers through the engine: what they decide is in the log, and the prompt is the same wherever it is made again.

use crate::common::{Fixture, body, digest, says};
use recount::{Session, api};

/// A session under a policy, with a call and a result of this many characters.
fn session(fixture: &Fixture, policy: &str, kind: Option<&str>, result: usize) -> Session {
    let engine = fixture.engine();
    let open = api::Open {
        session: "s".to_owned(),
        create: true,
        profile: Some("claude-opus-4-5".into()),
        policy: Some(serde_json::from_str(policy).unwrap()),
        kind: kind.map(str::to_owned),
        ..api::Open::default()
    };
    engine.open_session(&open).unwrap();
    let session = engine.session("s").unwrap();
    let text = "line of a log\\n".repeat(result / 14 + 1);
    let text = text.get(..result / 15 * 15).unwrap();
    session
        .append(&[
            says("look").as_str(),
            r#"{"type":"message","role":"assistant","response":"m1","stop":"tool_use","content":[{"type":"tool_use","id":"t1","name":"Grep","input":{"pattern":"x"}}]}"#,
            &format!(r#"{{"type":"tool_result","call":"t1","content":"{text}"}}"#),
        ])
        .unwrap();
    session
}

fn prepared(session: &Session) -> api::Prepared {
    session.prepare(api::Prepare::default()).unwrap()
}

fn spilled(fixture: &Fixture) -> Vec<std::path::PathBuf> {
    let folders = std::fs::read_dir(fixture.path().join("spills"));
    let folders = folders.into_iter().flatten().flatten();
    folders
        .flat_map(|folder| std::fs::read_dir(folder.path()).unwrap())
        .map(|file| file.unwrap().path())
        .collect()
}

#[test]
fn b1_b5_b6_a_spilled_result_is_a_file_and_the_same_words_for_ever() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#""claude-code""#, None, 90_000);
    let whole = body(&session);
    let first = prepared(&session);
    assert_eq!(first.prompt.outcome, api::Outcome::Ready);
    let tiers: Vec<&str> = first.tiers.iter().map(|tier| tier.tier.as_str()).collect();
    assert_eq!(tiers, ["budget"], "{:?}", first.tiers);
    assert!(first.tiers[0].freed > 10_000, "{:?}", first.tiers);
    let sent = body(&session);
    assert!(sent.contains("<persisted-output>") && sent.len() < 6_000);

    let files = spilled(&fixture);
    assert_eq!(files.len(), 1);
    assert!(sent.contains(files[0].to_str().unwrap()));
    let written = std::fs::read_to_string(&files[0]).unwrap();
    assert!(written.starts_with("line of a log\nline of a log\n") && written.len() > 80_000);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&files[0]) & 0o777, 0o600);
        assert_eq!(mode(files[0].parent().unwrap()) & 0o777, 0o700);
    }

    // Nothing is judged twice.
    let again = prepared(&session);
    assert!(again.tiers.is_empty(), "{:?}", again.tiers);
    assert_eq!(again.prompt.digest, first.prompt.digest);

    // Elsewhere and later: the same bytes; a file that is gone is written again.
    session.engine().close().unwrap();
    drop(session);
    std::fs::remove_file(&files[0]).unwrap();
    let session = fixture.engine().session("s").unwrap();
    assert_eq!(body(&session), sent);
    assert_eq!(std::fs::read_to_string(&files[0]).unwrap(), written);

    // A fork shows the same.
    let twin = session.fork("twin", api::At::Head).unwrap();
    assert_eq!(body(&twin), sent);
    assert!(prepared(&twin).tiers.is_empty());

    // The way back, for good: it is not judged again.
    let replace = first.tiers[0].events[0];
    session.undo(replace).unwrap();
    assert_eq!(body(&session), whole);
    let after = prepared(&session);
    assert!(
        after.tiers.iter().all(|tier| tier.freed == 0),
        "{:?}",
        after.tiers
    );
    assert_eq!(body(&session), whole);
}

/// Whatever stands where spilled results should go: the prompt goes out, with the results cut.
#[test]
fn b1_a_spill_root_that_takes_no_file_stops_nobody() {
    let fixture = Fixture::new();
    let file = fixture.path().join("a file");
    std::fs::write(&file, "x").unwrap();
    for root in [file.to_str().unwrap(), "/proc/nope"] {
        let fixture = Fixture::new();
        let open = api::Open {
            session: "s".to_owned(),
            create: true,
            profile: Some("claude-opus-4-5".into()),
            policy: Some("claude-code".into()),
            spill_root: Some(root.to_owned()),
            ..api::Open::default()
        };
        fixture.engine().open_session(&open).unwrap();
        let session = session(&fixture, r#""claude-code""#, None, 90_000);
        let first = prepared(&session);
        assert_eq!(first.prompt.outcome, api::Outcome::Ready, "{root}");
        assert!(first.tiers[0].did.contains(root), "{:?}", first.tiers);
        let sent = body(&session);
        assert!(sent.contains("characters are left out here") && sent.len() < 60_000);
        assert!(prepared(&session).tiers.is_empty());
        // So does the answer to a refusal for bytes.
        let refused = session.engine().overflowed(&api::Overflowed {
            session: "s".to_owned(),
            error: Some(
                serde_json::from_str(r#"{"status":413,"body":"request_too_large"}"#).unwrap(),
            ),
            ..api::Overflowed::default()
        });
        assert!(refused.is_ok(), "{refused:?}");
    }
}

#[test]
fn b1_a_spill_root_is_a_whole_path_and_never_another_one() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    let open = |name: &str, root: Option<&str>| api::Open {
        session: name.to_owned(),
        create: true,
        spill_root: root.map(str::to_owned),
        ..api::Open::default()
    };
    for root in ["", "  ", "a\0b"] {
        let refused = engine.open_session(&open("bad", Some(root))).unwrap_err();
        assert_eq!(refused.kind(), recount::ErrorKind::Invalid, "{root:?}");
    }
    assert!(engine.session("bad").is_err());
    engine.open_session(&open("near", Some("results"))).unwrap();
    let line = engine.session("near").unwrap().log(0, 1).unwrap().events[0]
        .get()
        .to_owned();
    let whole = std::path::absolute("results").unwrap();
    assert!(line.contains(whole.to_str().unwrap()), "{line}");
    // The same again is the same; another one is refused, and nothing is logged.
    engine.open_session(&open("near", Some("results"))).unwrap();
    engine.open_session(&open("near", None)).unwrap();
    let refused = engine
        .open_session(&open("near", Some("elsewhere")))
        .unwrap_err();
    assert_eq!(refused.kind(), recount::ErrorKind::Invalid);
    assert_eq!(engine.session("near").unwrap().status().unwrap().head, 0);
}

#[test]
fn what_a_log_says_of_files_elsewhere_is_not_written() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#""claude-code""#, None, 1_000);
    let elsewhere = fixture.path().join("elsewhere");
    let words = format!(
        r#"{{"type":"replace","block":[5,0],"with":"<persisted-output> {}/5-0.txt"}}"#,
        elsewhere.display()
    );
    session.append(&[words.as_str()]).unwrap();
    session.engine().close().unwrap();
    drop(session);
    let session = fixture.engine().session("s").unwrap();
    assert!(body(&session).contains("<persisted-output>"));
    assert!(!elsewhere.exists());
    assert!(spilled(&fixture).is_empty());
}

#[test]
fn t2_over_the_blocking_line_nothing_is_sent_while_nothing_may_be_compacted() {
    // The window is 200,000 and the largest answer 64,000: effective 180,000, blocking 177,000. 1.6 tokens for a counted one.
    for (buffer, blocks) in [(3_000, false), (170_000, true)] {
        let fixture = Fixture::new();
        let policy = format!(
            r#"{{"preset":"claude-code","auto":false,"params":{{"compact":{{"blocking_buffer":{buffer},"buffer":{buffer}}},"budget":{{"result_limit":0}}}}}}"#
        );
        let session = session(&fixture, &policy, None, 195_000);
        let head = session.status().unwrap().head;
        let prepared = prepared(&session);
        let outcome = prepared.prompt.outcome;
        assert_eq!(outcome == api::Outcome::Blocked, blocks, "{outcome:?}");
        if blocks {
            let blocked = prepared.prompt.blocked.unwrap();
            assert_eq!(blocked.limit, 90_000);
            assert!(prepared.prompt.request.is_none());
            assert!(prepared.issued.is_none());
            assert_eq!(prepared.tiers.last().unwrap().tier, "block");
            let issued = session.log(head + 1, 100).unwrap();
            assert!(
                issued
                    .events
                    .iter()
                    .all(|event| !event.get().contains("\"issued\""))
            );
        } else {
            assert!(prepared.prompt.request.is_some());
        }
    }
}

#[test]
fn without_a_policy_no_tier_proposes() {
    let fixture = Fixture::new();
    let session = session(&fixture, r#""none""#, None, 90_000);
    let before = digest(&session);
    let prepared = prepared(&session);
    assert!(prepared.tiers.is_empty());
    assert_eq!(prepared.prompt.digest, before);
    assert!(spilled(&fixture).is_empty());
}
