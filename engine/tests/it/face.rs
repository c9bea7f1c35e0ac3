//! The async face, and many callers at once.

use crate::common::{Fixture, digest, says};
use recount::{AsyncEngine, Options, api};

#[test]
fn two_tasks_on_one_session_queue_up_and_others_go_on() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let fixture = Fixture::new();
    runtime.block_on(async {
        let engine = AsyncEngine::open(fixture.path(), Options::default())
            .await
            .unwrap();
        let one = engine.create("one", Some("gpt-5".into())).await.unwrap();
        let two = engine.create("two", Some("gpt-5".into())).await.unwrap();
        let mut tasks = Vec::new();
        for turn in 0..20 {
            for session in [one.clone(), two.clone()] {
                tasks.push(tokio::spawn(async move {
                    session.append(&[&says(&turn.to_string())]).await
                }));
            }
        }
        let mut heads: Vec<u64> = Vec::new();
        for task in tasks {
            heads.push(task.await.unwrap().unwrap().head);
        }
        heads.sort_unstable();
        assert_eq!(
            heads,
            (2..22).flat_map(|head| [head, head]).collect::<Vec<u64>>()
        );
        let prepared = one.prepare(5).await.unwrap();
        assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
        engine.close().await.unwrap();
    });
}

#[test]
fn a_dropped_future_takes_nothing_back() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let fixture = Fixture::new();
    runtime.block_on(async {
        let engine = AsyncEngine::open(fixture.path(), Options::default())
            .await
            .unwrap();
        let session = engine.create("s", None).await.unwrap();
        let task = tokio::spawn({
            let session = session.clone();
            async move { session.append(&[&says("kept")]).await }
        });
        tokio::task::yield_now().await;
        task.abort();
        let _ = task.await;
        session.append(&[&says("after")]).await.unwrap();
        let head = session.status().await.unwrap().head;
        let log = session.log(0, 100).await.unwrap();
        assert_eq!(log.events.len() as u64, head + 1);
    });
}

#[test]
fn a_closed_directory_says_so() {
    let fixture = Fixture::new();
    let session = fixture.chat();
    digest(&session);
    session.engine().close().unwrap();
    assert_eq!(
        session.append(&[&says("x")]).unwrap_err().kind(),
        recount::ErrorKind::Cancelled
    );
    let again = fixture.engine();
    let error = recount::Engine::open(fixture.path(), Options::default()).unwrap_err();
    assert_eq!(error.kind(), recount::ErrorKind::Locked);
    assert!(error.holder().is_some());
    drop(again);
}

#[test]
fn many_sessions_are_listed_newest_first_and_stay_at_hand() {
    let fixture = Fixture::new();
    let engine = fixture.engine();
    for number in 0..600 {
        let session = engine.create(&format!("many/{number}"), None).unwrap();
        let event =
            serde_json::value::RawValue::from_string(says(&format!("topic {number}"))).unwrap();
        let ask = api::Append {
            events: vec![event],
            durability: Some(api::Durability::Ordered),
            ..Default::default()
        };
        session.append_with(ask).unwrap();
    }
    let listed = engine
        .list(&api::List {
            prefix: Some("many/".into()),
            limit: Some(3),
        })
        .unwrap();
    let names: Vec<&str> = listed
        .sessions
        .iter()
        .map(|line| line.session.as_str())
        .collect();
    assert_eq!(names, ["many/599", "many/598", "many/597"]);
    assert_eq!(listed.sessions[0].title.as_deref(), Some("topic 599"));
    for number in [0, 1, 300, 599] {
        let session = engine.session(&format!("many/{number}")).unwrap();
        assert_eq!(session.status().unwrap().turns, 1);
        session.append(&[&says("again")]).unwrap();
    }
    assert_eq!(
        engine.list(&api::List::default()).unwrap().sessions.len(),
        600
    );
}
