//! What `prepare` compacts by itself: A1, A3, A5, A9, A15, C1, R5.

use super::desk::{Desk, SMALL, SUMMARY, bodies, text, word};
use crate::common::{Fixture, digest};
use recount::{CompactionHooks, Engine, Hooks, Notice, Options, PlanSeen, Veto, api};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Only summaries and staged spans: the other tiers have tests of their own. The trigger is at 9,000 tokens, 90 % at 16,200.
const AUTO: &str = r#"{"type":"policy","preset":"claude-code","params":{"snip":{"superseded_reads":false,"duplicates":false},"micro":{"idle_minutes":0,"cached":"none"}}}"#;

/// A desk whose prompt is over the trigger.
fn full() -> Desk {
    let desk = Desk::new(SMALL, AUTO);
    desk.talks(9, 250);
    let status = desk.session.status().unwrap();
    assert!(
        status.tokens.total > 9_000 && status.tokens.total < 16_000,
        "{status:?}"
    );
    desk
}

fn summaries(actions: &[api::Action]) -> Vec<String> {
    let asked = actions.iter().filter(|action| action.kind == "summarise");
    asked
        .map(|action| text(action.request.as_ref().unwrap()))
        .collect()
}

#[test]
fn a1_over_the_trigger_a_summary_is_asked_for_and_the_prompt_goes_out_all_the_same() {
    let below = Desk::new(SMALL, AUTO);
    below.talks(4, 200);
    let prepared = below.prepares();
    assert!(prepared.actions.is_empty(), "{:?}", prepared.tiers);
    let desk = full();
    let prepared = desk.prepares();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    let asked = summaries(&prepared.actions);
    assert_eq!(asked.len(), 1, "{:?}", prepared.tiers);
    assert_eq!(desk.logged("compact_plan")[0]["trigger"], "auto");
    // Asked once: the next prompt repeats the action, and plans nothing.
    let desk = desk.reopened();
    let again = desk.prepares();
    assert_eq!(summaries(&again.actions), asked);
    assert_eq!(desk.logged("compact_plan").len(), 1);
    let plan = again.actions[0].compaction.clone().unwrap();
    assert_eq!(desk.hands_in(&plan, 0, SUMMARY).outcome, "committed");
    let after = desk.prepares();
    assert!(after.actions.is_empty(), "{:?}", after.actions);
    assert!(desk.session.status().unwrap().tokens.total < 9_000);
}

#[test]
fn a3_what_is_asked_by_itself_keeps_the_sessions_own_prefix() {
    let thinker = r#"{"provider":"anthropic","model":"claude-test","wire":"anthropic","window":40000,"max_output":8000,"thinking":{"binds":false,"keeps":"all"},"params":{"thinking":{"type":"enabled","budget_tokens":2000}}}"#;
    let desk = Desk::new(thinker, AUTO);
    desk.talks(8, 400);
    let prepared = desk.prepares();
    let asked = summaries(&prepared.actions);
    assert_eq!(asked.len(), 1, "{:?}", prepared.tiers);
    let sent = text(prepared.prompt.request.as_ref().unwrap());
    let end = sent.find("and now?").unwrap() + "and now?".len();
    let end = end.min(asked[0].find("and now?").unwrap() + "and now?".len());
    let plain = |text: &str| -> String {
        // Cache marks are no part of what is compared: they are the engine's own.
        text.get(..end).unwrap().to_owned()
    };
    assert_eq!(plain(&asked[0]), plain(&sent));
    let body: serde_json::Value = serde_json::from_str(&asked[0]).unwrap();
    assert_eq!(body["thinking"]["type"], "enabled");
}

#[test]
fn a5_notes_that_cover_the_span_become_the_summary_at_no_cost() {
    let desk = Desk::new(SMALL, AUTO);
    desk.talks(9, 250);
    let last = desk.head();
    let note = json!({"type": "memory", "id": "n1", "text": "They counted birds all day.", "covers": [0, last], "scope": "session"});
    desk.session.append(&[&note.to_string()]).unwrap();
    let before = digest(&desk.session);
    let prepared = desk.prepares();
    assert!(
        summaries(&prepared.actions).is_empty(),
        "{:?}",
        prepared.tiers
    );
    let commit = &desk.logged("compact_commit")[0];
    assert_eq!(commit["boundary"]["by"], "memory");
    assert!(desk.body().contains("They counted birds all day."));
    let seq = commit["seq"].as_u64().unwrap();
    let desk = desk.reopened();
    desk.session.undo(seq).unwrap();
    assert_eq!(digest(&desk.session), before);
}

#[test]
fn a9_a_floor_above_the_trigger_is_told_once_and_not_tried() {
    let desk = Desk::new(SMALL, AUTO);
    let long = word(0).repeat(4_500);
    let system = |text: &str| json!({"type": "system", "content": text}).to_string();
    desk.session.append(&[&system(&long)]).unwrap();
    desk.talks(3, 60);
    let prepared = desk.prepares();
    let told: Vec<&api::Action> = prepared
        .actions
        .iter()
        .filter(|action| action.kind == "tell")
        .collect();
    assert_eq!(told.len(), 1, "{:?}", prepared.tiers);
    assert!(desk.session.status().unwrap().floor.latched);
    let id = told[0].id.clone();
    desk.session
        .done(api::Done {
            action: id,
            ..Default::default()
        })
        .unwrap();
    let desk = desk.reopened();
    assert!(desk.prepares().actions.is_empty(), "latched, and told");
    assert!(desk.logged("compact_plan").is_empty());
    let trips = desk.logged("breaker").len();
    desk.prepares();
    assert_eq!(desk.logged("breaker").len(), trips, "not again");
    // It lets go as soon as the floor is low enough.
    desk.session.append(&[&system("Be brief.")]).unwrap();
    desk.prepares();
    assert!(!desk.session.status().unwrap().floor.latched);
}

#[test]
fn a1_a_compaction_that_is_due_is_told_once() {
    let fixture = Fixture::new();
    let options = Options::default();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let ears = Arc::clone(&heard);
    options.notices.listen(move |notice| {
        if let Notice::CompactionDue {
            compaction,
            requests,
            ..
        } = notice
        {
            ears.lock().unwrap().push((compaction.clone(), *requests));
        }
    });
    let engine = Engine::open(fixture.path(), options).unwrap();
    let desk = Desk::on(fixture, &engine, SMALL, AUTO);
    desk.talks(9, 250);
    let prepared = desk.prepares();
    let plan = prepared.actions[0].compaction.clone().unwrap();
    desk.prepares();
    assert_eq!(*heard.lock().unwrap(), [(plan, 1)]);
}

struct Never;

impl CompactionHooks for Never {
    fn before_compact(&self, plan: &PlanSeen) -> Veto {
        Veto::Refuse(format!("not by {}", plan.trigger))
    }
}

#[test]
fn a15_a_veto_skips_what_is_proposed_by_itself_and_the_log_says_so() {
    let fixture = Fixture::new();
    let options = Options {
        hooks: Hooks::new(Never),
        ..Options::default()
    };
    let engine = Engine::open(fixture.path(), options).unwrap();
    let desk = Desk::on(fixture, &engine, SMALL, AUTO);
    desk.talks(9, 250);
    let prepared = desk.prepares();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    assert!(summaries(&prepared.actions).is_empty());
    let abandoned = desk.logged("compact_abandon");
    assert_eq!(abandoned[0]["reason"], "vetoed: not by auto");
    // Nothing came since: it is not asked again and again.
    desk.prepares();
    assert_eq!(desk.logged("compact_plan").len(), 1);
}

#[test]
fn c1_staged_spans_are_committed_when_the_window_fills_and_summaries_wait_for_them() {
    let stage = |desk: &Desk| {
        let asked: Vec<u64> = desk
            .logged("message")
            .iter()
            .filter(|event| event["role"] == "user")
            .map(|event| event["seq"].as_u64().unwrap())
            .collect();
        let stage = json!({"type": "collapse_stage", "id": "one", "first": asked[0], "last": asked[2] - 1, "summary": "the first two"});
        desk.session.append(&[&stage.to_string()]).unwrap();
    };
    // Between the trigger and 90 %: ⑤ is held back while ④ can help, and ④ waits.
    let desk = full();
    stage(&desk);
    let prepared = desk.prepares();
    assert!(
        desk.logged("collapse_commit").is_empty(),
        "{:?}",
        prepared.tiers
    );
    assert!(
        desk.logged("compact_plan").is_empty(),
        "{:?}",
        prepared.tiers
    );
    // At 90 % the span gives way.
    let desk = Desk::new(SMALL, AUTO);
    desk.talks(13, 300);
    stage(&desk);
    let total = desk.session.status().unwrap().tokens.total;
    assert!(total > 16_200 && total < 18_000, "{total}");
    let before = digest(&desk.session);
    desk.prepares();
    let commits = desk.logged("collapse_commit");
    assert_eq!(commits.len(), 1);
    assert!(desk.body().contains("the first two"));
    let after = digest(&desk.session);
    let desk = desk.reopened();
    assert_eq!(digest(&desk.session), after);
    for plan in desk.logged("compact_plan") {
        desk.session
            .abandon(plan["id"].as_str().unwrap(), "not this time")
            .unwrap();
    }
    desk.session
        .undo(commits[0]["seq"].as_u64().unwrap())
        .unwrap();
    assert_eq!(digest(&desk.session), before);
}

#[test]
fn r5_a_smaller_model_is_planned_for_at_the_next_prompt() {
    let wide = SMALL.replace("20000", "200000");
    let desk = Desk::new(&wide, AUTO);
    desk.talks(9, 250);
    assert!(desk.prepares().actions.is_empty());
    desk.answers("so it is");
    desk.says("go on with the small one");
    let profile: serde_json::Value = serde_json::from_str(SMALL).unwrap();
    let mut event = profile.as_object().unwrap().clone();
    event.insert("type".into(), json!("profile"));
    desk.session
        .append(&[&serde_json::Value::Object(event).to_string()])
        .unwrap();
    let prepared = desk.prepares();
    assert_eq!(prepared.prompt.outcome, api::Outcome::Ready);
    assert_eq!(
        summaries(&prepared.actions).len(),
        1,
        "{:?}",
        prepared.tiers
    );
}

#[test]
fn a_model_that_never_answers_leaves_the_requests_as_they_are() {
    let desk = full();
    let asked = summaries(&desk.prepares().actions);
    desk.answers("fine");
    desk.says("and?");
    let desk = desk.reopened();
    let again = desk.prepares();
    assert_eq!(summaries(&again.actions), asked);
    let plan = desk.session.compact(api::Compact::default()).unwrap();
    assert_ne!(
        bodies(&plan.requests),
        asked,
        "a person's ask takes its place"
    );
    assert_eq!(desk.logged("compact_abandon")[0]["reason"], "superseded");
}
