//! All crashes of all scenarios, in every view, and crashes inside the recovery from them: a table of distinct images.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};

use recount_wal::Options;
use recount_wal::disk::{Crash, Journal, Plan, View};

use crate::inside::Inside;
use crate::run::{Facts, Shown};
use crate::scenarios::{SCENARIOS, Scenario};
use crate::verdict::{judge, recover};

/// How much is tried.
#[derive(Clone, Copy)]
struct Effort {
    plan: Plan,
    /// The plan of crashes inside a recovery.
    inner: Plan,
    /// Every so many images the recovery itself is crashed.
    inside: usize,
    /// What the run must come to, so that it cannot shrink unnoticed.
    least: usize,
}

const SEED: u64 = 20_261_130;

fn effort() -> Effort {
    let plan = |exhaustive, samples, tears| Plan {
        exhaustive,
        samples,
        tears,
        seed: SEED,
    };
    if std::env::var("RECOUNT_CRASH").is_ok_and(|run| run == "long") {
        Effort {
            plan: plan(12, 120, 40),
            inner: plan(6, 16, 12),
            inside: 3,
            least: 20_000,
        }
    } else {
        Effort {
            plan: plan(5, 8, 6),
            inner: plan(2, 3, 3),
            inside: 127,
            least: 1_500,
        }
    }
}

/// Distinct images by kind of write and view, and what did not hold.
#[derive(Default)]
struct Census {
    images: BTreeMap<(usize, View), usize>,
    inside: BTreeMap<View, usize>,
    crashes: usize,
    seen: HashSet<u64>,
    failures: Vec<String>,
}

/// The crashes of one scenario.
struct Walk<'a> {
    scenario: &'a Scenario,
    facts: Facts,
    options: Options,
    effort: Effort,
    /// What was found in each image that was tried; the same image at a later moment has more to keep.
    known: HashMap<(u64, u64), Arc<Shown>>,
    /// What was found, each once.
    shown: Vec<Arc<Shown>>,
    images: BTreeMap<View, HashSet<u64>>,
    inside: BTreeMap<View, HashSet<u64>>,
    crashes: usize,
    failures: Vec<String>,
}

impl Walk<'_> {
    fn all(&mut self, journal: &Journal) {
        for view in View::ALL {
            let plan = self.effort.plan;
            journal.crashes(view, &plan, 0, &mut |crash| self.one(view, &crash, None));
        }
    }

    fn one(&mut self, view: View, crash: &Crash, outer: Option<(View, &Crash, &Facts)>) {
        // A log in which much is wrong is wrong everywhere.
        if self.failures.len() > 20 {
            return;
        }
        self.crashes += 1;
        let identity = crash.identity();
        let known = self.known.get(&identity).cloned();
        let new = known.is_none();
        let (moment, facts) = match outer {
            Some((_, outer, facts)) => (outer.moment, facts),
            None => (crash.moment, &self.facts),
        };
        let verdict = match known {
            Some(shown) => Ok(shown),
            None => recover(&crash.disk(), self.options).map(|shown| keep(&mut self.shown, shown)),
        };
        let verdict = verdict.and_then(|shown| {
            self.known.insert(identity, Arc::clone(&shown));
            judge(facts, moment, &shown)
        });
        let counted = if outer.is_some() {
            &mut self.inside
        } else {
            &mut self.images
        };
        counted.entry(view).or_default().insert(identity.0);
        if let Err(why) = verdict {
            let outer = outer.map(|(view, outer, _)| {
                format!(
                    "{view:?} at {}: {}; in its recovery ",
                    outer.moment, outer.loss
                )
            });
            self.failures.push(format!(
                "{}: {}{view:?} at {}: {}: {why}",
                self.scenario.name,
                outer.unwrap_or_default(),
                crash.moment,
                crash.loss
            ));
        } else if new && outer.is_none() && self.known.len().is_multiple_of(self.effort.inside) {
            self.inside(view, crash);
        }
    }

    /// Crashes the recovery from a crash, and what is done behind it, wherever it can be.
    fn inside(&mut self, outer_view: View, outer: &Crash) {
        let Some(inside) = Inside::of(outer, &self.facts, self.options) else {
            return;
        };
        let plan = self.effort.inner;
        for view in View::ALL {
            inside.journal.crashes(view, &plan, 0, &mut |crash| {
                let facts = inside.facts(crash.moment);
                self.one(view, &crash, Some((outer_view, outer, facts)));
            });
        }
    }
}

/// The same finding is kept once.
fn keep(all: &mut Vec<Arc<Shown>>, shown: Shown) -> Arc<Shown> {
    if let Some(same) = all.iter().find(|kept| ***kept == shown) {
        return Arc::clone(same);
    }
    let shown = Arc::new(shown);
    all.push(Arc::clone(&shown));
    shown
}

fn walk(number: usize, effort: Effort, census: &Mutex<Census>) {
    let scenario = &SCENARIOS[number];
    let (journal, facts, options) = (scenario.work)().kill();
    let mut walk = Walk {
        scenario,
        facts,
        options,
        effort,
        known: HashMap::new(),
        shown: Vec::new(),
        images: BTreeMap::new(),
        inside: BTreeMap::new(),
        crashes: 0,
        failures: Vec::new(),
    };
    walk.all(&journal);
    let mut census = census.lock().unwrap();
    census.crashes += walk.crashes;
    census.failures.extend(walk.failures);
    for (view, images) in walk.images {
        census.images.insert((number, view), images.len());
        census.seen.extend(images);
    }
    for (view, images) in walk.inside {
        *census.inside.entry(view).or_default() += images.len();
        census.seen.extend(images);
    }
}

fn print(census: &Census) {
    println!(
        "law 11: distinct images, each recovered, written on three times and opened twice more; seed={SEED}"
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
            census.images.get(&(number, view)).copied().unwrap_or(0)
        });
    }
    row("a second crash, in recovery", &|view| {
        census.inside.get(&view).copied().unwrap_or(0)
    });
    println!(
        "{} distinct images in all views together, of {} crashes; {} did not hold",
        census.seen.len(),
        census.crashes,
        census.failures.len()
    );
}

#[test]
fn law_11_every_crash_leaves_a_prefix_with_all_that_was_acknowledged() {
    let effort = effort();
    let census = Mutex::new(Census::default());
    let next = Mutex::new(0..SCENARIOS.len());
    let work = || {
        loop {
            let Some(number) = next.lock().unwrap().next() else {
                break;
            };
            walk(number, effort, &census);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    let census = census.into_inner().unwrap();
    print(&census);
    let some: Vec<&String> = census.failures.iter().take(12).collect();
    assert!(some.is_empty(), "{some:#?}");
    assert!(census.seen.len() >= effort.least, "{}", census.seen.len());
}
