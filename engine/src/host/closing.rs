//! What closing answers while somebody is in the middle of a request.

use super::{Engine, Options};
use crate::ErrorKind;
use recount_wal::disk::{Fault, Operation, SimulatedDisk};
use std::io;
use std::sync::Arc;

const ANSWER: &str = r#"{"type":"message","role":"assistant","content":"hm"}"#;

fn engine(disk: &SimulatedDisk) -> Engine {
    let options = Options {
        disk: Some(Arc::new(disk.clone())),
        ..Options::default()
    };
    Engine::open("/nowhere", options).unwrap()
}

#[test]
fn what_is_not_durable_is_told_although_a_request_is_under_way() {
    let disk = SimulatedDisk::new();
    let engine = engine(&disk);
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    disk.fail(Fault {
        operation: Operation::Write,
        after: 0,
        times: u64::MAX,
        kind: io::ErrorKind::StorageFull,
        short: 0,
    });
    let receipt = session.append(&[ANSWER]).unwrap();
    assert!(receipt.durable < Some(receipt.head));
    let request = engine.inner.log().unwrap();
    let error = engine.close().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotDurable, "{error}");
    drop(request);
}

#[test]
fn closing_says_that_the_lock_is_still_held() {
    let disk = SimulatedDisk::new();
    let engine = engine(&disk);
    let session = engine.create("s", Some("gpt-5".into())).unwrap();
    let receipt = session.append(&[ANSWER]).unwrap();
    let request = engine.inner.log().unwrap();
    let error = engine.close().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy, "{error}");
    drop(request);
    // Everything that was accepted is there.
    let again = self::engine(&disk.crashed(recount_wal::disk::Survival::Lost));
    let status = again.session("s").unwrap().status().unwrap();
    assert_eq!(status.head, receipt.head);
}
