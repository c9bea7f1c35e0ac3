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
