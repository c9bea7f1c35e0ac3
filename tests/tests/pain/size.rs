//! Section 10: sizes, pictures, what a long log costs.

use crate::desk::Desk;
use crate::live::{Live, said};
use base64::Engine as _;
use recount::disk::{Access, Disk, RealDisk, SegmentFile};
use recount::{Chance, Engine, Options, api};
use recount_tests::recordings::Dice;
use serde_json::{Value, json};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A PNG of a size, with so many bytes behind its header: enough for who reads sizes.
fn picture(width: u32, height: u32, more: usize) -> Value {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 2, 0, 0, 0, 0, 0, 0, 0]);
    bytes.resize(bytes.len() + more, 7);
    let data = base64::engine::general_purpose::STANDARD.encode(bytes);
    json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}})
}

fn shows(live: &Live, picture: &Value) -> Value {
    let mut content = vec![json!({"type": "text", "text": "look"})];
    content.push(picture.clone());
    let seq = live
        .desk
        .log(&json!({"type": "message", "role": "user", "content": content}));
    json!([seq, 1])
}

#[test]
fn pain_83_one_picture_that_is_too_large_poisons_nothing() {
    let sizes = [picture(100, 100, 6 << 20), picture(9_000, 10, 0)];
    for large in sizes {
        let mut live = Live::new("claude-code", 200_000, &json!({}));
        let block = shows(&live, &large);
        let prepared = live.prepare();
        let asked: Vec<_> = prepared
            .actions
            .iter()
            .filter(|one| one.kind == "resize")
            .collect();
        assert_eq!(asked.len(), 1);
        assert_eq!(json!(asked[0].block), block);
        let body = recount_tests::host::body(&prepared.prompt).unwrap();
        assert!(body.contains("[image left out") && body.len() < 10_000);
        // The host need not do anything: every later request is taken.
        for turn in 0..3 {
            live.turn(&format!("turn {turn}"), "yes").tokens();
            live.desk.reopen();
        }
        // The original is in the log; a smaller one takes its place.
        let kept = &live.logged("message")[0];
        assert_eq!(
            kept["content"][1]["source"]["data"],
            large["source"]["data"]
        );
        live.desk
            .log(&json!({"type": "replace", "block": block, "with": [picture(90, 90, 0)]}));
        live.desk.says("look again");
        let prepared = live.prepare();
        assert!(prepared.actions.iter().all(|one| one.kind != "resize"));
        assert!(
            recount_tests::host::body(&prepared.prompt)
                .unwrap()
                .contains("image/png")
        );
        live.reply(&json!([{"type": "text", "text": "I see"}]))
            .tokens();
    }
}

#[test]
fn pain_83_many_large_pictures_are_within_the_limits_of_many() {
    let mut live = Live::new("claude-code", 200_000, &json!({}));
    let mut shown = Vec::new();
    for number in 0..24 {
        shows(&live, &picture(2_200, 100, number));
        live.reply(&json!([{"type": "text", "text": "I see"}]))
            .tokens();
        let body = recount_tests::host::body(&live.desk.project(api::At::Head));
        shown.push(body.map_or(0, |body| body.matches("image/png").count()));
    }
    live.desk.says("how many?");
    let body = recount_tests::host::body(&live.prepare().prompt).unwrap();
    assert_eq!(
        body.matches("image/png").count(),
        20,
        "with one more, 2,000 pixels are the limit"
    );
    assert_eq!(
        live.logged("message")
            .iter()
            .filter(|one| one["content"][1]["type"] == "image")
            .count(),
        24
    );
    // More than the provider takes at all.
    let few = json!({"images": {"count": 5, "bytes": 5_242_880, "pixels": 8_000}});
    let policy = json!({"type": "policy", "preset": "claude-code"});
    let mut live = Live::under("claude-code", 200_000, &policy, &few);
    for number in 0..12 {
        shows(&live, &picture(300, 100, number));
        live.reply(&json!([{"type": "text", "text": "I see"}]))
            .tokens();
    }
    assert!(live.count("replace") > 0, "the oldest made room");
    live.desk.says("the last one?");
    let body = recount_tests::host::body(&live.prepare().prompt).unwrap();
    let newest = picture(300, 100, 11)["source"]["data"].to_string();
    assert!(body.contains(&newest), "the newest is seen");
}

#[test]
fn pain_83_attachments_that_fill_the_body_leave_it_before_it_is_refused() {
    let policy = json!({"type": "policy", "preset": "claude-code"});
    let narrow = json!({"body_bytes": 1_000_000});
    let mut live = Live::under("claude-code", 200_000, &policy, &narrow);
    for number in 0..12 {
        shows(&live, &picture(300, 100, 150_000 + number));
        live.reply(&json!([{"type": "text", "text": "I see"}]))
            .tokens();
    }
    assert_eq!(live.refused, 0);
    assert!(live.count("replace") > 0);
}

/// A disk that counts what is read.
#[derive(Debug)]
struct Counting {
    inner: RealDisk,
    read: Arc<AtomicU64>,
}

#[derive(Debug)]
struct CountingFile {
    inner: Arc<dyn SegmentFile>,
    read: Arc<AtomicU64>,
}

impl Counting {
    fn file(&self, inner: Arc<dyn SegmentFile>) -> Arc<dyn SegmentFile> {
        let read = Arc::clone(&self.read);
        Arc::new(CountingFile { inner, read })
    }
}

impl Disk for Counting {
    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        self.inner.list(folder)
    }
    fn create_dir(&self, folder: &str) -> io::Result<()> {
        self.inner.create_dir(folder)
    }
    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        self.inner.create(name).map(|file| self.file(file))
    }
    fn open(&self, name: &str, access: Access) -> io::Result<Arc<dyn SegmentFile>> {
        self.inner.open(name, access).map(|file| self.file(file))
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.inner.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.inner.remove(name)
    }
    fn sync_dir(&self, folder: &str) -> io::Result<()> {
        self.inner.sync_dir(folder)
    }
}

impl SegmentFile for CountingFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.inner.write_at(bytes, offset)
    }
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let got = self.inner.read_at(buffer, offset)?;
        self.read.fetch_add(got as u64, Ordering::Relaxed);
        Ok(got)
    }
    fn len(&self) -> io::Result<u64> {
        self.inner.len()
    }
    fn sync_data(&self) -> io::Result<()> {
        self.inner.sync_data()
    }
    fn truncate(&self, length: u64) -> io::Result<()> {
        self.inner.truncate(length)
    }
}

/// An engine with small segments, which counts what it reads.
fn counting(folder: &std::path::Path) -> (Engine, Arc<AtomicU64>) {
    let read = Arc::new(AtomicU64::new(0));
    let disk = Counting {
        inner: RealDisk::at(folder),
        read: Arc::clone(&read),
    };
    let options = Options {
        disk: Some(Arc::new(disk)),
        chance: Chance::Seeded(1),
        segment_bytes: Some(1 << 18),
        checkpoint_every: Some(16),
        ..Options::default()
    };
    (Engine::open(folder, options).unwrap(), read)
}

/// A session of many results that are hidden, and of thirty messages that are shown; bytes that are read to show them again, and bytes of
/// the log.
fn resumed(results: u64) -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let (engine, _) = counting(dir.path());
    let session = engine.create("s", Some("claude-sonnet-5".into())).unwrap();
    let log = |event: Value| session.append(&[&event.to_string()]).unwrap().first;
    let mut dice = Dice::new("noise");
    let first = log(json!({"type": "message", "role": "user", "content": "read them all"}));
    for number in 0..results {
        let id = format!("t{number}");
        let call = json!([{"type": "tool_use", "id": id, "name": "read", "input": {}}]);
        log(json!({"type": "message", "role": "assistant", "content": call}));
        let noise: String = (0..12_000)
            .map(|_| format!("{:x}", dice.below(u64::MAX)))
            .collect();
        log(json!({"type": "tool_result", "call": id, "content": noise}));
    }
    let last = session.status().unwrap().head;
    log(json!({"type": "delete_range", "first": first, "last": last}));
    for turn in 0..15 {
        log(json!({"type": "message", "role": "user", "content": format!("question {turn}")}));
        log(
            json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": format!("answer {turn}")}]}),
        );
    }
    log(json!({"type": "message", "role": "user", "content": "and now?"}));
    let digest = session.project(api::Project::default()).unwrap().digest;
    engine.close().unwrap();
    let (engine, read) = counting(dir.path());
    let session = engine.session("s").unwrap();
    let shown = session.project(api::Project::default()).unwrap();
    assert_eq!(shown.digest, digest);
    let read = read.load(Ordering::Relaxed);
    let log = engine.stats(&api::Stats::default()).unwrap().disk;
    engine.close().unwrap();
    (read, log.segments_raw)
}

#[test]
fn pain_84_what_is_read_at_a_resume_follows_the_prompt_and_not_the_log() {
    let (small, _) = resumed(2);
    let (large, log) = resumed(40);
    assert!(log > 6_000_000, "{log}");
    assert!(large < small + log / 8, "{small} {large} of {log}");
}

#[test]
fn pain_85_a_session_grows_by_what_is_new() {
    let mut desk = Desk::new();
    let mut marks = Vec::new();
    for step in 0..1_732 {
        if step % 2 == 0 {
            desk.says(&said(&format!("step{step}"), 20));
        } else {
            desk.answers(&said(&format!("step{step}"), 20));
        }
        if step == 865 || step == 1_731 {
            desk.reopen();
            let report = desk.engine().stats(&api::Stats::default()).unwrap();
            let disk = report.disk;
            marks.push((
                disk.segments_raw,
                disk.segments + disk.states + disk.out + disk.other,
            ));
        }
    }
    let [half, whole] = marks[..] else {
        panic!("two marks");
    };
    // Twice as many steps are twice as many bytes; each is a few hundred.
    assert!(whole.0 < half.0 * 5 / 2, "{half:?} {whole:?}");
    assert!(whole.1 < half.1 * 5 / 2 + 1_000_000, "{half:?} {whole:?}");
    assert!(whole.0 < 1_732 * 1_500, "{whole:?}");
}
