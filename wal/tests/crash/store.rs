//! The store behind the segments under crashes: rows that were put and not flushed survive or not, generations of the store
//! are stale or half-made, and the log serves exactly what the segments hold.
//!
//! - The store's own promise is weak on purpose: any row of any put since the last flush may be lost, on its own.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use recount_wal::disk::{Journal, SimulatedDisk, Survival};
use recount_wal::store::{Row, StoreOptions};
use recount_wal::{Batch, Class, Options, StreamId, Wal};

use crate::common::{record, stream};
use crate::lossy::{Entry, Lossy, Platter, Told};
use crate::run::Shown;
use crate::verdict::read_all;

const PATIENCE: Duration = Duration::from_secs(60);

fn store_options(opener: Lossy) -> StoreOptions {
    StoreOptions {
        opener: Arc::new(opener),
        // Now and then it is flushed in between, so that there is something to lose and something to keep.
        idle: Duration::from_millis(5),
        flush_bytes: 30_000,
        wait: PATIENCE,
        evidence: PATIENCE,
        ..StoreOptions::default()
    }
}

fn options() -> Options {
    Options::default()
        .segment_size(16_000)
        .ahead(0)
        .compress(false)
}

fn append(wal: &Wal, id: StreamId, count: u64) {
    let first = wal.heads(id).map_or(0, |heads| heads.accepted + 1);
    let records = (first..first + count).map(|seq| record(&format!("{id} {seq}")));
    let batch = Batch {
        stream: id,
        first,
        records: records.collect(),
        tag: Some([first as u8; 32]),
        origin: None,
    };
    wal.append(batch, Class::Synced).unwrap();
}

/// What a run left: the log's disk, the generations that there are, and what they were told.
struct Run {
    journal: Journal,
    generations: Vec<String>,
    platter: Vec<Entry>,
}

fn generations(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder.join("store")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    let names: BTreeSet<String> = names.collect();
    names.into_iter().collect()
}

/// A log at work with its store, which begins with these rows.
fn run(disk: SimulatedDisk, rows: BTreeMap<String, Vec<Row>>, work: impl FnOnce(&Wal)) -> Run {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), rows.keys());
    disk.record();
    let platter = Platter::default();
    let opener = Lossy {
        rows,
        platter: Arc::clone(&platter),
        disk: disk.clone(),
    };
    let on = Arc::new(disk.clone());
    let (wal, _) = Wal::open_on_with(on, options(), folder.path(), store_options(opener)).unwrap();
    assert!(wal.store().unwrap().wait_ready(PATIENCE));
    work(&wal);
    let journal = disk.journal().unwrap();
    drop(wal);
    let platter = platter.lock().unwrap().clone();
    Run {
        journal,
        generations: generations(folder.path()),
        platter,
    }
}

fn make<'a>(folder: &Path, generations: impl Iterator<Item = &'a String>) {
    for generation in generations {
        std::fs::create_dir_all(folder.join("store").join(generation)).unwrap();
    }
}

/// A fill in pieces: full chunks, open ones, flushes in between.
fn fill() -> Run {
    run(SimulatedDisk::new(), BTreeMap::new(), |wal| {
        for turn in 0..8 {
            append(wal, stream(turn % 3), 70);
            std::thread::sleep(Duration::from_millis(8));
        }
        append(wal, stream(3), 3);
        std::thread::sleep(Duration::from_millis(20));
    })
}

/// A rebuild: the store is another log's, so a new generation is filled.
fn rebuild(other: &Run) -> Run {
    let disk = SimulatedDisk::new();
    let (wal, _) = Wal::open_on(Arc::new(disk.clone()), options()).unwrap();
    for turn in 0..6 {
        append(&wal, stream(turn % 3), 90);
    }
    wal.close().unwrap();
    let rows = survivors(&other.platter, &|_| true);
    run(disk, rows, |_| {
        std::thread::sleep(Duration::from_millis(20));
    })
}

/// The rows of each generation when of the un-flushed ones those survive that `kept` names by their number.
fn survivors(told: &[Entry], kept: &dyn Fn(usize) -> bool) -> BTreeMap<String, Vec<Row>> {
    let flushed = |generation: &str| {
        let last = told.iter().rposition(|entry| {
            entry.generation == generation && matches!(entry.told, Told::Flushed)
        });
        last.unwrap_or(0)
    };
    let mut number = 0;
    let mut rows: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for (at, entry) in told.iter().enumerate() {
        let into = rows.entry(entry.generation.clone()).or_default();
        if let Told::Put(put) = &entry.told {
            let safe = at < flushed(&entry.generation);
            for row in put {
                number += usize::from(!safe);
                if safe || kept(number - 1) {
                    into.push(row.clone());
                }
            }
        }
    }
    rows
}

fn unflushed(told: &[Entry]) -> usize {
    let count = std::cell::Cell::new(0);
    survivors(told, &|number| {
        count.set(count.get().max(number + 1));
        true
    });
    count.get()
}

/// Which of so many rows survive: all choices of a few, else none, all, single losses and survivors, prefixes and suffixes.
fn choices(count: usize, exhaustive: usize) -> Vec<Vec<bool>> {
    if count <= exhaustive {
        let every = 0..1_u32 << count;
        let bits = |bits: u32| (0..count).map(|row| bits >> row & 1 == 1).collect();
        return every.map(bits).collect();
    }
    let mut all = vec![vec![false; count], vec![true; count]];
    for row in 0..count {
        all.push((0..count).map(|other| other != row).collect());
        all.push((0..count).map(|other| other == row).collect());
        all.push((0..count).map(|other| other < row).collect());
        all.push((0..count).map(|other| other > row).collect());
    }
    all
}

/// Opens the log with what is left of its store: it serves the segments' truth at once, when the store is ready, after more
/// appends, and after another opening.
fn judge(
    disk: &SimulatedDisk,
    truth: &Shown,
    generations: &[String],
    rows: BTreeMap<String, Vec<Row>>,
) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    make(folder.path(), generations.iter());
    let platter = Platter::default();
    let disk = disk.crashed(Survival::Lost);
    let opener = Lossy {
        rows,
        platter: Arc::clone(&platter),
        disk: disk.clone(),
    };
    let on = Arc::new(disk.clone());
    let (wal, recovered) =
        Wal::open_on_with(on, options(), folder.path(), store_options(opener)).unwrap();
    if !recovered.damaged.is_empty() || !recovered.salvaged.is_empty() {
        return Err(format!("taken for damage: {recovered:?}"));
    }
    agree("at once", &wal, truth)?;
    if !wal.store().unwrap().wait_ready(PATIENCE) {
        return Err(format!("never ready: {:?}", wal.store().unwrap().status()));
    }
    agree("when the store is ready", &wal, truth)?;
    match wal.verify_store() {
        Some(Ok(_)) => {}
        other => return Err(format!("the store does not verify: {other:?}")),
    }
    for id in [stream(0), stream(9), stream(0)] {
        append(&wal, id, 1);
    }
    let more = read_all(&wal)?;
    let (plain, _) = Wal::open_on(Arc::new(disk.crashed(Survival::Lost)), options()).unwrap();
    agree("after three appends", &plain, &more)?;
    let left = disk.crashed(Survival::Lost);
    drop(wal);
    let told = platter.lock().unwrap().clone();
    // The second crash takes all that was put since the last flush.
    let opener = Lossy {
        rows: survivors(&told, &|_| false),
        platter: Platter::default(),
        disk: left.clone(),
    };
    let on = Arc::new(left);
    let (wal, _) = Wal::open_on_with(on, options(), folder.path(), store_options(opener)).unwrap();
    agree("at the second opening", &wal, &more)?;
    wal.store().unwrap().wait_ready(PATIENCE);
    agree("at the second opening, ready", &wal, &more)
}

fn agree(when: &str, wal: &Wal, truth: &Shown) -> Result<(), String> {
    if read_all(wal)? == *truth {
        return Ok(());
    }
    Err(format!("not the segments' truth {when}"))
}

struct Census {
    /// Every so many choices one is tried.
    every: usize,
    number: usize,
    exhaustive: usize,
    seen: HashSet<String>,
    failures: Vec<String>,
}

impl Census {
    /// Crashes after each thing that the store was told, with every choice of survivors.
    fn crashes(&mut self, name: &str, run: &Run) -> usize {
        let before = self.seen.len();
        for end in 0..=run.platter.len() {
            let told = &run.platter[..end];
            let count = unflushed(told);
            // The log as it is found right then, so that nothing lags, or at the end, so that the store does.
            let then = told.last().map_or(0, |entry| entry.moment);
            for moment in [then, run.journal.moments()] {
                let disk = run.journal.crashed(moment, Survival::Lost);
                let truth = segments(&disk);
                for chosen in choices(count, self.exhaustive) {
                    self.number += 1;
                    if self.number.is_multiple_of(self.every) {
                        let rows = survivors(told, &|row| chosen[row]);
                        let what = format!("{name}: {end} at {moment}: {chosen:?}");
                        self.one((&disk, &truth), run, rows, &what);
                    }
                }
            }
        }
        self.seen.len() - before
    }

    fn one(
        &mut self,
        (disk, truth): (&SimulatedDisk, &Shown),
        run: &Run,
        rows: BTreeMap<String, Vec<Row>>,
        what: &str,
    ) {
        for generations in stands(&run.generations, &rows) {
            let image = format!("{} {generations:?} {rows:?}", disk.fingerprint());
            if self.failures.len() > 10 || !self.seen.insert(image) {
                continue;
            }
            if let Err(why) = judge(disk, truth, &generations, rows.clone()) {
                self.failures
                    .push(format!("{what}: {generations:?}: {why}"));
            }
        }
    }
}

/// What the segments alone hold.
fn segments(disk: &SimulatedDisk) -> Shown {
    let on = Arc::new(disk.crashed(Survival::Lost));
    read_all(&Wal::open_on(on, options()).unwrap().0).unwrap()
}

/// Which generations there are: those of the end, those that were told something; the newest lost, the older one back.
fn stands(end: &[String], rows: &BTreeMap<String, Vec<Row>>) -> Vec<Vec<String>> {
    let told: Vec<String> = rows.keys().cloned().collect();
    let mut all = vec![end.to_vec(), told.clone()];
    if let Some((_, older)) = told.split_last() {
        all.push(older.to_vec());
    }
    all.sort_unstable();
    all.dedup();
    all
}

#[test]
fn law_11_the_log_serves_the_segments_truth_whatever_its_store_lost() {
    let long = std::env::var("RECOUNT_CRASH").is_ok_and(|run| run == "long");
    let mut census = Census {
        every: if long { 1 } else { 19 },
        number: 0,
        exhaustive: if long { 7 } else { 3 },
        seen: HashSet::new(),
        failures: Vec::new(),
    };
    let filled = fill();
    assert!(filled.platter.len() > 8, "{}", filled.platter.len());
    let fills = census.crashes("fill", &filled);
    let rebuilt = rebuild(&filled);
    let rebuilds = census.crashes("rebuild", &rebuilt);
    println!(
        "law 11, the store: {fills} images of a fill, {rebuilds} of a rebuild; {} did not hold",
        census.failures.len()
    );
    assert!(census.failures.is_empty(), "{:#?}", census.failures);
    assert!(fills > 5 && rebuilds > 5);
}
