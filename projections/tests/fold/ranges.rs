//! Ranges, folds, snips: rules 2, 15, 16, 23, 24, 28, 39, 40.

use crate::host::*;
use recount_events::*;
use recount_projections::{Cause, MisfitKind::*, Problem, Suggest};

/// opened, u1, a2(r3), u4, a5, u6
fn talk() -> Host {
    let mut host = Host::new();
    host.user("one");
    host.answer(&["t1"]);
    host.result("t1", "r").unwrap();
    host.user("two");
    host.answer(&[]);
    host.user("three");
    host
}

#[test]
fn rule_02_a_range_is_all_content_between_its_ends() {
    let mut host = talk();
    host.usage("q", 1, 1).unwrap();
    host.snip(&[4]).unwrap();
    let commit = host
        .state
        .admit(event(Body::CompactCommit(compact_commit(closed(1, 5)))))
        .unwrap();
    assert_eq!(commit.covered(), Some(&Covered(vec![(Seq(1), Seq(5))])));
    host.compact(1, 5).unwrap();
    assert_eq!(host.view(), "s9[1-5] u6");
    assert_eq!(
        host.state.hidden_by(host.state.timeline(), Seq(4)),
        Some(Cause::Mask(Seq(9)))
    );
}

#[test]
fn rule_02_the_covered_runs_name_content_only() {
    let mut host = Host::new();
    host.user("one");
    host.usage("q", 1, 1).unwrap();
    host.checkpoint("c").unwrap();
    host.answer(&[]);
    host.user("two");
    host.compact(1, 4).unwrap();
    let Body::CompactCommit(commit) = &host.state.event(Seq(6)).unwrap().event.body else {
        panic!()
    };
    assert_eq!(
        commit.covered,
        Covered(vec![(Seq(1), Seq(1)), (Seq(4), Seq(4))])
    );
    assert_eq!(host.state.checkpoints().len(), 1);
}

#[test]
fn rule_02_ends_are_visible_content_or_folds_inside() {
    let mut host = talk();
    refused(host.compact(0, 3), Rejected, Problem::EndNotShown(Seq(0)));
    host.delete(1, 1).unwrap();
    refused(host.compact(1, 3), Rejected, Problem::EndNotShown(Seq(1)));
    refused(host.compact(1, 1), Rejected, Problem::NothingVisible);
    refused(
        host.compact(3, 2),
        Invalid,
        Problem::RangeReversed {
            first: Seq(3),
            last: Seq(2),
        },
    );
    refused(host.compact(2, 99), Rejected, Problem::Future(Seq(99)));
    host.compact(2, 3).unwrap();
    host.compact(2, 4).unwrap();
    assert_eq!(host.view(), "s9[2-4] a5 u6");
}

#[test]
fn rule_02_folds_go_whole() {
    let mut host = talk();
    host.compact(1, 3).unwrap();
    refused(host.delete(1, 1), Rejected, Problem::CutsFold(Seq(1)));
    refused(host.compact(3, 4), Rejected, Problem::CutsFold(Seq(1)));
    suggests(host.compact(3, 4), range(1, 4));
    suggests(host.compact(2, 5), range(1, 5));
    host.delete(1, 4).unwrap();
    assert_eq!(host.view(), "a5 u6");
}

#[test]
fn rule_02_units_go_whole_hidden_or_not() {
    let mut host = Host::new();
    host.user("one");
    host.answer(&["t1"]);
    host.user("meanwhile");
    host.result("t1", "r").unwrap();
    host.user("two");
    suggests(host.compact(1, 2), range(1, 4));
    suggests(host.compact(3, 5), range(2, 5));
    host.compact(3, 3).unwrap();
    assert_eq!(host.view(), "u1 a2(r4) s6[3-3] u5");
    host.snip(&[2, 4]).unwrap();
    suggests(host.compact(1, 3), range(1, 5));
    host.compact(1, 5).unwrap();
    assert_eq!(host.view(), "s8[1-5]");
}

#[test]
fn rule_02_no_open_call_is_covered() {
    let mut host = talk();
    host.answer(&["t2"]);
    host.user("four");
    suggests(host.compact(1, 8), range(1, 6));
    suggests(host.delete(7, 7), None);
    refused(host.snip(&[7]), Rejected, Problem::OpenCall(at(7, 1)));
    host.compact(1, 6).unwrap();
    assert_eq!(host.view(), "s9[1-6] a7(-) u8");
}

#[test]
fn rule_15_what_a_commit_hides_can_be_weighed_before_it_is_applied() {
    let host = talk();
    let commit = host
        .state
        .admit(event(Body::CompactCommit(compact_commit(closed(1, 3)))))
        .unwrap();
    assert_eq!(commit.covered(), Some(&Covered(vec![(Seq(1), Seq(3))])));
    assert_eq!(host.view(), "u1 a2(r3) u4 a5 u6");
}

#[test]
fn rule_16_keep_from_covers_the_hull_of_what_is_visible_before_it() {
    let mut host = talk();
    host.delete(1, 1).unwrap();
    host.keep_from(5).unwrap();
    assert_eq!(host.view(), "s8[2-4] a5 u6");
    let Body::CompactCommit(commit) = &host.state.event(Seq(8)).unwrap().event.body else {
        panic!()
    };
    assert_eq!(commit.range, closed(2, 4));
    host.keep_from(9).unwrap();
    assert_eq!(host.view(), "s9[2-6]");
}

#[test]
fn rule_16_keep_from_never_moves_silently() {
    let mut host = talk();
    suggests(host.keep_from(3), Some(Suggest::KeepFrom(Seq(2))));
    host.answer(&["t2"]);
    host.user("four");
    suggests(host.keep_from(9), Some(Suggest::KeepFrom(Seq(7))));
    refused(host.keep_from(1), Rejected, Problem::NothingVisible);
    refused(host.keep_from(99), Rejected, Problem::Future(Seq(99)));
    host.keep_from(7).unwrap();
    suggests(host.keep_from(4), Some(Suggest::KeepFrom(Seq(1))));
}

#[test]
fn rule_16_a_marker_covers_and_shows_nothing() {
    let mut host = talk();
    host.put(Body::CompactCommit(compact_commit(Range::Marker)))
        .unwrap();
    assert_eq!(host.view(), "u1 a2(r3) u4 a5 u6");
    let delete = DeleteRange {
        range: Range::Marker,
        cause: None,
        covered: Covered::default(),
    };
    refused(
        host.put(Body::DeleteRange(delete)),
        Invalid,
        Problem::MarkerForbidden,
    );
    let bare = CompactCommit {
        summary: None,
        ..compact_commit(closed(1, 3))
    };
    refused(
        host.put(Body::CompactCommit(bare)),
        Invalid,
        Problem::SummaryMissing,
    );
    let collapse = CollapseCommit {
        id: Text::plain("c"),
        range: None,
        summary: None,
        covered: Covered::default(),
    };
    refused(
        host.put(Body::CollapseCommit(collapse)),
        Rejected,
        Problem::NothingPending,
    );
}

#[test]
fn rule_23_undoing_a_fold_below_another_changes_nothing_until_the_outer_one_goes() {
    let mut host = talk();
    let inner = host.compact(1, 3).unwrap().0;
    let outer = host.compact(1, 4).unwrap().0;
    // The outer range still fits without the inner fold.
    host.undo(inner).unwrap();
    assert_eq!(host.view(), "s8[1-4] a5 u6");
    host.undo(outer).unwrap();
    assert_eq!(host.view(), "u1 a2(r3) u4 a5 u6");
}

#[test]
fn rule_24_names_live_once() {
    let mut host = talk();
    let stage = host.stage("c", 1, 3).unwrap();
    refused(host.stage("c", 4, 5), Rejected, Problem::NameUsed(stage));
    let commit = host.collapse("c").unwrap();
    assert_eq!(host.view(), "s8[1-3] u4 a5 u6");
    refused(host.collapse("c"), Rejected, Problem::NameUsed(commit));
    refused(host.discard("c"), Rejected, Problem::Committed(commit));
    host.undo(commit.0).unwrap();
    assert_eq!(host.state.timeline().work.stages.size(), 1);
    let discard = host.discard("c").unwrap();
    refused(host.collapse("c"), Rejected, Problem::NameUsed(discard));
    refused(host.discard("x"), Rejected, Problem::NothingPending);
    // On another timeline the name is free.
    host.back(6);
    host.stage("c", 4, 5).unwrap();
}

#[test]
fn rule_24_a_commit_checks_again_and_has_the_planned_range() {
    let mut host = talk();
    host.stage("c", 1, 3).unwrap();
    host.delete(1, 1).unwrap();
    refused(host.collapse("c"), Rejected, Problem::EndNotShown(Seq(1)));
    let other = CollapseCommit {
        id: Text::plain("c"),
        range: Some(closed(4, 5)),
        summary: None,
        covered: Covered::default(),
    };
    refused(
        host.put(Body::CollapseCommit(other)),
        Rejected,
        Problem::RangeDiffers {
            first: Seq(1),
            last: Seq(3),
        },
    );
}

#[test]
fn rule_24_one_plan_at_a_time() {
    let mut host = talk();
    let plan = host.plan("p", 1, 3).unwrap();
    refused(host.plan("q", 4, 5), Rejected, Problem::PlanPending(plan));
    refused(host.chunk("q", 0), Rejected, Problem::NothingPending);
    refused(host.chunk("p", 1), Rejected, Problem::NoChunk(1));
    host.chunk("p", 0).unwrap();
    refused(host.chunk("p", 0), Rejected, Problem::NoChunk(0));
    refused(
        host.commit_plan("p", 1, 4),
        Rejected,
        Problem::RangeDiffers {
            first: Seq(1),
            last: Seq(3),
        },
    );
    let commit = host.commit_plan("p", 1, 3).unwrap();
    assert_eq!(host.view(), "s9[1-3] u4 a5 u6");
    refused(host.plan("p", 4, 5), Rejected, Problem::NameUsed(commit));
    host.plan("q", 4, 5).unwrap();
    host.abandon("q").unwrap();
    refused(host.abandon("q"), Rejected, Problem::NothingPending);
    refused(
        host.commit_plan("q", 4, 5),
        Rejected,
        Problem::NameUsed(Seq(11)),
    );
}

#[test]
fn rule_28_snips_list_whole_units_of_visible_content() {
    let mut host = talk();
    suggests(
        host.snip(&[2]),
        Some(Suggest::Messages(vec![Seq(2), Seq(3)])),
    );
    suggests(
        host.snip(&[3, 6]),
        Some(Suggest::Messages(vec![Seq(2), Seq(3), Seq(6)])),
    );
    refused(host.snip(&[]), Invalid, Problem::Empty);
    refused(host.snip(&[1, 1]), Invalid, Problem::Repeated(Seq(1)));
    refused(host.snip(&[0]), Rejected, Problem::NotShown(Seq(0)));
    host.snip(&[3, 2]).unwrap();
    assert_eq!(host.view(), "u1 u4 a5 u6");
    refused(host.snip(&[1, 2]), Rejected, Problem::NotShown(Seq(2)));
    host.compact(4, 5).unwrap();
    refused(host.snip(&[4]), Rejected, Problem::NotShown(Seq(4)));
    let tail = host.inject("slot", "now", Lifetime::Tail).unwrap();
    refused(host.snip(&[tail.0]), Rejected, Problem::NotShown(tail));
}

#[test]
fn rule_39_a_deleted_fold_comes_back_as_its_summary() {
    let mut host = talk();
    host.compact(1, 3).unwrap();
    let delete = host.delete(1, 3).unwrap();
    assert_eq!(host.view(), "u4 a5 u6");
    assert_eq!(
        host.state.hidden_by(host.state.timeline(), Seq(7)),
        Some(Cause::Mask(delete))
    );
    host.undo(delete.0).unwrap();
    assert_eq!(host.view(), "s7[1-3] u4 a5 u6");
}

#[test]
fn rule_40_the_nearest_range_is_around_else_inside_else_none() {
    let mut host = talk();
    suggests(host.compact(3, 4), range(2, 4));
    suggests(host.compact(0, 1), range(1, 1));
    host.answer(&["t2"]);
    suggests(host.compact(3, 7), range(4, 6));
    suggests(host.compact(7, 7), None);
}

#[test]
fn rule_03_a_plan_binds_no_compaction_below_it() {
    for end in ["waits", "committed", "taken back", "abandoned"] {
        let (mut host, one) = compacted();
        let open = "u1 u2 u3 u7 u8";
        host.plan("two", 1, 7).unwrap();
        match end {
            "waits" => {}
            "abandoned" => drop(host.abandon("two").unwrap()),
            _ => {
                host.chunk("two", 0).unwrap();
                let two = host.commit_plan("two", 1, 7).unwrap().0;
                if end == "taken back" {
                    host.undo(two).unwrap();
                }
            }
        }
        let before = host.view();
        let undo = host.undo(one).unwrap().0;
        assert_eq!(
            host.view(),
            if end == "committed" { &before } else { open },
            "{end}"
        );
        let waits = host.state.timeline().work.waiting().is_some();
        assert_eq!(waits, end == "waits", "{end}");
        host.undo(undo).unwrap();
        assert_eq!(host.view(), before, "{end}");
        assert_eq!(view(host.replayed().timeline()), before, "{end}");
    }
}

#[test]
fn rule_03_the_range_of_a_plan_counts_while_it_waits() {
    for ends in [false, true] {
        let mut host = Host::new();
        let note = host.inject("a", "note", Lifetime::Once).unwrap().0;
        let last = host.user("one");
        host.user("two");
        let plan = host.plan("one", note, last).unwrap();
        if ends {
            host.abandon("one").unwrap();
            host.undo(note).unwrap();
        } else {
            let event = Seq(note);
            refused(
                host.undo(note),
                Rejected,
                Problem::RestsOn { event, by: plan },
            );
        }
    }
}

#[test]
fn rule_04_a_commit_comes_back_below_the_end_of_its_plan() {
    let (mut host, one) = compacted();
    let folded = host.view();
    let back = host.undo(one).unwrap().0;
    host.abandon("one").unwrap();
    host.undo(back).unwrap();
    assert_eq!(host.view(), folded);
    refused(
        host.commit_plan("one", 1, 3),
        Rejected,
        Problem::NameUsed(Seq(one)),
    );
}

/// Words 1 to 3 are folded by a plan; more words came behind. And the commit.
fn compacted() -> (Host, u64) {
    let mut host = Host::new();
    host.user("one");
    host.user("two");
    host.user("three");
    host.plan("one", 1, 3).unwrap();
    host.chunk("one", 0).unwrap();
    let commit = host.commit_plan("one", 1, 3).unwrap().0;
    host.user("four");
    host.user("five");
    (host, commit)
}
