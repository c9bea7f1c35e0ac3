//! Rows of the pipeline that are about what the log and the prompt are, whatever the policy.

use crate::common::{CALL, CHAT, Fixture, answers, body, digest, says};
use recount::api;
use recount_events::{Durability, Event, Millis};

#[test]
fn p1_system_prompt_and_tools_are_events_in_canonical_order() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let tool = |name: &str| {
        format!(r#"{{"name":"{name}","description":"d","input_schema":{{"type":"object"}}}}"#)
    };
    let tools = |names: [&str; 2]| {
        format!(
            r#"{{"type":"tools","tools":[{},{}]}}"#,
            tool(names[0]),
            tool(names[1])
        )
    };
    let before = body(&session);
    session.append(&[tools(["zip", "awk"]).as_str()]).unwrap();
    let ordered = body(&session);
    assert!(ordered.find("\"awk\"").unwrap() < ordered.find("\"zip\"").unwrap());
    session.append(&[tools(["awk", "zip"]).as_str()]).unwrap();
    assert_eq!(body(&session), ordered, "an equal set changes nothing");

    let system = session
        .append(&[r#"{"type":"system","content":"Be long."}"#])
        .unwrap();
    assert!(body(&session).contains("Be long.") && !body(&session).contains("Be brief."));
    let other = body(&session);
    session.engine().close().unwrap();
    let session = fixture.engine().session("s").unwrap();
    assert_eq!(body(&session), other);
    // The way back.
    session.undo(system.head).unwrap();
    assert_eq!(body(&session), ordered);
    let turns = session.log(0, 100).unwrap().events.len();
    session.rollback(api::To::Seq(6)).unwrap();
    assert_eq!(body(&session), before, "of {turns} events");
}

#[test]
fn p7_after_a_boundary_stand_summary_and_tail_also_at_the_next_open() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    let long = "many words of an early turn ".repeat(50);
    session
        .append(&[
            answers(&long).as_str(),
            &says("and b.txt?"),
            &answers("no such file"),
            &says("thanks"),
        ])
        .unwrap();
    let whole = body(&session);
    let head = session.status().unwrap().head;
    let kept = head - 2;
    let commit = session
        .append(&[format!(
            r#"{{"type":"compact_commit","id":"c","keep_from":{kept},"summary":"a.txt holds forty-two"}}"#
        )
        .as_str()])
        .unwrap();
    let after = body(&session);
    let place = |what: &str| after.find(what);
    assert!(place("a.txt holds forty-two").unwrap() < place("and b.txt?").unwrap());
    assert!(place("and b.txt?").unwrap() < place("no such file").unwrap());
    assert!(place("many words").is_none() && place("what is in a.txt?").is_none());
    let digest_after = digest(&session);
    session.engine().close().unwrap();
    drop(session);

    // The most recent session, or one by its name.
    let engine = fixture.engine();
    engine
        .create("older words", Some("claude-opus-4-5".into()))
        .unwrap();
    let session = engine.session("s").unwrap();
    session
        .append(&[answers("you are welcome").as_str(), &says("bye")])
        .unwrap();
    let listed = engine.list(&api::List::default()).unwrap();
    assert_eq!(listed.sessions[0].session, "s");
    session.rollback(api::To::Turns(1)).unwrap();
    session.rollback(api::To::Seq(commit.head)).unwrap();
    assert_eq!(digest(&session), digest_after);
    session.undo(commit.head).unwrap();
    assert_eq!(body(&session), whole);
}

/// The classes of acknowledgement: what a receipt promises where the host does not say.
#[test]
fn p9_each_kind_has_its_class_of_acknowledgement() {
    let synced = [
        says("hello"),
        CALL.to_owned(),
        r#"{"type":"tool_result","call":"t","content":"x"}"#.to_owned(),
        r#"{"type":"compact_commit","first":1,"last":2,"summary":"s"}"#.to_owned(),
        r#"{"type":"collapse_commit","id":"k","first":1,"last":2,"summary":"s"}"#.to_owned(),
        r#"{"type":"replace","block":[1,0],"with":"x"}"#.to_owned(),
        r#"{"type":"delete_range","first":1,"last":2}"#.to_owned(),
        r#"{"type":"checkpoint","label":"x"}"#.to_owned(),
        r#"{"type":"rollback","to":{"seq":1}}"#.to_owned(),
        r#"{"type":"undo","event":1}"#.to_owned(),
    ];
    let ordered = [
        answers("just words"),
        r#"{"type":"tool_result","call":"t","status":"interim","content":"x"}"#.to_owned(),
        r#"{"type":"usage","request":"r","input":1,"output":1}"#.to_owned(),
    ];
    let class = |json: &String| {
        let event = Event::from_json(json, Millis(0)).unwrap();
        event.body.durability()
    };
    for json in &synced {
        assert_eq!(class(json), Durability::Synced, "{json}");
    }
    for json in &ordered {
        assert_eq!(class(json), Durability::Ordered, "{json}");
    }
    // A batch takes the strongest, and its receipt is on disk.
    let fixture = Fixture::new();
    let session = fixture
        .engine()
        .create("s", Some("claude-opus-4-5".into()))
        .unwrap();
    session.append(CHAT).unwrap();
    let mixed = session
        .append(&[answers("words").as_str(), &says("more")])
        .unwrap();
    assert_eq!(mixed.durable, Some(mixed.head));
    // A draft is in memory only.
    let draft =
        r#"{"type":"draft","response":"m9","index":0,"block":{"type":"text","text":"par"}}"#;
    let told = session.append(&[draft]).unwrap();
    assert_eq!((told.first, told.head), (mixed.head + 1, mixed.head));
}
