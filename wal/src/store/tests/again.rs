//! What stops a comparison for a while is no reason to throw away what the store knows.

use std::sync::atomic::{AtomicBool, Ordering};

use super::*;

/// Opens nothing the first time, because the disk is full.
struct FullOnce(AtomicBool);

impl Open for FullOnce {
    fn open(&self, directory: &Path) -> Result<Arc<dyn Store>, StoreError> {
        if self.0.swap(false, Ordering::SeqCst) {
            Err(StoreError::Full("simulated".into()))
        } else {
            OnSled::default().open(directory)
        }
    }
}

/// Segments of which the first scan breaks off at its end.
struct UnreadOnce(Arc<Log>, AtomicBool);

impl Segments for UnreadOnce {
    fn streams(&self) -> Vec<StreamInfo> {
        self.0.streams()
    }
    fn read(
        &self,
        stream: StreamId,
        from: u64,
        to: u64,
        visit: &mut VisitRecord<'_>,
    ) -> Result<(), SourceError> {
        self.0.read(stream, from, to, visit)
    }
    fn scan(&self, visit: &mut VisitRecord<'_>) -> Result<(), SourceError> {
        self.0.scan(visit)?;
        if self.1.swap(false, Ordering::SeqCst) {
            return Err(SourceError("simulated".into()));
        }
        Ok(())
    }
}

fn soon() -> StoreOptions {
    StoreOptions {
        pause: Duration::from_millis(20),
        ..options()
    }
}

/// A directory whose store holds 150 records of each of two streams.
fn filled() -> (tempfile::TempDir, Arc<Log>) {
    let directory = tempfile::tempdir().unwrap();
    let log = Arc::new(Log::default());
    log.grow(2, 300);
    assert!(ready(directory.path(), &log).close());
    (directory, log)
}

#[test]
fn a_full_disk_does_not_cost_what_the_store_knows_of_a_cut() {
    let (directory, log) = filled();
    log.cut(id(1), 120);
    let opener = Arc::new(FullOnce(AtomicBool::new(true)));
    let store = start(directory.path(), &log, StoreOptions { opener, ..soon() });
    follow::wait_until(|| store.wait_ready(LONG));
    let known = Ahead {
        stream: id(1),
        segments: Some(120),
        store: 149,
    };
    assert_eq!(store.status().ahead, [known]);
    assert!(store.status().weighed);
}

#[test]
fn a_segment_that_is_not_read_once_does_not_cost_what_was_salvaged() {
    let (directory, log) = filled();
    log.lose(id(0), 40, 59);
    let segments = Arc::new(UnreadOnce(Arc::clone(&log), AtomicBool::new(true)));
    let store = EventLog::start(directory.path(), IDENTITY, segments, soon());
    follow::wait_until(|| store.wait_ready(LONG));
    let spans = store.status().salvaged;
    let saved = |span: &Span| (span.stream, span.first, span.last);
    assert_eq!(
        spans.iter().map(saved).collect::<Vec<_>>(),
        [(id(0), 40, 59)]
    );
    assert_eq!(store.status().rebuilt, None);
    assert_eq!(read(&store, &log, id(0)).0.len(), 150);
}
