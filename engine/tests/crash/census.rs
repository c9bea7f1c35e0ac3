//! All crashes of all scenarios, in every view: a table of distinct images.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use recount::disk::{Crash, Plan, View};

use crate::scenarios::SCENARIOS;
use crate::verdict::{Shown, judge, recover};
use crate::world::{Facts, open};

const SEED: u64 = 20_261_130;

#[derive(Clone, Copy)]
struct Effort {
    plan: Plan,
    inner: Plan,
    /// Every so many images the recovery itself is crashed.
    inside: usize,
    least: usize,
}

fn effort() -> Effort {
    let plan = |exhaustive, samples, tears| Plan {
        exhaustive,
        samples,
        tears,
        seed: SEED,
    };
    if std::env::var("RECOUNT_CRASH").is_ok_and(|run| run == "long") {
        Effort {
            plan: plan(10, 60, 24),
            inner: plan(5, 8, 8),
            inside: 11,
            least: 3_000,
        }
    } else {
        Effort {
            plan: plan(2, 2, 4),
            inner: plan(1, 1, 3),
            inside: 61,
            least: 300,
        }
    }
}

#[derive(Default)]
struct Census {
    /// By kind of write; none: inside a recovery.
    images: BTreeMap<(Option<usize>, View), usize>,
    seen: HashSet<u64>,
    crashes: usize,
    failures: Vec<String>,
}

struct Walk<'a> {
    number: usize,
    facts: &'a Facts,
    effort: Effort,
    /// What was found in each image; the same image at a later moment has more to keep.
    known: HashMap<(u64, u64), Arc<Shown>>,
    /// By kind of write; none: inside a recovery.
    images: BTreeMap<(Option<usize>, View), HashSet<u64>>,
    /// Each distinct finding once.
    shown: Vec<Arc<Shown>>,
    census: Census,
}

impl Walk<'_> {
    fn one(&mut self, view: View, crash: &Crash, outer: Option<usize>) {
        if self.census.failures.len() > 20 {
            return;
        }
        self.census.crashes += 1;
        let identity = crash.identity();
        let known = self.known.get(&identity).cloned();
        let new = known.is_none();
        let verdict = match known {
            Some(shown) => Ok(shown),
            None => recover(&crash.disk(), self.facts).map(|shown| self.keep(shown)),
        };
        let verdict = verdict.and_then(|shown| {
            self.known.insert(identity, Arc::clone(&shown));
            judge(self.facts, outer.unwrap_or(crash.moment), &shown)
        });
        self.census.seen.insert(identity.0);
        let place = outer.map_or(Some(self.number), |_| None);
        self.images
            .entry((place, view))
            .or_default()
            .insert(identity.0);
        if let Err(why) = verdict {
            let place = outer.map_or(String::new(), |moment| {
                format!("in the recovery from {moment}, ")
            });
            let name = SCENARIOS[self.number].name;
            self.census.failures.push(format!(
                "{name}: {place}{view:?} at {}: {}: {why}",
                crash.moment, crash.loss
            ));
        } else if new && outer.is_none() && self.known.len().is_multiple_of(self.effort.inside) {
            self.inside(crash);
        }
    }

    fn keep(&mut self, shown: Shown) -> Arc<Shown> {
        if let Some(same) = self.shown.iter().find(|kept| ***kept == shown) {
            return Arc::clone(same);
        }
        self.shown.push(Arc::new(shown));
        self.shown[self.shown.len() - 1].clone()
    }

    /// Crashes the recovery from a crash, wherever it can be.
    fn inside(&mut self, outer: &Crash) {
        let disk = outer.disk();
        disk.record();
        let Ok(engine) = open(&disk) else { return };
        for name in self.facts.truth.keys() {
            // Opening a session may write, too; one that is not there is judged elsewhere.
            let _ = engine.session(name);
        }
        let journal = disk.journal().unwrap();
        disk.halt_at(0);
        drop(engine);
        let plan = self.effort.inner;
        for view in View::ALL {
            journal.crashes(view, &plan, 0, &mut |crash| {
                self.one(view, &crash, Some(outer.moment));
            });
        }
    }
}

fn walk(number: usize, effort: Effort) -> Census {
    let (journal, facts) = (SCENARIOS[number].work)().kill();
    let mut walk = Walk {
        number,
        facts: &facts,
        effort,
        known: HashMap::new(),
        shown: Vec::new(),
        images: BTreeMap::new(),
        census: Census::default(),
    };
    for view in View::ALL {
        journal.crashes(view, &effort.plan, 0, &mut |crash| {
            walk.one(view, &crash, None)
        });
    }
    for (place, images) in &walk.images {
        walk.census.images.insert(*place, images.len());
    }
    walk.census
}

fn print(census: &Census) {
    println!(
        "law 11 through the engine: distinct images, each opened, gone on with and opened twice more; seed={SEED}"
    );
    println!(
        "| {:<28} | {:>7} | {:>7} | {:>7} |",
        "kind of write", "kill", "ordered", "strict"
    );
    println!("|---|---|---|---|");
    let row = |name: &str, count: &dyn Fn(View) -> usize| {
        let [kill, ordered, strict] = View::ALL.map(count);
        println!("| {name:<28} | {kill:>7} | {ordered:>7} | {strict:>7} |");
    };
    for (number, scenario) in SCENARIOS.iter().enumerate() {
        row(scenario.name, &|view| {
            census
                .images
                .get(&(Some(number), view))
                .copied()
                .unwrap_or(0)
        });
    }
    row("a second crash, in recovery", &|view| {
        census.images.get(&(None, view)).copied().unwrap_or(0)
    });
    println!(
        "{} distinct images in all views together, of {} crashes; {} did not hold",
        census.seen.len(),
        census.crashes,
        census.failures.len()
    );
}

#[test]
fn law_11_every_crash_leaves_sessions_that_hold_what_was_promised() {
    let effort = effort();
    let total = Mutex::new(Census::default());
    let next = Mutex::new(0..SCENARIOS.len());
    let work = || {
        loop {
            let Some(number) = next.lock().unwrap().next() else {
                break;
            };
            let census = walk(number, effort);
            let mut total = total.lock().unwrap();
            total.crashes += census.crashes;
            for (place, count) in census.images {
                *total.images.entry(place).or_default() += count;
            }
            total.seen.extend(census.seen);
            total.failures.extend(census.failures);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let census = total.into_inner().unwrap();
    print(&census);
    let some: Vec<&String> = census.failures.iter().take(12).collect();
    assert!(some.is_empty(), "{some:#?}");
    assert!(census.seen.len() >= effort.least, "{}", census.seen.len());
}
