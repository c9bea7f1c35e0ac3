//! A9: breakers, what trips them, what lets them go.

use super::common::Host;
use super::talk::*;
use recount_events::{Body, CompactAbandon, Event, Millis, Seq, Text, Trigger, escape};
use recount_policies::compact::{self, Ask, propose};

fn full() -> Host {
    let mut host = window(8_000, SMALL);
    fill(&mut host, 6_500, 800);
    host
}

fn fails(host: &mut Host) {
    let events = compact::failed(&host.view().at());
    for proposed in events {
        host.put(proposed.body);
    }
}

fn one(name: &str, state: &str, value: u64) -> Vec<(String, String, u64)> {
    vec![(name.to_owned(), state.to_owned(), value)]
}

#[test]
fn a9_the_third_failure_in_a_row_stops_it_for_the_session() {
    let mut host = full();
    fails(&mut host);
    fails(&mut host);
    assert!(plan_in(&host.asks(propose)).is_some());
    fails(&mut host);
    let stopped = host.asks(propose);
    assert!(stopped.is_empty() && stopped.did.contains("failed"));
    assert!(host.reopened().asks(propose).is_empty());
    // It counts on no further.
    assert!(compact::failed(&host.view().at()).is_empty());
    // Overflow and the person are not hindered.
    let ask = Ask {
        trigger: Trigger::Overflow,
        ..Ask::default()
    };
    assert!(plan(&host, &ask).is_ok());
    assert!(
        plan(
            &host,
            &Ask {
                whole: true,
                ..Ask::default()
            }
        )
        .is_ok()
    );
}

#[test]
fn a9_a_success_in_between_counts_from_zero_again() {
    let mut host = full();
    fails(&mut host);
    fails(&mut host);
    let planned = host.runs(propose);
    let plan = plan_in(&planned).unwrap();
    host.accept(&committed(&host, &plan, "short"));
    fill(&mut host, 6_500, 800);
    fails(&mut host);
    fails(&mut host);
    assert!(plan_in(&host.asks(propose)).is_some());
    fails(&mut host);
    assert!(host.asks(propose).is_empty());
}

#[test]
fn a9_a_manual_compaction_a_new_policy_and_a_new_profile_let_it_go() {
    let mut stopped = full();
    (0..3).for_each(|_| fails(&mut stopped));
    assert!(stopped.asks(propose).is_empty());

    let mut host = stopped.clone();
    let ask = Ask {
        whole: true,
        ..Ask::default()
    };
    compacts(&mut host, &ask, "short");
    fill(&mut host, 6_500, 800);
    assert!(plan_in(&host.asks(propose)).is_some());

    let mut host = stopped.clone();
    host.policy("claude-code", SMALL);
    let proposal = host.runs(propose);
    assert!(plan_in(&proposal).is_some());
    assert_eq!(
        breakers_in(&proposal.events),
        one("compaction", "Releases", 3)
    );
    let mut host = stopped.clone();
    host.profile(r#"{"window":8001,"max_output":800}"#);
    assert!(plan_in(&host.asks(propose)).is_some());
}

#[test]
fn a9_the_undo_of_a_release_stops_it_again() {
    let mut host = full();
    (0..3).for_each(|_| fails(&mut host));
    let ask = Ask {
        whole: true,
        ..Ask::default()
    };
    let commit = compacts(&mut host, &ask, "short");
    let release = host.head();
    assert!(release > commit);
    fill(&mut host, 6_500, 800);
    assert!(plan_in(&host.asks(propose)).is_some());
    host.undo(release);
    assert!(host.asks(propose).is_empty());
}

/// A model that always fails is not asked for ever, though the prompt was made smaller without it.
#[test]
fn a9_a_summary_without_a_model_does_not_count_as_a_success() {
    let mut host = full();
    for failure in 0..3 {
        assert!(plan_in(&host.asks(propose)).is_some(), "{failure}");
        fails(&mut host);
        let ask = Ask {
            trigger: Trigger::Auto,
            ..Ask::default()
        };
        let fold = compact::by_rule(&host.view().at(), &ask).unwrap();
        host.accept(&fold);
        // More than three responses, so that it is no refill.
        fill(&mut host, 6_500, 300);
    }
    assert!(host.asks(propose).is_empty());
}

/// A summary that leaves a window of 6,200 tokens no room: with what is kept it stands just under the trigger.
const LONG: usize = 5_500;

/// Compacts with a summary of so many tokens; what the breakers made of it.
#[track_caller]
fn folds(host: &mut Host, tokens: usize) -> Vec<(String, String, u64)> {
    let weighed = host.view().at().weighed();
    let proposal = host.runs(propose);
    let plan = plan_in(&proposal).unwrap_or_else(|| panic!("at {weighed}: {}", proposal.did));
    let commit = committed(host, &plan, &words(tokens / plan.chunks.len()));
    assert!(!commit.is_empty(), "at {weighed}: {}", commit.did);
    host.accept(&commit);
    breakers_in(&proposal.events)
}

/// A window that is full again within three responses with hardly anything new, three times.
#[test]
fn a9_three_refills_right_after_stop_it() {
    let mut host = full();
    for refill in 0..3 {
        let counted = folds(&mut host, LONG);
        match refill {
            0 => assert_eq!(counted, vec![]),
            count => assert_eq!(counted, one("refill", "Counts", count)),
        }
        turn(&mut host, refill as usize, 800);
    }
    let proposal = host.runs(propose);
    assert_eq!(breakers_in(&proposal.events), one("refill", "Trips", 3));
    assert!(plan_in(&proposal).is_none());
    assert!(host.asks(propose).is_empty());
    assert!(host.reopened().asks(propose).is_empty());
}

/// However little a compaction lasts: what the host put in is work, and no compaction is to blame for it.
#[test]
fn a9_a_window_that_is_filled_by_work_is_no_refill() {
    for (turns, tokens) in [(1, 6_000), (1, 8_000), (2, 3_000), (6, 1_000)] {
        let mut host = full();
        for round in 0..12 {
            assert_eq!(
                folds(&mut host, 100),
                vec![],
                "{turns} of {tokens}: {round}"
            );
            (0..turns).for_each(|number| {
                turn(&mut host, number, tokens);
            });
        }
    }
}

/// A sixth of the prompt is new, and it is work; a seventh, and it is a refill. The share is the policy's own.
#[test]
fn a9_how_much_of_the_prompt_has_to_be_new_is_a_number_of_the_policy() {
    let counted = |percent: u64, new: usize| {
        let own = format!(r#""refill_percent":{percent},"keep_tokens":1"#);
        let compact = SMALL.replacen(r#""keep_tokens":300"#, &own, 1);
        let mut host = window(8_000, &compact);
        fill(&mut host, 6_500, 800);
        folds(&mut host, 4_000);
        let mut view = host.view();
        let before = view.at().weighed();
        turn(&mut host, 1, new);
        view = host.view();
        let share = (view.at().weighed() - before) * 100 / view.at().weighed();
        // Whatever the sum: the trigger is reached.
        view.fill.total = view.lines.trigger;
        (share, propose(&view.at()))
    };
    for new in (100..2_000).step_by(100) {
        for percent in [5, 15, 30] {
            let (share, proposal) = counted(percent, new);
            let breakers = breakers_in(&proposal.events);
            if share + 1 < percent {
                assert_eq!(
                    breakers,
                    one("refill", "Counts", 1),
                    "{new} {percent} {}",
                    proposal.did
                );
            } else if share > percent + 1 {
                assert_eq!(breakers, vec![], "{new} {percent}");
            }
        }
    }
}

/// What a compaction brought back is not new: it is what leaves no room.
#[test]
fn a9_what_came_back_is_no_work() {
    let mut host = full();
    folds(&mut host, 3_000);
    turn(&mut host, 1, 400);
    let commit = (0..=host.head())
        .rev()
        .map(Seq)
        .find(|seq| matches!(host.log[seq.0 as usize].body, Body::CompactCommit(_)))
        .unwrap();
    let text = escape(&words(3_000));
    let mut own = host.clone();
    own.log(&format!(
        r#"{{"type":"inject","slot":"file:a","content":{text}}}"#
    ));
    assert_eq!(breakers_in(&own.asks(propose).events), vec![]);
    let Body::Inject(inject) = own.log.last().unwrap().body.clone() else {
        panic!("an injection")
    };
    host.take(Event {
        at: Millis(host.now),
        body: Body::Inject(inject),
        because: Some(commit),
        extra: None,
    });
    assert_eq!(
        breakers_in(&host.asks(propose).events),
        one("refill", "Counts", 1)
    );
}

/// What a level leaves is what could not go, and says nothing of this tier.
#[test]
fn a9_what_a_level_left_is_no_refill() {
    let mut host = full();
    for round in 0..4 {
        let ask = Ask {
            trigger: Trigger::Overflow,
            level: 1,
            ..Ask::default()
        };
        let fold = compact::by_rule(&host.view().at(), &ask).unwrap();
        host.accept(&fold);
        turn(&mut host, round, 400);
        let mut view = host.view();
        view.fill.total = view.lines.trigger;
        let proposal = propose(&view.at());
        assert!(plan_in(&proposal).is_some(), "{round}: {}", proposal.did);
        assert_eq!(breakers_in(&proposal.events), vec![], "{round}");
    }
}

#[test]
fn a9_a_longer_stretch_in_between_counts_from_zero_again() {
    let mut host = full();
    assert_eq!(folds(&mut host, LONG), vec![]);
    turn(&mut host, 1, 800);
    assert_eq!(folds(&mut host, LONG), one("refill", "Counts", 1));
    // Three responses after a commit are still right after it, four are not: a turn has two.
    turn(&mut host, 1, 100);
    host.answers("a third");
    host.answers("a fourth");
    host.says(&words(600));
    assert_eq!(folds(&mut host, LONG), one("refill", "Counts", 0));
    turn(&mut host, 1, 100);
    host.answers("a third");
    host.says(&words(600));
    assert_eq!(folds(&mut host, LONG), one("refill", "Counts", 1));
    // So does work.
    turn(&mut host, 1, 3_000);
    assert_eq!(folds(&mut host, LONG), one("refill", "Counts", 0));
}

#[test]
fn a9_a_refill_is_counted_once_for_each_commit() {
    let mut host = full();
    folds(&mut host, LONG);
    turn(&mut host, 1, 800);
    let again = plan_in(&host.runs(propose)).unwrap();
    host.put(Body::CompactAbandon(CompactAbandon {
        id: again.id,
        reason: Text::plain("busy"),
    }));
    host.says("go on");
    let third = host.runs(propose);
    assert!(plan_in(&third).is_some());
    assert_eq!(breakers_in(&third.events), vec![]);
}

#[test]
fn a9_a_floor_above_the_trigger_is_latched_once() {
    let mut host = full();
    let mut view = host.view();
    view.fill.floor = view.lines.trigger - 1;
    assert!(plan_in(&propose(&view.at())).is_some());
    view.fill.floor = view.lines.trigger;
    let floor = view.fill.floor;
    let latched = propose(&view.at());
    assert_eq!(breakers_in(&latched.events), one("floor", "Trips", floor));
    host.accept(&latched);
    let mut view = host.view();
    view.fill.floor = floor + 10;
    assert!(propose(&view.at()).is_empty());
    // As soon as the floor is under the trigger again, also below it.
    let mut view = host.view();
    view.fill.floor = 10;
    view.fill.total = 20;
    let released = propose(&view.at());
    assert_eq!(
        breakers_in(&released.events),
        one("floor", "Releases", floor)
    );
    let mut view = host.view();
    view.fill.floor = 10;
    assert!(plan_in(&propose(&view.at())).is_some());
}

#[test]
fn a9_what_was_given_up_waits_for_something_new() {
    let mut host = full();
    let plan = plan_in(&host.runs(propose)).unwrap();
    host.put(Body::CompactAbandon(CompactAbandon {
        id: plan.id,
        reason: Text::plain("not now"),
    }));
    let held = host.asks(propose);
    assert!(held.is_empty() && held.did.contains("held back"));
    host.log(r#"{"type":"inject","slot":"note","content":"x"}"#);
    assert!(host.asks(propose).is_empty());
    let mut by_person = host.clone();
    by_person.says("go on");
    assert!(plan_in(&by_person.asks(propose)).is_some());
    host.answers("on it");
    assert!(plan_in(&host.asks(propose)).is_some());
}
