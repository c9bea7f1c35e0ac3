//! Laws of the fold, over programs of a host: legal and illegal steps in any order.
//!
//! - Split: folding a log in two parts is folding it in one; replay is what was live.
//! - Rejection is free.
//! - Rollback: the timeline after it is that of its target; going back again restores what was left.
//! - What an applied event says it touched is what it touched; entries before that are the same.

use crate::host::*;
use crate::programs::{pick, play, program, run};
use proptest::prelude::*;
use proptest::sample::Index;
use recount_events::*;
use recount_projections::{Shown, State, Timeline, replay};

/// Everything a timeline says, in words; the head apart.
fn whole(timeline: &Timeline) -> String {
    let seqs = |map: &mut dyn Iterator<Item = &Seq>| map.map(|seq| seq.0).collect::<Vec<_>>();
    let given: Vec<_> = timeline
        .units
        .values()
        .flat_map(|hull| {
            hull.unit
                .iter()
                .flat_map(|unit| &unit.calls)
                .map(|call| call.as_given)
        })
        .collect();
    format!(
        "{} | header {:?} {:?} | open {:?} | authored {:?} | masks {:?} | over {:?} | folds {:?} {:?} | tip {:?} | units {:?} {given:?} \
         | content {:?} | replaced {:?} | turns {:?} | checkpoints {:?} | stages {:?} plan {:?} lives {:?} {:?} | usage {:?} | fallen {:?} | relied {:?}",
        view(timeline),
        timeline.header.system.as_ref().map(|logged| logged.seq),
        timeline.header.rendering,
        pairs(&timeline.open),
        timeline.authored_last,
        cut(timeline),
        pairs(&timeline.superseded),
        pairs(&timeline.folds),
        pairs(&timeline.summaries),
        timeline.tip,
        timeline
            .units
            .iter()
            .map(|(key, hull)| (key.0, hull.last.0))
            .collect::<Vec<_>>(),
        pairs(&timeline.content),
        timeline
            .replaced
            .iter()
            .map(|(block, logged)| (*block, logged.seq))
            .collect::<Vec<_>>(),
        seqs(&mut timeline.turns.keys()),
        seqs(&mut timeline.checkpoints.keys()),
        seqs(&mut timeline.work.stages.keys()),
        timeline
            .work
            .plan
            .as_ref()
            .map(|plan| (plan.logged.seq, seqs_of(&plan.chunks))),
        pairs(&timeline.work.collapses),
        pairs(&timeline.work.compactions),
        timeline.usage,
        pairs(&timeline.line.fallen),
        timeline.relied,
    )
}

/// The entries of a map; two maps of equal entries may be different trees.
fn pairs<K: Ord + Clone, V: Clone>(map: &recount_projections::Map<K, V>) -> Vec<(K, V)> {
    map.iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// Which mask covers each content position.
fn cut(timeline: &Timeline) -> Vec<(u64, Option<Seq>)> {
    timeline
        .content
        .keys()
        .map(|seq| (seq.0, timeline.mask_over(*seq)))
        .collect()
}

fn seqs_of<K: Copy + Ord>(
    map: &recount_projections::Map<K, std::sync::Arc<recount_projections::Logged>>,
) -> Vec<K> {
    map.keys().copied().collect()
}

fn same_entry(a: Option<&Shown>, b: Option<&Shown>) -> bool {
    let says = |shown: &Shown| {
        let mut timeline = Timeline::default();
        timeline.shown.insert_mut(Seq(0), shown.clone());
        view(&timeline)
    };
    a.map(says) == b.map(says)
}

/// The lowest key whose entry differs, looked for from the start.
fn lowest_difference(a: &Timeline, b: &Timeline) -> Option<Seq> {
    let mut keys: Vec<Seq> = a.shown.keys().chain(b.shown.keys()).copied().collect();
    keys.sort();
    keys.into_iter()
        .find(|key| !same_entry(a.shown.get(key), b.shown.get(key)))
}

/// The legal state of a timeline, checked from its parts.
fn sound(timeline: &Timeline) {
    for (key, shown) in &timeline.shown {
        match shown {
            Shown::Unit(unit) => {
                assert_eq!(unit.parts[0].seq, *key);
                assert!(
                    timeline
                        .positions_of(*key)
                        .iter()
                        .all(|seq| timeline.mask_over(*seq).is_none()),
                    "a unit hangs together"
                );
            }
            Shown::Said(_) | Shown::Inject(_) => assert_eq!(timeline.mask_over(*key), None),
            Shown::Summary(summary) => assert_eq!(timeline.mask_over(*key), Some(summary.seq)),
        }
    }
    for (seq, place) in &timeline.content {
        let gone = timeline.superseded.contains_key(seq);
        let orphan = !place.own && place.units.is_empty();
        assert_eq!(
            timeline.visible(*seq),
            timeline.mask_over(*seq).is_none() && !gone && !orphan,
            "{seq}"
        );
    }
    for block in timeline.open.keys() {
        assert!(timeline.call(*block).is_some());
        assert!(timeline.closing(*block).is_none());
    }
    let authored = timeline.turns.keys().rev().find(|seq| {
        timeline.visible(**seq) && matches!(timeline.shown.get(seq), Some(Shown::Said(_)))
    });
    assert_eq!(timeline.authored_last, authored.copied());
    for (range, masks) in timeline.masked.iter().zip(timeline.masked.iter().skip(1)) {
        assert!(range.1.0 < *masks.0, "runs overlap");
    }
}

/// What the timeline must be: the active events of the line, folded one by one from nothing.
fn refolded(host: &Host, timeline: &Timeline) -> Timeline {
    let mut state = State::new();
    for (seq, event) in (0u64..).zip(&host.log) {
        let seq = Seq(seq);
        let active = timeline.line.contains(seq) && !timeline.line.fallen.contains_key(&seq);
        let travels = matches!(event.body, Body::Rollback(_) | Body::Undo(_));
        if !active || travels {
            state.gap();
            continue;
        }
        let admitted = state
            .readmit(Event {
                because: None,
                ..event.clone()
            })
            .unwrap_or_else(|misfit| panic!("{seq}: {misfit}"));
        state.apply(admitted);
    }
    state.timeline().clone()
}

/// A timeline without what a fold from nothing cannot know: positions that were undone.
fn content_of(timeline: &Timeline) -> String {
    let bare = Timeline {
        line: recount_projections::Line::default(),
        ..timeline.clone()
    };
    whole(&bare)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn law_01_and_02_replay_is_live_at_every_cut(program in program(), cut in any::<Index>()) {
        let host = play(&program);
        let all = host.replayed();
        prop_assert_eq!(all.skipped().count(), 0);
        prop_assert_eq!(whole(all.timeline()), whole(host.state.timeline()));
        let cut = cut.index(host.log.len());
        let mut split = replay(host.log[..cut].iter().cloned().map(Ok));
        let fork = split.clone();
        for event in &host.log[cut..] {
            split.retake(event.clone());
        }
        prop_assert_eq!(whole(split.timeline()), whole(all.timeline()));
        prop_assert_eq!(format!("{:?}", split.ledger()), format!("{:?}", all.ledger()));
        prop_assert_eq!(fork.head(), (cut as u64).checked_sub(1).map(Seq));
    }

    #[test]
    fn law_04_rejection_is_free(program in program()) {
        let mut host = Host::new();
        for step in &program {
            let before = host.clone();
            if run(&mut host, step).is_err() {
                prop_assert_eq!(whole(before.state.timeline()), whole(host.state.timeline()));
                prop_assert_eq!(before.state.head(), host.state.head());
                prop_assert_eq!(before.log.len(), host.log.len());
            }
        }
    }

    #[test]
    fn law_05_rollback_restores_the_timeline_of_its_target(program in program(), to in any::<Index>()) {
        let mut host = Host::new();
        let mut seen = vec![whole(host.state.timeline())];
        for step in &program {
            if run(&mut host, step).is_ok() {
                seen.push(whole(host.state.timeline()));
            }
        }
        for (seq, then) in seen.iter().enumerate() {
            prop_assert_eq!(&whole(&host.state.timeline_at(Seq(seq as u64)).unwrap()), then);
            let fork = host.state.fork(Seq(seq as u64)).unwrap();
            prop_assert_eq!(&whole(fork.timeline()), then);
        }
        let (to, left) = (to.index(seen.len()), host.state.head().unwrap().0);
        let ledger = format!("{:?}", host.state.ledger().totals);
        let back = host.back(to as u64);
        prop_assert_eq!(&whole(host.state.timeline()), &seen[to]);
        prop_assert_eq!(format!("{:?}", host.state.ledger().totals), ledger);
        host.undo(back).unwrap();
        prop_assert_eq!(&whole(host.state.timeline()), &seen[left as usize]);
        host.back(back);
        prop_assert_eq!(&whole(host.state.timeline()), &seen[to]);
    }

    #[test]
    fn what_is_touched_is_said_and_the_state_is_sound(program in program()) {
        let mut host = Host::new();
        for step in &program {
            let before = host.state.clone();
            if run(&mut host, step).is_err() {
                continue;
            }
            sound(host.state.timeline());
            let mut again = before.clone();
            let admitted = again.readmit(host.log.last().unwrap().clone()).unwrap();
            let applied = again.apply(admitted);
            let lowest = lowest_difference(before.timeline(), again.timeline());
            prop_assert!(lowest.is_none_or(|lowest| applied.touched.is_some_and(|touched| touched <= lowest)), "{:?} {:?}", lowest, applied);
            let system = |state: &State| state.timeline().header.system.as_ref().map(|logged| logged.seq);
            prop_assert_eq!(system(&before) != system(&again), applied.header);
        }
    }

    #[test]
    fn the_timeline_is_the_fold_of_the_active_events_of_its_line(program in program()) {
        let host = play(&program);
        let now = host.state.timeline();
        prop_assert_eq!(content_of(&refolded(&host, now)), content_of(now));
    }

    #[test]
    fn everything_hidden_has_a_cause_and_undoing_causes_brings_it_back(program in program(), which in any::<Index>()) {
        let mut host = play(&program);
        let seq = Seq(pick(&host, &which));
        let content = |host: &Host| matches!(host.log[seq.0 as usize].body, Body::Message(_));
        if !content(&host) {
            return Ok(());
        }
        for _ in 0..400 {
            use recount_projections::Cause;
            let done = match host.state.hidden_by(host.state.timeline(), seq) {
                None | Some(Cause::Replaced(_)) => {
                    prop_assert!(host.state.timeline().visible(seq));
                    return Ok(());
                }
                Some(Cause::Rollback(by)) => host.rollback(Target::Seq(by.prev().unwrap())),
                Some(Cause::Mask(by)) => {
                    prop_assert!(!host.state.timeline().visible(seq));
                    host.undo(by.0)
                }
                Some(Cause::Undo(by)) => host.undo(by.0),
                cause => panic!("{cause:?}"),
            };
            // What rests on it may have to go first; that is the suggestion, tested by its rule.
            if done.is_err() {
                return Ok(());
            }
        }
        prop_assert!(false, "it never came back");
    }

    #[test]
    fn damage_anywhere_never_stops_the_replay(program in program(), lost in prop::collection::vec(any::<Index>(), 1..4)) {
        let host = play(&program);
        let lost: Vec<usize> = lost.iter().map(|index| index.index(host.log.len())).collect();
        let events = host.log.iter().cloned().enumerate();
        let state = replay(events.map(|(index, event)| if lost.contains(&index) { Err(recount_projections::Gap) } else { Ok(event) }));
        prop_assert_eq!(state.head(), host.state.head());
        prop_assert!(lost.iter().all(|lost| state.skipped().any(|skipped| skipped.seq == Seq(*lost as u64))));
        let mut host = Host { state, ..host };
        for seq in 0..host.log.len() {
            host.state.timeline_at(Seq(seq as u64)).unwrap();
        }
        host.user("go on");
    }
}

/// The generator must reach what the laws speak of: each kind taken in, each of these problems met.
#[test]
fn census_of_the_programs() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    use std::collections::{BTreeMap, BTreeSet};
    let mut runner = TestRunner::deterministic();
    let mut kinds = BTreeMap::<&str, u32>::new();
    let mut problems = BTreeSet::new();
    for _ in 0..150 {
        let program = program().new_tree(&mut runner).unwrap().current();
        let mut host = Host::new();
        for step in &program {
            if let Err(misfit) = run(&mut host, step) {
                let name = format!("{:?}", misfit.problem);
                problems.insert(name.split([' ', '(']).next().unwrap().to_owned());
            }
        }
        for event in &host.log {
            *kinds.entry(event.body.name()).or_default() += 1;
        }
    }
    let expected = [
        "message",
        "tool_result",
        "inject",
        "replace",
        "delete_range",
        "snip",
        "collapse_stage",
        "collapse_commit",
        "collapse_discard",
        "compact_plan",
        "compact_chunk",
        "compact_commit",
        "compact_abandon",
        "checkpoint",
        "system",
        "usage",
        "rollback",
        "undo",
    ];
    for kind in expected {
        assert!(
            kinds.get(kind).is_some_and(|times| *times >= 5),
            "{kind}: {kinds:?}"
        );
    }
    let expected = [
        "CallClosed",
        "CallElsewhere",
        "NoCall",
        "NotACall",
        "CutsFold",
        "EndNotShown",
        "SplitsUnit",
        "OpenCall",
        "NothingVisible",
        "Future",
        "NameUsed",
        "NothingPending",
        "PlanPending",
        "Committed",
        "NoChunk",
        "NotReplaceable",
        "NoBlock",
        "OffTimeline",
        "Undone",
        "NotUndoable",
        "RestsOn",
        "WentOn",
        "FewerTurns",
        "NoTurns",
        "NoCheckpoint",
        "NothingThatOld",
        "NoCause",
        "NotShown",
    ];
    for problem in expected {
        assert!(problems.contains(problem), "{problem}: {problems:?}");
    }
}

/// Programs per law; `RECOUNT_CASES` for more.
fn cases() -> u32 {
    std::env::var("RECOUNT_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(96)
}
