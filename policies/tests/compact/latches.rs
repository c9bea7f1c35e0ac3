//! A9: breakers, what trips them, what lets them go.

use super::common::Host;
use super::talk::*;
use recount_events::{Body, CompactAbandon, Text, Trigger};
use recount_policies::compact::{self, Ask, propose};

fn full() -> Host {
    let mut host = window(8_000, SMALL);
    fill(&mut host, 6_500, 800);
    host
}

fn fails(host: &mut Host) {
    let events = compact::failed(&host.view().at(), "no answer");
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
    assert!(compact::failed(&host.view().at(), "again").is_empty());
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

/// A window that is full again within three responses, three times.
#[test]
fn a9_three_refills_right_after_stop_it() {
    let mut host = full();
    for refill in 0..3 {
        let proposal = host.runs(propose);
        let counted = breakers_in(&proposal.events);
        match refill {
            0 => assert_eq!(counted, vec![]),
            count => assert_eq!(counted, one("refill", "Counts", count)),
        }
        let plan = plan_in(&proposal).unwrap();
        host.accept(&committed(&host, &plan, "short"));
        turn(&mut host, refill as usize, 8_000);
    }
    let proposal = host.runs(propose);
    assert_eq!(breakers_in(&proposal.events), one("refill", "Trips", 3));
    assert!(plan_in(&proposal).is_none());
    assert!(host.asks(propose).is_empty());
    assert!(host.reopened().asks(propose).is_empty());
}

#[test]
fn a9_a_longer_stretch_in_between_counts_from_zero_again() {
    let mut host = full();
    let fold = |host: &mut Host| {
        let proposal = host.runs(propose);
        let plan = plan_in(&proposal).unwrap();
        host.accept(&committed(host, &plan, "short"));
        breakers_in(&proposal.events)
    };
    assert_eq!(fold(&mut host), vec![]);
    turn(&mut host, 1, 8_000);
    assert_eq!(fold(&mut host), one("refill", "Counts", 1));
    // Three responses after a commit are still right after it, four are not: a turn has two.
    turn(&mut host, 1, 100);
    host.answers("a third");
    host.answers("a fourth");
    host.says(&words(8_000));
    assert_eq!(fold(&mut host), one("refill", "Counts", 0));
    turn(&mut host, 1, 100);
    host.answers("a third");
    host.says(&words(8_000));
    assert_eq!(fold(&mut host), one("refill", "Counts", 1));
}

#[test]
fn a9_a_refill_is_counted_once_for_each_commit() {
    let mut host = full();
    let plan = plan_in(&host.runs(propose)).unwrap();
    host.accept(&committed(&host, &plan, "short"));
    turn(&mut host, 1, 8_000);
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
