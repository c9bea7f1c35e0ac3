//! Random sessions at windows from 2,000 to 200,000 tokens: what is planned fits, what is committed shrinks, everything comes to an end.

use super::common::Host;
use super::talk::{commit_in, ends, plan_in, words};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use recount_events::{Body, CompactAbandon, CompactPlan, Maker, Range, Seq, Text, Trigger};
use recount_policies::compact::{self, Ask, propose};
use recount_policies::{collapse, overflow};

/// Something that happens.
#[derive(Clone, Debug)]
enum Step {
    Says(usize),
    Answers(usize),
    Exchange(usize, u8),
    /// Two calls, the second result behind words of the person.
    Spread(usize),
    Open(usize),
    Close,
    Inject(usize),
    Tail(usize),
    Stage(u8, u8),
    Snip(u8),
    Memory(u8),
    Undo(u8),
    Back(u8),
    Wait,
}

fn step() -> impl Strategy<Value = Step> {
    let size = || prop_oneof![6 => 1_usize..60, 3 => 60_usize..600, 1 => 600_usize..4_000];
    prop_oneof![
        4 => size().prop_map(Step::Says),
        4 => size().prop_map(Step::Answers),
        6 => (size(), any::<u8>()).prop_map(|(size, target)| Step::Exchange(size, target)),
        2 => size().prop_map(Step::Spread),
        1 => size().prop_map(Step::Open),
        1 => Just(Step::Close),
        1 => size().prop_map(Step::Inject),
        1 => (0_usize..60).prop_map(Step::Tail),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(from, to)| Step::Stage(from, to)),
        1 => any::<u8>().prop_map(Step::Snip),
        1 => any::<u8>().prop_map(Step::Memory),
        1 => any::<u8>().prop_map(Step::Undo),
        1 => any::<u8>().prop_map(Step::Back),
        1 => Just(Step::Wait),
    ]
}

#[derive(Clone, Debug)]
struct Session {
    preset: &'static str,
    window: u64,
    factor: u64,
    summary: usize,
    steps: Vec<Step>,
}

fn session() -> impl Strategy<Value = Session> {
    (
        prop_oneof![Just("claude-code"), Just("five-layer"), Just("recount")],
        prop_oneof![2_000_u64..6_000, 6_000_u64..40_000, Just(200_000)],
        prop_oneof![Just(1_000_u64), 600_u64..1_800],
        prop_oneof![2 => 1_usize..80, 1 => 80_usize..800, 2 => 800_usize..3_000],
        proptest::collection::vec(step(), 5..70),
    )
        .prop_map(|(preset, window, factor, summary, steps)| Session {
            preset,
            window,
            factor,
            summary,
            steps,
        })
}

/// What happened in how many runs.
#[derive(Clone, Copy, Debug, Default)]
struct Census {
    plans: u64,
    many_pieces: u64,
    commits: u64,
    by_notes: u64,
    refused: u64,
    restored: u64,
    collapsed: u64,
    latched: u64,
    open: u64,
    by_rule: u64,
    rule_refused: u64,
    levels: u64,
    partial: u64,
}

/// An event that may not fit: then nothing happens.
fn tries(host: &mut Host, json: &str) {
    let event = recount_events::Event::from_json(json, recount_events::Millis(host.now));
    if let Ok(event) = event
        && host.state.admit(event.clone()).is_ok()
    {
        host.take(event);
    }
}

fn key(host: &Host, pick: u8) -> u64 {
    let keys: Vec<u64> = host
        .state
        .timeline()
        .shown
        .keys()
        .map(|key| key.0)
        .collect();
    keys.get(usize::from(pick) % keys.len().max(1))
        .copied()
        .unwrap_or(0)
}

fn does(host: &mut Host, step: &Step, open: &mut Option<String>) {
    let next = host.head() + 1;
    match step {
        Step::Says(size) => {
            host.says(&words(*size));
        }
        Step::Answers(size) => {
            host.answers(&words(*size));
        }
        Step::Exchange(size, target) => {
            let (tool, input) = match target % 3 {
                0 => ("Read", format!(r#"{{"file_path":"/f{}"}}"#, target % 7)),
                1 => ("Bash", r#"{"command":"make"}"#.to_owned()),
                _ => (
                    "Edit",
                    format!(r#"{{"file_path":"/f{}","new":"x"}}"#, target % 7),
                ),
            };
            host.exchange(&format!("call_{next}"), tool, &input, &words(*size));
        }
        Step::Spread(size) => {
            let (one, two) = (format!("a{next}"), format!("b{next}"));
            host.calls(&[
                (&one, "Read", r#"{"file_path":"/s"}"#),
                (&two, "Bash", "{}"),
            ]);
            host.result(&one, &words(*size));
            host.says("meanwhile");
            host.result(&two, &words(*size));
        }
        Step::Open(size) if open.is_none() => {
            let id = format!("o{next}");
            host.calls(&[(&id, "Bash", &format!(r#"{{"command":"{}"}}"#, words(*size)))]);
            *open = Some(id);
        }
        Step::Open(_) => {}
        Step::Close => {
            if let Some(id) = open.take() {
                tries(
                    host,
                    &format!(r#"{{"type":"tool_result","call":"{id}","content":"late"}}"#),
                );
            }
        }
        Step::Inject(size) => {
            let content = words(*size);
            host.log(&format!(
                r#"{{"type":"inject","slot":"note","content":"{content}"}}"#
            ));
        }
        Step::Tail(size) => {
            let content = words(*size);
            host.log(&format!(
                r#"{{"type":"inject","slot":"tail","lifetime":"tail","content":"{content}"}}"#
            ));
        }
        Step::Stage(from, to) => {
            let (one, two) = (key(host, *from), key(host, *to));
            let (first, last) = (one.min(two), one.max(two));
            tries(
                host,
                &format!(
                    r#"{{"type":"collapse_stage","id":"s{next}","first":{first},"last":{last},"summary":"span"}}"#
                ),
            );
        }
        Step::Snip(pick) => {
            let key = key(host, *pick);
            let unit = host.state.timeline().positions_of(Seq(key));
            let list: Vec<String> = match unit.is_empty() {
                true => vec![key.to_string()],
                false => unit.iter().map(|seq| seq.0.to_string()).collect(),
            };
            tries(
                host,
                &format!(r#"{{"type":"snip","messages":[{}]}}"#, list.join(",")),
            );
        }
        Step::Memory(pick) => {
            let to = key(host, *pick);
            tries(
                host,
                &format!(r#"{{"type":"memory","id":"m","text":"all of it","covers":[0,{to}]}}"#),
            );
        }
        Step::Undo(back) => {
            let target = host.head().saturating_sub(u64::from(*back) % 12).max(5);
            tries(host, &format!(r#"{{"type":"undo","event":{target}}}"#));
        }
        Step::Back(back) => {
            let target = host.head().saturating_sub(u64::from(*back) % 6).max(4);
            host.back(target);
        }
        Step::Wait => host.wait(3_600_000),
    }
}

/// A plan is one that the session admits: whole, in order, the newest thing kept.
fn check_plan(host: &Host, plan: &CompactPlan) {
    let (first, last) = ends(plan.range);
    let timeline = host.state.timeline();
    assert!(
        timeline.shown.range(Seq(last + 1)..).next().is_some() || timeline.shown.size() == 0,
        "nothing is kept"
    );
    assert!(!plan.chunks.is_empty());
    assert_eq!(plan.chunks.first().unwrap().0, Seq(first));
    assert_eq!(plan.chunks.last().unwrap().1, Seq(last));
    for (from, to) in &plan.chunks {
        assert!(from <= to);
    }
    for pair in plan.chunks.windows(2) {
        assert!(pair[0].1 < pair[1].0);
        let mut between = timeline.content.range(pair[0].1.next()..pair[1].0);
        assert!(
            between.all(|(seq, _)| !timeline.visible(*seq)),
            "between the pieces"
        );
    }
}

fn counted(host: &Host) -> u64 {
    host.view().fill.counted
}

/// Tiers ④ and ⑤ run until neither proposes anything; a model answers at once.
fn prepare(host: &mut Host, run: &Session, census: &mut Census) {
    for round in 0.. {
        assert!(round < 60, "it never ends");
        let mut view = host.view();
        view.fill.factor_milli = run.factor;
        view.fill.total = view.at().scaled(view.fill.counted);
        view.fill.floor = view.at().scaled(view.fill.floor);
        let before = view.fill.counted;
        let collapsed = collapse::propose(&view.at());
        if !collapsed.is_empty() {
            host.accept(&collapsed);
            census.collapsed += 1;
            assert!(counted(host) < before, "{}", collapsed.did);
            continue;
        }
        let proposal = propose(&view.at());
        if proposal.is_empty() {
            return;
        }
        if let Some(plan) = plan_in(&proposal) {
            census.plans += 1;
            census.many_pieces += u64::from(plan.chunks.len() > 1);
            census.open += u64::from(!host.state.timeline().open.is_empty());
            check_plan(host, &plan);
            host.accept(&proposal);
            let texts: Vec<String> = plan.chunks.iter().map(|_| words(run.summary)).collect();
            let view = host.view();
            let commit = compact::commit(&view.at(), &plan, &texts, Maker::Model, 5);
            if commit.is_empty() {
                census.refused += 1;
                host.put(Body::CompactAbandon(CompactAbandon {
                    id: plan.id.clone(),
                    reason: Text::plain(&commit.did),
                }));
                for failed in compact::failed(&host.view().at()) {
                    host.put(failed.body);
                }
            } else {
                host.accept(&commit);
                census.commits += 1;
                census.restored += u64::from(
                    commit
                        .events
                        .iter()
                        .any(|one| matches!(one.body, Body::Inject(_))),
                );
                assert!(counted(host) < before, "{}", commit.did);
            }
        } else {
            census.by_notes += u64::from(commit_in(&proposal).is_some());
            census.latched += u64::from(commit_in(&proposal).is_none());
            host.accept(&proposal);
            assert!(commit_in(&proposal).is_none() || counted(host) < before);
        }
    }
}

/// Folds without a model until there is nothing left to fold: each shrinks.
fn rules(host: &mut Host, census: &mut Census) {
    let mut host = host.clone();
    for trigger in [Trigger::Manual, Trigger::Overflow].into_iter().cycle() {
        let ask = Ask {
            trigger,
            whole: trigger == Trigger::Manual,
            ..Ask::default()
        };
        let before = counted(&host);
        match compact::by_rule(&host.view().at(), &ask) {
            Ok(proposal) => {
                census.by_rule += 1;
                assert!(
                    !commit_in(&proposal)
                        .unwrap()
                        .summary
                        .unwrap()
                        .bytes()
                        .unwrap()
                        .is_empty()
                );
                host.accept(&proposal);
                assert!(counted(&host) < before);
            }
            Err(_) => {
                census.rule_refused += 1;
                break;
            }
        }
    }
}

fn levels(host: &Host, census: &mut Census) {
    let mut host = host.clone();
    let mut idle = 0;
    for number in [1, 2, 3].into_iter().cycle().take(90) {
        let before = counted(&host);
        let proposal = overflow::level(&host.view().at(), number);
        if proposal.is_empty() {
            idle += 1;
            if idle == 3 {
                return;
            }
            continue;
        }
        idle = 0;
        census.levels += 1;
        host.accept(&proposal);
        assert!(counted(&host) < before, "{}", proposal.did);
    }
    panic!("levels never end");
}

/// Every position may be asked for; what is planned is admitted, what is refused says where it would be.
fn partials(host: &Host, census: &mut Census) {
    let view = host.view();
    for seq in (0..=host.head() + 2).step_by(3) {
        for up_to in [false, true] {
            let ask = Ask {
                from: (!up_to).then_some(Seq(seq)),
                up_to: up_to.then_some(Seq(seq)),
                ..Ask::default()
            };
            match compact::plan(&view.at(), &ask) {
                Ok(plan) => {
                    census.partial += 1;
                    assert!(matches!(plan.range, Range::Closed { .. }));
                }
                Err(compact::Refusal::Splits {
                    nearest: Some(nearest),
                    ..
                }) => {
                    let again = Ask {
                        from: (!up_to).then_some(nearest),
                        up_to: up_to.then_some(nearest),
                        ..Ask::default()
                    };
                    let again = compact::plan(&view.at(), &again);
                    assert!(
                        !matches!(again, Err(compact::Refusal::Splits { .. })),
                        "{seq} {nearest}: {again:?}"
                    );
                }
                Err(compact::Refusal::Misfit(problem)) => panic!("{seq} {up_to}: {problem}"),
                Err(_) => {}
            }
        }
    }
}

fn runs(run: &Session, census: &mut Census) {
    let mut host = Host::new(run.preset, "");
    host.profile(&format!(
        r#"{{"window":{},"max_output":{}}}"#,
        run.window,
        run.window / 8
    ));
    host.log(r#"{"type":"system","content":"Be brief."}"#);
    let mut open = None;
    for step in &run.steps {
        does(&mut host, step, &mut open);
        if host.state.timeline().open.is_empty() {
            open = None;
        }
        prepare(&mut host, run, census);
    }
    assert_eq!(host.reopened().prompt(), host.prompt());
    partials(&host, census);
    rules(&mut host, census);
    levels(&host, census);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn law_10_plans_fit_commits_shrink_and_all_comes_to_an_end(run in session()) {
        runs(&run, &mut Census::default());
    }
}

/// The random sessions reach everything that they are there for.
#[test]
fn law_10_the_census_of_the_random_sessions() {
    let mut runner = TestRunner::deterministic();
    let mut census = Census::default();
    for _ in 0..120 {
        let run = session().new_tree(&mut runner).unwrap().current();
        runs(&run, &mut census);
    }
    let Census {
        plans,
        many_pieces,
        commits,
        by_notes,
        refused,
        restored,
        collapsed,
        latched,
        open,
        by_rule,
        rule_refused,
        levels,
        partial,
    } = census;
    let all = [
        plans,
        many_pieces,
        commits,
        by_notes,
        refused,
        restored,
        collapsed,
        latched,
        open,
        by_rule,
        rule_refused,
        levels,
        partial,
    ];
    assert!(all.iter().all(|number| *number >= 5), "{census:?}");
}
