//! A15: the host's hooks: a veto before, attachments after; over the wire by `abandon` and `because`.

use super::desk::{Desk, NONE, SUMMARY, THINKER};
use crate::common::{Fixture, digest};
use recount::{
    CommitSeen, CompactionHooks, Engine, ErrorKind, Hooks, Options, PlanSeen, Veto, api,
};
use std::sync::{Arc, Mutex};

/// What the hooks of a test saw, and what they say.
#[derive(Clone, Default)]
struct Ears {
    veto: Option<String>,
    attach: Vec<String>,
    plans: Arc<Mutex<Vec<PlanSeen>>>,
    commits: Arc<Mutex<Vec<CommitSeen>>>,
    panics: bool,
}

impl CompactionHooks for Ears {
    fn before_compact(&self, plan: &PlanSeen) -> Veto {
        self.plans.lock().unwrap().push(plan.clone());
        assert!(!self.panics, "a hook that panics");
        self.veto.clone().map_or(Veto::Allow, Veto::Refuse)
    }

    fn after_compact(&self, commit: &CommitSeen) -> Vec<String> {
        self.commits.lock().unwrap().push(commit.clone());
        self.attach.clone()
    }
}

fn desk(ears: &Ears) -> Desk {
    desk_of(ears, THINKER, NONE, 40)
}

fn desk_of(ears: &Ears, profile: &str, policy: &str, words: usize) -> Desk {
    let fixture = Fixture::new();
    let options = Options {
        hooks: Hooks::new(ears.clone()),
        ..Options::default()
    };
    let engine = Engine::open(fixture.path(), options).unwrap();
    let desk = Desk::on(fixture, &engine, profile, policy);
    desk.talks(6, words);
    desk
}

#[test]
fn a15_a_veto_refuses_what_a_person_asks_and_nothing_is_logged() {
    let ears = Ears {
        veto: Some("the tests are running".into()),
        ..Ears::default()
    };
    let desk = desk(&ears);
    let head = desk.head();
    for model_free in [false, true] {
        let error = desk
            .session
            .compact(api::Compact {
                model_free,
                ..Default::default()
            })
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Rejected);
        assert!(error.message().contains("the tests are running"), "{error}");
    }
    assert_eq!(desk.head(), head);
    let plans = ears.plans.lock().unwrap().clone();
    assert_eq!(plans.len(), 2);
    assert_eq!((plans[0].trigger, plans[0].chunks), ("manual", 1));
    assert_eq!((plans[1].chunks, plans[1].session.as_str()), (0, "s"));
}

#[test]
fn a15_a_veto_after_a_refusal_for_size_lets_it_surface() {
    let ears = Ears {
        veto: Some("not now".into()),
        ..Ears::default()
    };
    let desk = desk_of(&ears, super::desk::SMALL, NONE, 300);
    desk.prepares();
    let answer = desk.refused("prompt is too long: 24000 tokens > 20000 maximum");
    assert_eq!(
        (answer.outcome.as_str(), answer.run_stop_hooks),
        ("surface", false)
    );
    assert!(answer.why.unwrap().contains("not now"));
    assert!(desk.logged("compact_plan").is_empty());
}

/// A hook that lets a model be asked, and forbids what is made without one.
#[derive(Clone, Default)]
struct OnlyModels {
    asked: Arc<Mutex<Vec<(&'static str, usize)>>>,
}

impl CompactionHooks for OnlyModels {
    fn before_compact(&self, plan: &PlanSeen) -> Veto {
        self.asked.lock().unwrap().push((plan.trigger, plan.chunks));
        if plan.chunks == 0 {
            Veto::Refuse("only with a model".into())
        } else {
            Veto::Allow
        }
    }
}

/// The summary that is made in the place of one that did not come is a compaction like any other: the hook is asked before.
#[test]
fn a15_a_hook_is_asked_before_a_commit_without_a_model_after_a_refusal() {
    const WORDS: &str = "prompt is too long: 24000 tokens > 20000 maximum";
    let hook = OnlyModels::default();
    let fixture = Fixture::new();
    let options = Options {
        hooks: Hooks::new(hook.clone()),
        ..Options::default()
    };
    let engine = Engine::open(fixture.path(), options).unwrap();
    let desk = Desk::on(fixture, &engine, super::desk::SMALL, NONE);
    desk.talks(6, 300);
    desk.prepares();
    assert_eq!(desk.refused(WORDS).outcome, "summarise");
    let before = digest(&desk.session);
    let again = desk.refused(WORDS);
    assert_eq!(
        (again.outcome.as_str(), again.run_stop_hooks),
        ("surface", false)
    );
    assert!(again.why.unwrap().contains("only with a model"));
    assert!(desk.logged("compact_commit").is_empty());
    assert_eq!(digest(&desk.session), before);
    let asked = hook.asked.lock().unwrap().clone();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].1 > 0, "{asked:?}");
    assert_eq!(asked[1], ("overflow", 0));
}

#[test]
fn a15_what_a_hook_attaches_falls_with_the_commit() {
    let ears = Ears {
        attach: vec![
            r#"{"type":"inject","slot":"note","content":"remember the crows","lifetime":"once"}"#
                .into(),
            r#"{"type":"issued"}"#.into(),
            "no event".into(),
        ],
        ..Ears::default()
    };
    let desk = desk(&ears);
    let before = digest(&desk.session);
    let plan = desk.plans().compaction;
    assert_eq!(desk.hands_in(&plan, 0, SUMMARY).outcome, "committed");
    let commit = desk.logged("compact_commit")[0]["seq"].as_u64().unwrap();
    let seen = ears.commits.lock().unwrap()[0].clone();
    assert_eq!(
        (seen.event, seen.compaction.as_str()),
        (commit, plan.as_str())
    );
    assert!(seen.after < seen.before && seen.summary.contains("birds"));
    let injects = desk.logged("inject").into_iter();
    let attached: Vec<_> = injects.filter(|one| one["slot"] == "note").collect();
    assert_eq!(attached.len(), 1, "what does not fit is left out");
    assert_eq!(attached[0]["because"], commit);
    assert!(desk.body().contains("remember the crows"));
    desk.session.undo(commit).unwrap();
    assert_eq!(digest(&desk.session), before, "it falls with its cause");
    let desk = desk.reopened();
    assert_eq!(digest(&desk.session), before);
}

#[test]
fn a15_a_hook_that_panics_has_said_nothing() {
    let ears = Ears {
        panics: true,
        ..Ears::default()
    };
    let desk = desk(&ears);
    assert_eq!(desk.plans().outcome, "planned");
}

#[test]
fn a15_over_the_wire_a_host_abandons_before_and_attaches_because_after() {
    let desk = desk(&Ears::default());
    let vetoed = desk.plans().compaction;
    desk.session.abandon(&vetoed, "vetoed").unwrap();
    let before = digest(&desk.session);
    let plan = desk.plans().compaction;
    desk.hands_in(&plan, 0, SUMMARY);
    let commit = desk.logged("compact_commit")[0]["seq"].as_u64().unwrap();
    let attach = format!(
        r#"{{"type":"inject","slot":"note","content":"remember the crows","lifetime":"once","because":{commit}}}"#
    );
    desk.session.append(&[&attach]).unwrap();
    assert!(desk.body().contains("remember the crows"));
    desk.session.undo(commit).unwrap();
    assert_eq!(digest(&desk.session), before);
    let late = desk.session.append(&[&attach]).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::Rejected, "its cause is gone");
}
