//! Positions, undo, rollback, targets, causes, forks, batches: rules 1, 3 to 6, 17 to 20, 22, 33, 34.

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

fn profile(model: &str) -> Body {
    Body::Profile(Profile {
        provider: Text::plain("anthropic"),
        model: Text::plain(model),
        wire: Wire::Anthropic,
        window: 200_000,
        max_output: 8_000,
        overhead_tokens: 0,
        body_bytes: 0,
        images_count: 0,
        images_bytes: 0,
        images_pixels: 0,
        prefill: false,
        thinking: Thinking::default(),
        system_role: false,
        cache_edits: false,
        params: None,
        headers: None,
    })
}

#[test]
fn rule_01_positions_are_dense_and_a_fork_goes_on_with_them() {
    let mut host = talk();
    assert_eq!(host.state.head(), Some(Seq(6)));
    let mut fork = Host {
        state: host.state.fork(Seq(4)).unwrap(),
        ..Host::default()
    };
    let forked = |seq: u64| {
        Body::Forked(Forked {
            session: Text::plain("f"),
            from: Text::plain("s"),
            seq: Seq(seq),
            digest: Digest([0; 32]),
        })
    };
    refused(
        fork.put(forked(3)),
        Rejected,
        Problem::ForkMisplaced(Seq(3)),
    );
    assert_eq!(fork.put(forked(4)).unwrap(), Seq(5));
    assert_eq!(fork.user("here"), 6);
    assert_eq!(host.user("there"), 7);
    assert_eq!(fork.view(), "u1 a2(r3) u4 u6");
    assert_eq!(host.view(), "u1 a2(r3) u4 a5 u6 u7");
    assert_eq!(fork.view_at(3), "u1 a2(r3)");
    assert!(fork.state.event(Seq(7)).is_none());
}

#[test]
fn rule_03_undo_keeps_what_came_later() {
    let mut host = talk();
    let fold = host.compact(1, 3).unwrap().0;
    host.user("four");
    host.undo(fold).unwrap();
    assert_eq!(host.view(), "u1 a2(r3) u4 a5 u6 u8");
}

#[test]
fn rule_03_undo_of_what_others_rest_on_names_them_newest_first() {
    let mut host = talk();
    // Two folds whose ends are only shown because of an undo.
    let gone = host.delete(1, 1).unwrap().0;
    let back = host.undo(gone).unwrap().0;
    let inner = host.compact(1, 3).unwrap();
    let outer = host.compact(1, 4).unwrap();
    suggests(host.undo(back), Some(Suggest::Undos(vec![outer, inner])));
    host.undo(outer.0).unwrap();
    host.undo(inner.0).unwrap();
    host.undo(back).unwrap();
    assert_eq!(host.view(), "a2(r3) u4 a5 u6");
}

#[test]
fn rule_03_nothing_to_undo_first_when_a_message_rests_on_it() {
    let mut host = Host::new();
    host.user("one");
    host.part("m", &[]);
    let gone = host.delete(2, 2).unwrap().0;
    let back = host.undo(gone).unwrap().0;
    host.part("m", &[]);
    assert_eq!(host.view(), "u1 a2+5");
    suggests(host.undo(back), None);
}

#[test]
fn rule_04_undo_of_undo_to_any_depth() {
    let mut host = talk();
    let fold = host.compact(1, 3).unwrap().0;
    let (folded, open) = ("s7[1-3] u4 a5 u6", "u1 a2(r3) u4 a5 u6");
    let mut last = fold;
    for depth in 0..5 {
        assert_eq!(host.view(), if depth % 2 == 0 { folded } else { open });
        last = host.undo(last).unwrap().0;
    }
    assert_eq!(host.view(), open);
    host.back(last - 1);
    assert_eq!(host.view(), folded);
}

#[test]
fn rule_04_an_event_that_is_back_is_back_at_its_own_place() {
    let mut host = Host::new();
    let first = host.put(profile("a")).unwrap().0;
    let second = host.put(profile("b")).unwrap().0;
    let model = |host: &Host| {
        host.state
            .timeline()
            .header
            .profile
            .as_ref()
            .map(|logged| logged.seq.0)
    };
    let gone = host.undo(first).unwrap().0;
    host.undo(gone).unwrap();
    assert_eq!(model(&host), Some(second));
    host.undo(second).unwrap();
    assert_eq!(model(&host), Some(first));
}

#[test]
fn rule_05_undo_of_a_rollback_while_only_the_ledger_followed() {
    let mut host = talk();
    let back = host.back(3);
    host.usage("q", 1, 1).unwrap();
    host.undo(back).unwrap();
    assert_eq!(host.view(), "u1 a2(r3) u4 a5 u6");
    // The undo is a rollback itself, and can be undone like one.
    let undo = host.state.head().unwrap().0;
    host.undo(undo).unwrap();
    assert_eq!(host.view(), "u1 a2(r3)");
    host.user("else");
    let again = host.back(3);
    host.user("else");
    suggests(host.undo(again), Some(Suggest::Rollback(Seq(again - 1))));
}

#[test]
fn rule_06_what_cannot_be_undone() {
    let mut host = talk();
    refused(host.undo(1), Rejected, Problem::NotUndoable(Seq(1)));
    refused(host.undo(0), Rejected, Problem::NotUndoable(Seq(0)));
    refused(host.undo(99), Rejected, Problem::Future(Seq(99)));
    let fold = host.compact(1, 3).unwrap();
    let undo = host.undo(fold.0).unwrap();
    refused(
        host.undo(fold.0),
        Rejected,
        Problem::Undone {
            event: fold,
            by: undo,
        },
    );
    host.back(6);
    refused(host.undo(fold.0), Rejected, Problem::OffTimeline(fold));
    // Rolling back past an undo revives its target.
    host.back(fold.0);
    assert_eq!(host.view(), "s7[1-3] u4 a5 u6");
    host.undo(fold.0).unwrap();
    assert_eq!(host.view(), "u1 a2(r3) u4 a5 u6");
}

#[test]
fn rule_17_rollback_by_time_takes_the_last_event_that_is_not_later() {
    let mut host = Host::default();
    let say = |host: &mut Host, time| {
        host.put_at(Body::Message(message(Role::User, words("x"))), time)
            .unwrap()
    };
    for time in [10, 50, 20, 20, 60] {
        say(&mut host, time);
    }
    let resolve = |host: &Host, time| host.state.resolve(&Target::Time(Millis(time)));
    let found = resolve(&host, 20).unwrap();
    assert_eq!((found.to, found.at, found.skipped), (Seq(3), Millis(20), 1));
    let found = resolve(&host, 59).unwrap();
    assert_eq!((found.to, found.skipped), (Seq(3), 0));
    assert_eq!(resolve(&host, 15).unwrap().to, Seq(0));
    assert_eq!(resolve(&host, 9).unwrap_err().kind, NotFound);
    assert_eq!(resolve(&host, 99).unwrap().to, Seq(4));
    // Rollbacks do not count; what they took away neither.
    host.put_at(
        Body::Rollback(Rollback {
            asked: Target::Seq(Seq(1)),
            to: None,
        }),
        15,
    )
    .unwrap();
    assert_eq!(resolve(&host, 15).unwrap().to, Seq(0));
    assert_eq!(resolve(&host, 99).unwrap().to, Seq(1));
}

#[test]
fn rule_18_turns_are_what_the_person_authored_folded_or_not() {
    let mut host = talk();
    host.compact(1, 4).unwrap();
    host.snip(&[6]).unwrap();
    assert_eq!(host.state.turns(), [Seq(1), Seq(4), Seq(6)]);
    let to = |host: &Host, turns| {
        host.state
            .resolve(&Target::Turns(turns))
            .map(|resolved| resolved.to.0)
    };
    assert_eq!(to(&host, 1).unwrap(), 5);
    assert_eq!(to(&host, 3).unwrap(), 0);
    refused(host.rollback(Target::Turns(0)), Invalid, Problem::NoTurns);
    refused(
        host.rollback(Target::Turns(4)),
        NotFound,
        Problem::FewerTurns { there: 3 },
    );
    host.inject("slot", "x", Lifetime::Once).unwrap();
    let by_host = Message {
        authored: Some(false),
        ..message(Role::User, words("beep"))
    };
    host.put(Body::Message(by_host)).unwrap();
    assert_eq!(host.state.turns().len(), 3);
    host.rollback(Target::Turns(2)).unwrap();
    assert_eq!(host.view(), "u1 a2(r3)");
    let fork = host.state.fork(host.state.head().unwrap()).unwrap();
    assert_eq!(fork.turns(), [Seq(1)]);
}

#[test]
fn rule_19_the_newest_checkpoint_of_the_label_on_the_timeline() {
    let mut host = talk();
    let first = host.checkpoint("x").unwrap();
    host.user("four");
    let second = host.checkpoint("x").unwrap();
    let target = || Target::Checkpoint(Text::plain("x"));
    assert_eq!(host.state.resolve(&target()).unwrap().to, second);
    host.undo(second.0).unwrap();
    assert_eq!(host.state.resolve(&target()).unwrap().to, first);
    host.rollback(target()).unwrap();
    // Its own position: it survives.
    assert_eq!(host.state.resolve(&target()).unwrap().to, first);
    host.back(3);
    let misfit = host.rollback(target()).unwrap_err();
    assert_eq!(
        (misfit.kind, misfit.problem),
        (NotFound, Problem::NoCheckpoint)
    );
    assert_eq!(misfit.suggest, Some(Suggest::Seq(second)));
}

#[test]
fn rule_20_any_position_up_to_the_head_is_a_target() {
    let mut host = talk();
    refused(
        host.rollback(Target::Seq(Seq(7))),
        Rejected,
        Problem::Future(Seq(7)),
    );
    host.back(6);
    host.back(2);
    assert_eq!(host.view(), "u1 a2(-)");
    assert_eq!(host.state.open_calls().len(), 1);
    host.back(5);
    assert_eq!(host.view(), "u1 a2(r3) u4 a5");
    host.plan("p", 1, 3).unwrap();
    host.back(5);
    refused(host.chunk("p", 0), Rejected, Problem::NothingPending);
    host.back(10);
    host.chunk("p", 0).unwrap();
    for seq in 0..=host.state.head().unwrap().0 {
        host.state.timeline_at(Seq(seq)).unwrap();
    }
}

#[test]
fn rule_22_one_cause_and_the_way_back() {
    let mut host = talk();
    let inner = host.compact(1, 3).unwrap();
    let outer = host.compact(1, 4).unwrap();
    let cause = |host: &Host, seq: u64| host.state.hidden_by(host.state.timeline(), Seq(seq));
    assert_eq!(cause(&host, 2), Some(Cause::Mask(outer)));
    assert_eq!(cause(&host, inner.0), Some(Cause::Mask(outer)));
    assert_eq!(cause(&host, 5), None);
    let undo = host.undo(outer.0).unwrap();
    assert_eq!(cause(&host, 2), Some(Cause::Mask(inner)));
    assert_eq!(cause(&host, outer.0), Some(Cause::Undo(undo)));
    let first = host.back(3);
    assert_eq!(cause(&host, 5), Some(Cause::Rollback(Seq(first))));
    host.back(5);
    assert_eq!(cause(&host, 5), None);
    let second = host.back(4);
    host.back(3);
    assert_eq!(cause(&host, 5), Some(Cause::Rollback(Seq(second))));
    let past = host.state.timeline_at(Seq(3)).unwrap();
    assert_eq!(host.state.hidden_by(&past, Seq(5)), Some(Cause::Later));
}

#[test]
fn rule_22_superseded_and_replaced() {
    let mut host = Host::new();
    host.put(profile("a")).unwrap();
    host.put(profile("b")).unwrap();
    host.user("one");
    let tail = host.inject("s", "x", Lifetime::Tail).unwrap();
    let newer = host.inject("s", "y", Lifetime::Tail).unwrap();
    let replace = host.replace(at(3, 0), "uno").unwrap();
    let cause = |seq: u64| host.state.hidden_by(host.state.timeline(), Seq(seq));
    assert_eq!(cause(1), Some(Cause::Superseded(Seq(2))));
    assert_eq!(cause(tail.0), Some(Cause::Superseded(newer)));
    assert_eq!(cause(3), Some(Cause::Replaced(replace)));
    assert_eq!(cause(newer.0), None);
}

#[test]
fn rule_33_a_fork_inherits_the_timeline_and_no_ledger() {
    let mut host = talk();
    host.usage("q", 100, 10).unwrap();
    host.plan("p", 1, 3).unwrap();
    host.back(3);
    let fork = host.state.fork(Seq(8)).unwrap();
    assert!(fork.timeline().work.plan.is_some());
    assert_eq!(fork.ledger().totals.input, 0);
    assert_eq!(host.state.ledger().totals.input, 100);
    // Below its origin, and onto a branch that the parent left.
    let mut fork = Host {
        state: fork,
        ..Host::default()
    };
    fork.back(2);
    assert_eq!(fork.view(), "u1 a2(-)");
    assert!(host.state.fork(Seq(99)).is_err());
}

#[test]
fn rule_34_a_batch_is_judged_event_by_event_and_costs_nothing_when_refused() {
    let mut host = talk();
    let mut batch = host.clone();
    let fold = batch.compact(1, 3).unwrap().0;
    let undo = batch.undo(fold).unwrap().0;
    batch.back(fold);
    batch.undo(undo).expect_err("it was rolled back");
    assert_eq!(host.view(), "u1 a2(r3) u4 a5 u6");
    assert_eq!(host.user("next"), fold);
}

#[test]
fn an_event_admitted_elsewhere_is_judged_again() {
    let mut host = talk();
    let stale = host
        .state
        .admit(event(Body::CompactCommit(compact_commit(closed(1, 3)))))
        .unwrap();
    let twin = stale.clone();
    host.state.apply(stale);
    let applied = host.state.apply(twin);
    assert_eq!(applied.seq, Seq(8));
    assert_eq!(host.view(), "s8[1-3] u4 a5 u6");
    let undo = host
        .state
        .admit(event(Body::Undo(Undo {
            event: Seq(8),
            to: None,
        })))
        .unwrap();
    host.state.apply(undo.clone());
    host.state.apply(undo);
    assert_eq!(host.view(), "s7[1-3] u4 a5 u6");
    assert_eq!(host.state.skipped().count(), 1);
}

#[test]
fn rule_03_what_comes_back_into_a_range_was_not_covered_by_it() {
    let mut host = Host::new();
    host.user("one");
    let inject = host.inject("a", "note", Lifetime::Once).unwrap().0;
    host.user("two");
    let gone = host.undo(inject).unwrap().0;
    host.compact(1, 3).unwrap();
    assert_eq!(host.view(), "s5[1-3]");
    host.undo(gone).unwrap();
    assert_eq!(host.view(), "s5[1-3] i2");
    host.undo(5).unwrap();
    assert_eq!(host.view(), "u1 i2 u3");
}

#[test]
fn rule_22_what_rests_on_an_undo_that_a_foreign_log_made_has_it_as_its_cause() {
    let mut host = Host::new();
    host.user("look");
    let system = host.put(Body::System(System {
        content: words("be brief"),
    }));
    let system = system.unwrap().0;
    host.put_because(Body::Message(response(None, &["t1"])), system)
        .unwrap();
    host.result("t1", "seen").unwrap();
    let misfit = host.undo(system).unwrap_err();
    assert!(matches!(misfit.problem, Problem::RestsOn { .. }));
    let undo = event(Body::Undo(Undo {
        event: Seq(system),
        to: None,
    }));
    let log = host.log.iter().cloned().chain([undo]).map(Ok);
    let state = recount_projections::replay(log);
    let by = state.head().unwrap();
    for seq in [3, 4].map(Seq) {
        assert!(!state.timeline().visible(seq));
        let cause = state.hidden_by(state.timeline(), seq);
        assert_eq!(cause, Some(Cause::Undo(by)), "{seq}");
    }
}
