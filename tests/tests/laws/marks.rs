//! Marks for the provider's cache, wanted anywhere: the marked body is accepted wherever the plain one is, and is the plain one but for
//! the marks.

use crate::run::{Run, told};
use crate::whole::facts;
use proptest::prelude::*;
use recount_events::Seq;
use recount_projections::render::{Edit, Marks, Ttl, pinned};
use recount_projections::{Outcome, Projection};
use recount_tests::generate::{Mix, cases, program};
use recount_tests::system::profile;
use recount_tests::validator::{Facts, Wire, parse, validate};
use serde_json::Value;
use std::collections::BTreeSet;

/// What is wanted: places in thousandths of the pieces, some beyond them.
#[derive(Clone, Debug)]
struct Wanted {
    controls: Vec<(usize, bool)>,
    references: Vec<usize>,
    edits: Vec<(usize, Vec<usize>)>,
    /// Every result is referred to, and the edits of the log are sent.
    logged: bool,
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let place = 0..1_100_usize;
    let controls = prop::collection::vec((place.clone(), any::<bool>()), 0..7);
    let references = prop::collection::vec(place.clone(), 0..6);
    let edit = (place.clone(), prop::collection::vec(place, 0..4));
    let edits = prop::collection::vec(edit, 0..4);
    (controls, references, edits, any::<bool>()).prop_map(
        |(controls, references, edits, logged)| Wanted {
            controls,
            references,
            edits,
            logged,
        },
    )
}

impl Wanted {
    fn marks(&self, projection: &Projection, run: &Run) -> Marks {
        let count = projection.pieces.len();
        let at = |place: &usize| place * count / 1_000;
        let ttl = |hour: bool| if hour { Ttl::Hour } else { Ttl::FiveMinutes };
        let controls = self.controls.iter();
        let mut marks = Marks {
            controls: controls
                .map(|(place, hour)| (at(place), ttl(*hour)))
                .collect(),
            references: self.references.iter().map(at).collect(),
            edits: Vec::new(),
        };
        if self.logged {
            marks.references = (0..count).collect();
            marks.edits = pinned(&projection.pieces, run.system.state.timeline());
        }
        marks
            .edits
            .extend(self.edits.iter().map(|(after, results)| Edit {
                after: at(after),
                results: results.iter().map(at).collect(),
            }));
        marks
    }
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn law_8_a_marked_request_is_accepted(seed: u64, program in program(Mix::Whole, 40), wanted in wanted()) {
        let mut run = Run::new(seed, false);
        run.play(&program);
        let Some(plain) = run.system.project(Wire::Anthropic, true) else {
            return Ok(());
        };
        let marked = plain.clone().marked(&wanted.marks(&plain, &run));
        let log = || told(&run.host);
        prop_assert_eq!(plain.digest, marked.digest);
        prop_assert_eq!(marked.body().len() as u64, marked.bytes, "{}", log());
        prop_assert_eq!(bare(&marked), bare(&plain), "{}", log());
        let facts = facts(profile(run.system.state.timeline()).expect("it was projected"));
        if plain.outcome == Outcome::Ready {
            prop_assert_eq!(broken(&marked, &facts), broken(&plain, &facts), "{}\n{}", String::from_utf8_lossy(&marked.body()), log());
        }
    }

    #[test]
    fn m4_an_edit_of_the_log_keeps_its_place(seed: u64, program in program(Mix::Whole, 60)) {
        let mut run = Run::new(seed, false);
        let mut places = Vec::new();
        for op in program {
            let given = run.given(op);
            if run.hand(&given).is_err() {
                continue;
            }
            let now = places_of(&run);
            if appends(&given.value) {
                prop_assert!(now.starts_with(&places), "{:?} {:?} in\n{}", places, now, told(&run.host));
            }
            places = now;
        }
    }
}

/// What a marked body says besides its marks.
fn bare(projection: &Projection) -> String {
    let body = projection.body();
    let mut value = parse(&body).expect("a body is JSON").value;
    unmark(&mut value["tools"]);
    unmark(&mut value["system"]);
    for message in value["messages"].as_array_mut().into_iter().flatten() {
        unmark(&mut message["content"]);
    }
    value.to_string()
}

fn unmark(blocks: &mut Value) {
    let Some(blocks) = blocks.as_array_mut() else {
        return;
    };
    blocks.retain(|block| block["type"] != "cache_edits");
    for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
        block.shift_remove("cache_control");
        block.shift_remove("cache_reference");
    }
}

fn broken(projection: &Projection, facts: &Facts) -> BTreeSet<&'static str> {
    let violations = validate(Wire::Anthropic, &projection.body(), facts);
    violations.into_iter().map(|found| found.rule).collect()
}

/// Of each edit the piece behind which it stands, with the results that it names.
fn places_of(run: &Run) -> Vec<(Seq, Vec<Seq>)> {
    let Some(projection) = run.system.project(Wire::Anthropic, true) else {
        return Vec::new();
    };
    let source = |place: &usize| {
        projection
            .pieces
            .get(*place)
            .map_or(Seq(0), |piece| piece.source.seq)
    };
    pinned(&projection.pieces, run.system.state.timeline())
        .iter()
        .map(|edit| {
            (
                source(&edit.after),
                edit.results.iter().map(source).collect(),
            )
        })
        .collect()
}

/// It adds to the end and takes nothing away. (What stands for open calls gives way to their results.)
fn appends(event: &Value) -> bool {
    let kinds = [
        "message",
        "cache_edit",
        "usage",
        "issued",
        "checkpoint",
        "memory",
        "file_read",
    ];
    let results = event["content"].as_array().into_iter().flatten();
    let results = results.filter(|block| block["type"] != "text").count();
    kinds.iter().any(|kind| event["type"] == *kind) && event["role"] != "tool" && results == 0
}
