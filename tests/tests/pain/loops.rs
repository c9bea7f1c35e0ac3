//! Section 4: compactions that loop, or cannot finish.

use crate::live::{End, Live, Model, said};
use recount::api;
use serde_json::json;

/// Without what clears results, so that there is nothing but compactions to fall back on.
fn bare() -> serde_json::Value {
    json!({"micro": {"tools": []}, "collapse": {"on": false}})
}

/// Turns of about so many tokens until the condition holds.
fn fill(live: &mut Live, words: usize, done: impl Fn(&Live) -> bool) {
    for turn in 0..60 {
        if done(live) {
            return;
        }
        let words = said(&format!("fill{turn}"), words);
        live.turn("go on", &words).tokens();
    }
    panic!("it never came to that");
}

#[test]
fn pain_33_summaries_longer_than_what_they_replace_are_not_asked_for_for_ever() {
    let mut live = Live::new("claude-code", 32_000, &bare());
    live.model = Model::Rambles(6_000);
    for turn in 0..60 {
        let words = said(&format!("turn{turn}"), 200);
        assert!(live.turn("go on", &words).tokens() <= 32_000);
        if turn % 7 == 0 {
            live.desk.reopen();
        }
    }
    let abandoned = live.logged("compact_abandon");
    assert!(
        abandoned
            .iter()
            .any(|one| one["reason"] == "does not shrink"),
        "{abandoned:?}"
    );
    assert!(live.tripped("compaction"));
    assert_eq!(live.made_by("model"), 0);
    assert!(live.asked <= 6, "{} summaries were asked for", live.asked);
    assert!(live.made_by("rule") > 0, "it went on without a model");
}

#[test]
fn pain_33_summaries_that_barely_help_are_not_asked_for_for_ever() {
    let mut live = Live::new("claude-code", 32_000, &bare());
    // The trigger is at 12,000: with what is kept, the prompt stays above it.
    live.model = Model::Rambles(1_200);
    for turn in 0..60 {
        let words = said(&format!("turn{turn}"), 200);
        assert!(live.turn("go on", &words).tokens() <= 32_000);
        if turn % 7 == 0 {
            live.desk.reopen();
        }
    }
    assert!(live.made_by("model") > 0, "some were taken");
    assert!(live.tripped("refill") || live.tripped("compaction"));
    assert!(live.asked <= 12, "{} summaries were asked for", live.asked);
}

/// Rounds that fill the window with work are compacted as often as they fill it, for as long as the host works.
#[test]
fn pain_33_a_host_that_works_is_not_taken_for_a_circle() {
    for (preset, window, words) in [
        ("five-layer", 200_000, 230),
        ("five-layer", 32_000, 600),
        ("claude-code", 32_000, 270),
        ("claude-code", 32_000, 800),
        ("claude-code", 64_000, 1_500),
    ] {
        let mut live = Live::new(preset, window, &json!({}));
        let mut commits = Vec::new();
        for round in 0..40 {
            let question = said(&format!("ask{round}"), words);
            let answer = said(&format!("tell{round}"), words);
            live.turn(&question, &answer).tokens();
            if live.made_by("model") > commits.len() {
                commits.push(round);
            }
        }
        let name = format!("{preset} {window} {words}: {commits:?}");
        assert!(!live.tripped("refill"), "{name}");
        let trigger = live.status().trigger.unwrap();
        assert!(live.status().weighed < 2 * trigger, "{name}");
        // From the first one on, none of the stretches between two is much longer than the others.
        let gaps: Vec<i32> = commits.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(
            commits.len() >= 4 && 40 - commits.last().unwrap() <= 2 * gaps.iter().max().unwrap(),
            "{name}"
        );
    }
}

#[test]
fn pain_33_a_floor_above_the_trigger_is_told_once_and_nobody_is_asked() {
    let mut live = Live::new("claude-code", 32_000, &bare());
    let system = said("rules", 3_500);
    live.desk.log(&json!({"type": "system", "content": system}));
    for turn in 0..8 {
        live.turn(&format!("question {turn}"), "yes").tokens();
        live.desk.reopen();
    }
    let status = live.status();
    assert!(status.floor.tokens >= status.trigger.unwrap(), "{status:?}");
    assert!(status.floor.latched);
    assert_eq!((live.asked, live.count("compact_plan")), (0, 0));
    assert_eq!(live.count("breaker"), 1);
    // As soon as it falls, everything runs again.
    live.desk
        .log(&json!({"type": "system", "content": "Be brief."}));
    fill(&mut live, 200, |live| live.made_by("model") > 0);
    assert!(!live.status().floor.latched);
}

#[test]
fn pain_34_what_is_pending_is_seen_and_what_is_done_is_not_done_again() {
    let mut live = Live::new("claude-code", 32_000, &bare());
    live.model = Model::Silent;
    fill(&mut live, 200, |live| live.count("compact_plan") > 0);
    live.desk.says("and now?");
    let pending = |live: &Live| -> Vec<String> {
        let actions = live.prepare().actions;
        actions
            .into_iter()
            .filter_map(|one| one.compaction)
            .collect()
    };
    let first = pending(&live);
    assert_eq!(first.len(), 1);
    assert_eq!(pending(&live), first);
    live.desk.reopen();
    assert_eq!(pending(&live), first);
    assert_eq!(live.count("compact_plan"), 1);
    let status = live.status();
    assert!(status.weighed >= status.trigger.unwrap());
    let stale = live.prepare();

    live.model = Model::Sums;
    let actions = live.desk.session().actions().unwrap();
    let open = actions[0].request.clone().unwrap();
    let open = api::ChunkRequest {
        chunk: 0,
        request: open,
        first: 0,
        last: 0,
    };
    assert_eq!(live.summarise(&first[0], vec![open]), "committed");
    // The answer to a prompt from before the compaction comes late, with what that one cost.
    let late = json!({"type": "usage", "request": "late", "issued": stale.prompt.digest, "input": stale.prompt.estimate, "output": 9});
    live.desk.log(&late);
    for _ in 0..3 {
        let status = live.prepare().status;
        assert!(status.weighed < status.trigger.unwrap(), "{status:?}");
        live.desk.reopen();
    }
    assert_eq!(
        (live.count("compact_plan"), live.count("compact_commit")),
        (1, 1)
    );
}

#[test]
fn pain_35_a_summary_is_taken_only_if_it_is_smaller() {
    let (mut taken, mut refused) = (0, 0);
    for words in [20, 100, 180, 195, 205, 220, 300, 2_000] {
        let mut live = Live::new("none", 200_000, &json!({}));
        live.turn("question", &said("answer", 200)).tokens();
        live.desk.says("and now?");
        live.model = Model::Rambles(words);
        let plan = live
            .desk
            .session()
            .compact(api::Compact::default())
            .unwrap();
        let before = (live.desk.digest(), live.status().tokens.total);
        let outcome = live.summarise(&plan.compaction, plan.requests);
        let after = live.status().tokens.total;
        match outcome.as_str() {
            "committed" => {
                taken += 1;
                assert!(after < before.1, "{words}: {after} {}", before.1);
                let commit = &live.logged("compact_commit")[0];
                assert!(commit["after"].as_u64() < commit["before"].as_u64());
            }
            "rejected" => {
                refused += 1;
                assert_eq!(live.desk.digest(), before.0);
                live.desk.reopen();
                assert_eq!(live.desk.digest(), before.0);
                let abandoned = live.logged("compact_abandon");
                assert_eq!(abandoned[0]["reason"], "does not shrink");
                assert_eq!(live.count("compact_commit"), 0);
            }
            other => panic!("{words}: {other}"),
        }
    }
    assert!(taken >= 2 && refused >= 2, "{taken} {refused}");
}

/// A long history, and then a model with half the window.
fn switched(model: Model) -> Live {
    let mut live = Live::new("claude-code", 64_000, &bare());
    fill(&mut live, 400, |live| live.status().weighed > 33_000);
    assert_eq!(live.count("compact_plan"), 0, "nothing was due");
    let mut smaller = live.setup.clone();
    (smaller.window, smaller.max_output) = (32_000, 8_000);
    live.provider.traits.window = smaller.window;
    live.model = model;
    let ask = |profile: serde_json::Value| {
        let profile = api::Spec::json(&profile.to_string());
        let ask = api::Project {
            profile,
            ..Default::default()
        };
        live.desk.says("and now?");
        live.desk.session().project(ask).unwrap()
    };
    let refused = ask(smaller.profile(false));
    assert_eq!(refused.outcome, api::Outcome::Impossible);
    let why = refused.impossible.unwrap();
    assert!(
        why.floor > why.limit && why.limit == 32_000 && !why.next.is_empty(),
        "{why:?}"
    );
    let mut profile = smaller.profile(false);
    profile["type"] = json!("profile");
    live.desk.log(&profile);
    live
}

#[test]
fn pain_38_a_switch_to_a_smaller_window_is_planned_for_that_window() {
    for model in [Model::Sums, Model::Fails, Model::Silent] {
        let mut live = switched(model);
        for turn in 0..20 {
            let words = said(&format!("later{turn}"), 100);
            assert!(live.turn("go on", &words).tokens() <= 32_000);
            live.desk.reopen();
        }
        assert_eq!(live.refused, 0, "{model:?}");
        assert!(live.asked <= 6, "{model:?}: {}", live.asked);
        let commits = (live.made_by("model"), live.made_by("rule"));
        match model {
            Model::Sums => assert!(commits.0 > 0, "{commits:?}"),
            _ => assert!(commits.0 == 0 && commits.1 > 0, "{model:?} {commits:?}"),
        }
    }
}

#[test]
fn pain_38_a_window_that_the_provider_says_is_smaller_is_not_overrun_again() {
    for model in [Model::Sums, Model::Fails, Model::Silent] {
        let mut live = Live::new("claude-code", 64_000, &bare());
        live.provider.traits.window = 32_000;
        live.model = model;
        let names = |live: &Live| {
            live.logged("overflow")
                .iter()
                .any(|one| one["limit"] == 32_000)
        };
        fill(&mut live, 400, names);
        let until = live.refused;
        for turn in 0..120 {
            let words = said(&format!("later{turn}"), 100);
            assert!(live.turn("go on", &words).tokens() <= 32_000);
            if turn % 16 == 0 {
                live.desk.reopen();
            }
        }
        assert_eq!(live.refused, until, "{model:?}");
        let commits = (live.made_by("model"), live.made_by("rule"));
        assert!(commits.0 + commits.1 > 1, "{model:?}: {commits:?}");
    }
}

/// A history that is just one token too long for its window.
fn one_too_long() -> Live {
    let live = Live::new("none", 200_000, &json!({}));
    for turn in 0..12 {
        live.desk.says(&format!("question {turn}"));
        live.desk.answers(&said(&format!("answer{turn}"), 400));
    }
    live.desk.says("and now?");
    let profile = |window: u64| {
        let mut setup = live.setup.clone();
        (setup.window, setup.max_output) = (window, 1_000);
        setup.profile(false)
    };
    let fits = |window: u64| {
        let ask = api::Project {
            profile: api::Spec::json(&profile(window).to_string()),
            ..Default::default()
        };
        live.desk.session().project(ask).unwrap().outcome == api::Outcome::Ready
    };
    let (mut small, mut large) = (1_000, 200_000);
    assert!(!fits(small) && fits(large));
    while large - small > 1 {
        let middle = (small + large) / 2;
        if fits(middle) {
            large = middle;
        } else {
            small = middle;
        }
    }
    let mut event = profile(small);
    event["type"] = json!("profile");
    live.desk.log(&event);
    let mut live = live;
    live.provider.traits.window = small;
    let refused = live.prepare().prompt;
    assert_eq!(refused.outcome, api::Outcome::Impossible);
    live
}

#[test]
fn pain_39_a_compaction_works_where_the_prompt_is_too_long() {
    let mut live = one_too_long();
    let plan = live
        .desk
        .session()
        .compact(api::Compact::default())
        .unwrap();
    assert_eq!(live.summarise(&plan.compaction, plan.requests), "committed");
    assert!(live.asked > 0);
    assert_eq!(live.made_by("model"), 1);
    assert!(matches!(
        live.reply(&json!([{"type": "text", "text": "so"}])),
        End::Answered(_)
    ));

    // Without a model, at once.
    let mut live = one_too_long();
    let ask = api::Compact {
        model_free: true,
        ..Default::default()
    };
    assert_eq!(
        live.desk.session().compact(ask).unwrap().outcome,
        "committed"
    );
    assert!(live.turn("go on", "so").tokens() < 32_000);

    // The window is less than anybody said: every request for a summary is refused, until it is cut small enough or none is asked.
    let mut live = one_too_long();
    live.provider.traits.window = 3_000;
    let plan = live
        .desk
        .session()
        .compact(api::Compact::default())
        .unwrap();
    let outcome = live.summarise(&plan.compaction, plan.requests);
    assert!(
        ["committed", "model_free"].contains(&outcome.as_str()),
        "{outcome}"
    );
    assert!(live.asked > 1, "some were refused");
    assert!(live.turn("go on", "so").tokens() <= 3_000);
}

#[test]
fn pain_40_the_trigger_looks_at_the_prompt_and_at_nothing_that_is_stored() {
    let mut live = Live::new("claude-code", 32_000, &bare());
    fill(&mut live, 200, |live| live.made_by("model") > 0);
    let commit = live.logged("compact_commit").pop().unwrap();
    for turn in 0..10 {
        live.turn(&format!("small {turn}"), "yes").tokens();
        live.desk.reopen();
    }
    assert_eq!(live.count("compact_plan"), 1, "once, not at every message");
    let below = live.status();
    assert!(below.weighed < below.trigger.unwrap());
    // Back over it and forward again: what is weighed follows the prompt.
    let undone = live
        .desk
        .session()
        .undo(commit["seq"].as_u64().unwrap())
        .unwrap();
    let above = live.status();
    assert!(above.weighed >= above.trigger.unwrap(), "{}", above.weighed);
    live.desk.session().undo(undone.event).unwrap();
    assert_eq!(live.status().weighed, below.weighed);
    live.desk.reopen();
    assert_eq!(live.status().weighed, below.weighed);
}

#[test]
fn pain_41_one_gate_for_every_trigger() {
    for reactive in [false, true] {
        let policy =
            json!({"type": "policy", "preset": "claude-code", "auto": false, "reactive": reactive});
        let live = Live::under("claude-code", 32_000, &policy, &json!({}));
        for turn in 0..8 {
            live.desk.says(&format!("question {turn}"));
            live.desk.answers(&said(&format!("answer{turn}"), 250));
        }
        live.desk.says("and now?");
        let prepared = live.prepare();
        let status = &prepared.status;
        assert!(status.weighed >= status.trigger.unwrap(), "{status:?}");
        assert_eq!(live.count("compact_plan"), 0, "nothing by itself");
        let error =
            json!({"status": 400, "body": "prompt is too long: 33000 tokens > 32000 maximum"});
        let answer = live.overflowed(&error);
        assert!(!answer.run_stop_hooks);
        assert_eq!(answer.refused_for, "tokens");
        assert_eq!(live.logged("overflow")[0]["actual"], 33_000);
        let plans = live.logged("compact_plan");
        if reactive {
            assert_eq!(answer.outcome, "summarise");
            assert_eq!(plans[0]["trigger"], "overflow", "the reason is in the log");
        } else {
            assert_eq!(answer.outcome, "surface");
            assert!(answer.why.is_some() && !answer.requests.is_empty());
            assert!(plans.is_empty());
        }
        assert_eq!(live.count("compact_commit"), 0);
    }
}

#[test]
fn pain_42_a_huge_recent_message_does_not_fire_it_every_turn() {
    // The trigger is at 35,000 tokens; the message is below it, around it, above it.
    for words in [3_000, 5_500, 6_800] {
        let mut live = Live::new("claude-code", 64_000, &bare());
        live.desk
            .log(&json!({"type": "system", "content": said("rules", 400)}));
        for turn in 0..10 {
            live.turn(&format!("tiny {turn}"), "yes").tokens();
        }
        let huge = said("huge", words);
        live.turn(&huge, "I see").tokens();
        let largest = live.status().weighed;
        for turn in 0..20 {
            live.turn(&format!("tiny again {turn}"), "yes").tokens();
        }
        assert!(largest > 12_000, "{largest}");
        assert_eq!(live.refused, 0);
        assert!(live.asked <= 4, "{words}: {}", live.asked);
        if largest > 36_000 {
            let status = live.status();
            assert!(live.count("compact_commit") > 0, "{words}: {largest}");
            assert!(status.weighed < status.trigger.unwrap(), "{words}");
        }
    }
}

#[test]
fn pain_42_a_huge_message_after_a_few_short_ones_is_sent() {
    let mut live = Live::new("claude-code", 64_000, &bare());
    for turn in 0..10 {
        live.turn(&format!("tiny {turn}"), "yes").tokens();
    }
    // 38,000 tokens of the provider's.
    live.turn(&said("huge", 6_800), "I see").tokens();
    assert_eq!(live.refused, 0);
}

#[test]
fn pain_43_some_prompt_that_fits_always_exists() {
    for model in [Model::Silent, Model::Fails] {
        let mut live = Live::new("claude-code", 32_000, &bare());
        live.model = model;
        // One turn that is larger than the window by itself: the tail is all there is.
        let end = live.work("all", 12, 1_500);
        assert!(end.tokens() <= 32_000);
        let results = live.logged("tool_result");
        assert_eq!(results.len(), 12);
        live.desk.reopen();
        live.turn("and now?", "yes").tokens();
        assert_eq!(live.made_by("model"), 0);
        assert!(live.asked <= 6);
        let body = recount_tests::host::body(&live.desk.project(api::At::Head));
        assert!(body.is_none(), "it is the person's turn");
    }
}

#[test]
fn pain_43_what_cannot_fit_is_told_with_its_numbers_and_the_session_goes_on() {
    let mut live = Live::new("claude-code", 32_000, &bare());
    live.turn("hello", "yes").tokens();
    live.desk.says(&said("huge", 12_000));
    for _ in 0..3 {
        let refused = live.prepare().prompt;
        assert_eq!(refused.outcome, api::Outcome::Impossible);
        let why = refused.impossible.unwrap();
        assert!(why.limit == 32_000 && why.floor > why.limit, "{why:?}");
        assert_eq!(
            why.largest[0].event,
            live.logged("message").last().unwrap()["seq"].as_u64()
        );
        assert!(!why.next.is_empty());
        live.desk.reopen();
    }
    assert!(live.asked <= 2);
    live.desk.session().rollback(api::To::Turns(1)).unwrap();
    live.turn("smaller", "yes").tokens();
}

#[test]
fn pain_44_a_second_compaction_counts_and_covers_only_what_is_seen() {
    let mut live = Live::new("none", 200_000, &json!({}));
    for turn in 0..10 {
        live.turn("go on", &said(&format!("turn{turn}"), 50))
            .tokens();
    }
    let compacts = |live: &mut Live| {
        live.desk.says("and?");
        let plan = live
            .desk
            .session()
            .compact(api::Compact::default())
            .unwrap();
        assert_eq!(live.summarise(&plan.compaction, plan.requests), "committed");
        live.logged("compact_commit").pop().unwrap()
    };
    live.model = Model::Rambles(30);
    let first = compacts(&mut live);
    assert_eq!(first["boundary"]["messages"], 20);
    for turn in 0..3 {
        live.turn("later", &said(&format!("later{turn}"), 50))
            .tokens();
    }
    let second = compacts(&mut live);
    // Six messages that came since, the question beside the first compaction; none of the twenty again.
    let messages = second["boundary"]["messages"].as_u64().unwrap();
    assert!((6..=8).contains(&messages), "{messages}");
    let explained = live.desk.session().explain(api::At::Head).unwrap();
    let summaries = explained
        .shown
        .iter()
        .filter(|piece| piece.why.contains("summary"));
    assert_eq!(summaries.count(), 1, "{:?}", explained.shown);
    let sent = live.desk.sent();
    assert!(!sent.shows("turn0 bird1") && sent.shows("and?"));
}

#[test]
fn pain_44_markers_of_compactions_without_a_model_do_not_pile_up() {
    let mut live = Live::new("none", 200_000, &json!({}));
    for round in 0..4 {
        for turn in 0..3 {
            let words = said(&format!("turn{round}-{turn}"), 60);
            live.turn(&format!("question {round}-{turn}"), &words)
                .tokens();
        }
        live.desk.says("and?");
        let ask = api::Compact {
            model_free: true,
            ..Default::default()
        };
        let done = live.desk.session().compact(ask).unwrap();
        assert_eq!(done.outcome, "committed");
    }
    assert_eq!(live.made_by("rule"), 4);
    let body = recount_tests::host::body(&live.prepare().prompt).unwrap();
    for (marker, most) in [
        ("<summary>", 1),
        ("without a model", 1),
        ("Summary so far:", 1),
    ] {
        assert_eq!(body.matches(marker).count(), most, "{marker}: {body}");
    }
    assert!(body.contains("question 0-0") && body.contains("question 3-2"));
}
