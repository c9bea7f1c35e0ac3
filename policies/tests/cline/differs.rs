//! K10: where the session differs from Cline, with both sides of each. `docs/cline.md` lists them in this order.

use crate::both::{Both, Part, sent};
use recount_cline::{
    Begin, Block, CONTINUE, Edits, Helper, Keep, Message, READ_AGAIN, Range, TRUNCATED, Task,
    UiMessage, Window, replace_reads, to_json,
};
use recount_events::Body;
use recount_policies::{Proposal, cline};

fn ranges(proposal: &Proposal) -> usize {
    let events = proposal.events.iter();
    events
        .filter(|one| matches!(one.body, Body::DeleteRange(_)))
        .count()
}

fn read(path: &str, letters: usize) -> String {
    format!("[read_file for '{path}'] Result:\n{}", "x".repeat(letters))
}

#[test]
fn k10_the_result_of_a_call_in_the_first_pair_stays() {
    let mut both = Both::new(64_000);
    both.asks("the task");
    both.answers("looking", 1);
    both.says(&[
        Part::Result(0, "what was found".into()),
        Part::Text("environment".into()),
    ]);
    both.answers("seen", 0);
    for turn in 0..4 {
        both.asks(&format!("question {turn}"));
        both.answers("answer", 0);
    }
    both.asks("and now?");
    both.makes_room(40_000);
    let (ours, theirs) = (
        format!("{:?}", both.sends()),
        format!("{:?}", both.theirs()),
    );
    assert!(theirs.contains("result missing") && !theirs.contains("what was found"));
    assert!(ours.contains("what was found") && !ours.contains("result missing"));
    // All else is the same.
    assert_eq!(both.sends()[3..], both.theirs()[3..]);
}

#[test]
fn k10_results_that_went_with_their_calls_are_no_reads_any_more() {
    let mut both = Both::new(64_000);
    for _ in 0..2 {
        both.asks("words");
        both.answers("words", 0);
    }
    both.asks("look");
    both.answers("looking", 1);
    // The call goes; its result stands in the first message that stays.
    both.says(&[
        Part::Result(0, read("a", 5_000)),
        Part::Text("environment".into()),
    ]);
    both.answers("seen", 0);
    both.asks("go on");
    both.answers("yes", 0);
    both.asks("go on");
    both.range = Some(Range { start: 2, end: 5 });
    let last = both.host.head() - 5;
    both.host.log(&format!(
        r#"{{"type":"delete_range","first":6,"last":{last}}}"#
    ));
    both.same();
    both.answers("yes", 0);
    both.asks(&read("a", 100));
    both.used(40_000);
    both.exact(40_000);
    // Cline replaces the result that nobody sees: its text lands on the block that stands there now.
    let theirs = format!("{:?}", both.theirs());
    assert!(theirs.contains(READ_AGAIN) && !theirs.contains("environment"));
    let proposal = both.ours();
    assert_eq!(ranges(&proposal), 1, "nothing to replace: half is left out");
    assert!(!both.host.prompt().contains(READ_AGAIN));
}

#[test]
fn k10_no_notice_where_nothing_is_left_out() {
    let mut both = Both::new(64_000);
    both.asks("the task");
    both.answers("an answer", 0);
    both.asks("and now?");
    let proposal = both.makes_room(40_000);
    assert_eq!(both.range, Some(Range { start: 2, end: 1 }));
    assert!(format!("{:?}", both.theirs()).contains(TRUNCATED));
    assert!(proposal.is_empty());
}

#[test]
fn k10_one_request_decides_once_however_often_it_is_tried() {
    let mut both = Both::new(64_000);
    both.talk(20);
    both.makes_room(40_000);
    both.same();
    let first = both.range.unwrap();
    both.exact(40_000);
    assert!(
        both.range.unwrap().end > first.end,
        "Cline leaves out more at each attempt"
    );
    assert!(both.ours().is_empty());

    // So also behind a refusal.
    let mut both = Both::new(64_000);
    both.talk(20);
    both.used(40_000);
    both.range = Some(Range::next(&both.history, None, Keep::Quarter));
    let quarter = both.range.unwrap();
    both.exact(40_000);
    assert!(both.range.unwrap().end > quarter.end);
    both.host
        .log(r#"{"type":"overflow","error":"too long","kind":"tokens"}"#);
    let proposal = cline::overflowed(&both.host.view().at(), 1);
    both.host.accept(&proposal);
    assert!(both.ours().is_empty());
    assert_eq!(both.sends().len(), 41 - 28);
}

#[test]
fn k10_words_that_follow_a_call_as_a_string_are_kept() {
    let mut both = Both::new(64_000);
    both.asks("the task");
    both.answers("looking", 1);
    both.host
        .log(r#"{"type":"tool_result","call":"t0_0","content":"found"}"#);
    both.host.says("please do not");
    both.history.push(Message::from_json(
        r#"{"role":"user","content":"please do not"}"#,
    ));
    assert!(!format!("{:?}", both.theirs()).contains("please do not"));
    assert!(format!("{:?}", both.sends()).contains("please do not"));
}

#[test]
fn k10_a_string_is_read_like_a_text_block() {
    let mut both = Both::new(64_000);
    both.asks("the task");
    both.answers("yes", 0);
    for size in [3_000, 10] {
        let words = read("a", size);
        both.host.says(&words);
        let token = recount_events::escape(&words);
        both.history.push(Message::from_json(&format!(
            r#"{{"role":"user","content":{token}}}"#
        )));
        both.answers("seen", 0);
    }
    both.asks("go on");
    let proposal = both.makes_room(40_000);
    assert!(both.range.is_some(), "Cline sees no text there");
    assert!(!format!("{:?}", both.theirs()).contains(READ_AGAIN));
    assert_eq!(ranges(&proposal), 0);
    assert!(both.host.prompt().contains(READ_AGAIN));
}

#[test]
fn k10_what_was_replaced_in_a_text_is_known_by_the_text() {
    // Two files in one message; the one is read again, then the other; the second replacement is taken back.
    let mention =
        "<file_content path=\"a\">AAAA</file_content> <file_content path=\"b\">BBBB</file_content>";
    let history: Vec<String> = ["task", "yes", mention, "seen"]
        .iter()
        .map(|words| (*words).to_owned())
        .chain([
            read("a", 5_000),
            "seen".into(),
            read("b", 5_000),
            "seen".into(),
        ])
        .collect();
    let messages: Vec<Message> = (0..)
        .zip(&history)
        .map(|(index, words)| {
            let role = if index % 2 == 0 { "user" } else { "assistant" };
            let token = recount_events::escape(words);
            Message::from_json(&format!(
                r#"{{"role":"{role}","content":[{{"type":"text","text":{token}}}]}}"#
            ))
        })
        .collect();
    let mut edits = Edits::new();
    replace_reads(&mut edits, &messages[..6], 2, 10.0);
    replace_reads(&mut edits, &messages, 2, 20.0);
    edits.truncate(10.0);
    let again = replace_reads(&mut edits, &messages, 2, 30.0);
    assert!(!again.any(), "the shared list says that both are gone");
    let mut reloaded = Edits::new();
    replace_reads(&mut reloaded, &messages[..6], 2, 10.0);
    let again = replace_reads(&mut reloaded.reloaded(), &messages, 2, 30.0);
    assert!(again.any());

    let mut both = Both::new(64_000);
    let pairs = |both: &mut Both, from: usize, to: usize| {
        for pair in history[from..to].chunks(2) {
            both.asks(&pair[0]);
            both.answers(&pair[1], 0);
        }
    };
    let tried = |both: &mut Both| {
        both.used(40_000);
        let proposal = both.host.asks(cline::propose);
        let replaced = proposal
            .events
            .into_iter()
            .find(|one| matches!(one.body, Body::Replace(_)) && one.because.is_none());
        let replaced = replaced.expect("a file is replaced");
        both.host.put(replaced.body)
    };
    pairs(&mut both, 0, 6);
    tried(&mut both);
    pairs(&mut both, 6, 8);
    let second = tried(&mut both);
    let gone = both.host.prompt().matches(READ_AGAIN).count();
    both.host.undo(second);
    assert_eq!(both.host.prompt().matches(READ_AGAIN).count(), gone - 1);
    tried(&mut both);
    assert_eq!(both.host.prompt().matches(READ_AGAIN).count(), gone);
}

/// A block of words.
fn words(words: &str) -> Block {
    Block::words(&words.into())
}

/// A task whose reads were replaced at 100, and whose middle was left out at 200; in both ways, on both sides.
fn edited_twice() -> (Both, Task, u64) {
    let mut both = Both::new(64_000);
    both.asks("the task");
    both.answers("yes", 0);
    for size in [9_000, 10] {
        both.asks(&read("a", size));
        both.answers("seen", 0);
    }
    both.asks("go on");
    both.host.now += 100;
    assert_eq!(ranges(&both.makes_room(40_000)), 0);
    let kept = both.host.now;
    both.host.now += 100;
    both.answers("going on", 0);
    both.asks("and on");
    assert_eq!(ranges(&both.makes_room(40_000)), 1);
    both.same();
    let mut task = Task::default();
    task.append(both.history.iter().cloned());
    task.range = None;
    let said = |at: u64| {
        UiMessage::from_json(&format!(
            r#"{{"ts":{at},"type":"say","say":"checkpoint_created"}}"#
        ))
    };
    task.say(said(kept));
    replace_reads(&mut task.edits, &task.history.clone(), 2, 1.0);
    (both, task, kept)
}

#[test]
fn k8_going_back_to_a_time_keeps_the_edits_before_it() {
    let (mut both, mut task, kept) = edited_twice();
    let whole = both.host.prompt();
    assert!(whole.contains("[NOTE] Some previous") && !whole.contains("[NOTE] This file"));
    let back = both
        .host
        .log(&format!(r#"{{"type":"rollback","to":{{"time":{kept}}}}}"#));
    let then = both.host.prompt();
    assert!(
        then.contains("[NOTE] This file"),
        "the edit before it is kept"
    );
    assert!(
        !then.contains("[NOTE] Some previous"),
        "the range after it is gone"
    );
    assert!(!then.contains("and on"));
    assert_eq!(both.host.reopened().prompt(), then);
    both.host.undo(back);
    assert_eq!(both.host.prompt(), whole);

    // Cline forgets every edit, also those before.
    assert!(format!("{:?}", task.render()).contains("[NOTE] This file"));
    #[allow(clippy::cast_precision_loss, reason = "a time in ms")]
    let restored = task.restore(kept as f64, 0, 1.0);
    assert!(restored && task.edits.is_empty());
    assert!(!format!("{:?}", task.render()).contains("[NOTE] This file"));
}

#[test]
fn k10_an_edit_has_the_time_at_which_it_was_decided() {
    let mut both = Both::new(64_000);
    both.talk(10);
    let asked = both.host.now;
    both.used(40_000);
    both.host.now += 1_000;
    both.ours();
    // Cline gives it that of the request before: at that time, the notice stands already.
    both.exact(40_000);
    both.edits.truncate(5.0);
    assert!(format!("{:?}", both.theirs()).contains(TRUNCATED));
    both.host
        .log(&format!(r#"{{"type":"rollback","to":{{"time":{asked}}}}}"#));
    assert!(!both.host.prompt().contains("[NOTE]"));
}

#[test]
fn k10_a_history_of_one_message_is_not_shown_twice() {
    let mut both = Both::new(64_000);
    both.asks("the task");
    both.range = Some(Range::next(&both.history, None, Keep::Quarter));
    assert_eq!(both.range, Some(Range { start: 2, end: -1 }));
    both.host
        .log(r#"{"type":"overflow","error":"too long","kind":"tokens"}"#);
    assert!(cline::overflowed(&both.host.view().at(), 1).is_empty());
    both.answers("an answer", 0);
    both.asks("go on");
    let twice = |sent: &crate::both::Sent| format!("{sent:?}").matches("the task").count();
    assert_eq!((twice(&both.theirs()), twice(&both.sends())), (2, 1));
}

#[test]
fn k10_a_sub_agent_looks_at_what_is_shown_only() {
    let mut both = Both::of("sub", 64_000, "");
    both.asks("the task");
    both.answers("yes", 0);
    both.asks(&read("a", 9_000));
    both.answers("seen", 0);
    for turn in 0..6 {
        both.asks(&format!("question {turn}"));
        both.answers("answer", 0);
    }
    both.asks("go on");
    both.used(40_000);
    assert_eq!(ranges(&both.ours()), 1);
    let mut helper = Helper {
        conversation: both.history.clone(),
        ..Helper::default()
    };
    helper.compact(1.0);
    assert_eq!(both.sends(), sent(&to_json(&helper.render())));
    // The same file again: Cline replaces the read that nobody sees, and is content.
    both.answers("answer", 0);
    both.asks(&read("a", 10));
    helper.conversation.clone_from(&both.history);
    let before = helper.range;
    assert!(helper.compact(2.0));
    assert_eq!(helper.range, before);
    both.used(40_000);
    let proposal = both.ours();
    assert_eq!((ranges(&proposal), proposal.events.len()), (1, 1));
}

#[test]
fn k10_what_was_said_when_a_summary_was_asked_for_stays() {
    const CONDENSES: &str = r#"{"cline":{"auto_condense":true}}"#;
    let mut both = Both::of("main", 200_000, CONDENSES);
    both.host.profile(r#"{"model":"claude-sonnet-4-5"}"#);
    for turn in 0..5 {
        both.asks(&format!("question {turn}"));
        both.answers(&format!("answer {turn}"), 0);
    }
    let mut task = Task::default();
    task.append(both.history.iter().cloned());
    task.say(UiMessage::from_json(
        r#"{"ts":1,"say":"api_req_started","text":"{\"tokensIn\":160000}"}"#,
    ));
    let turn = |task: &mut Task, said: &str| {
        let begin = Begin {
            at: 2.0,
            window: Window::of(Some(200_000.0), "claude-sonnet-4-5", false),
            condenses: true,
            content: &[words(said)],
            environment: &words("environment"),
            summary_request: &words("sum up"),
        };
        task.begin(&begin).unwrap()
    };
    assert!(turn(&mut task, "the newest question").compacts);
    task.summarized(3.0);
    task.end(
        r#"{"tokensIn":1}"#,
        Message::from_json(
            r#"{"role":"assistant","content":[{"type":"text","text":"<summarize_task>"}]}"#,
        ),
    );
    let next = turn(&mut task, "the summary, and what is next");
    assert!(!to_json(&next.turn.rendered.messages).contains("the newest question"));

    both.asks("the newest question");
    both.used(160_000);
    let proposal = both.host.runs(cline::condense);
    let Some(Body::CompactPlan(plan)) = proposal.events.first().map(|one| one.body.clone()) else {
        panic!("{proposal:?}")
    };
    let commit = recount_policies::compact::commit(
        &both.host.view().at(),
        &plan,
        &["in short".to_owned()],
        recount_events::Maker::Model,
        1,
    );
    both.host.accept(&commit);
    let said = both.sends();
    assert_eq!(said.len(), 3);
    assert_eq!(said[0].1, [CONTINUE]);
    // The summary stands where the range began, not in the newest message.
    assert_eq!(
        said[2].1,
        ["<summary>\nin short\n</summary>", "the newest question"]
    );
}

#[test]
fn k10_words_said_while_a_call_ran_go_with_it_or_stay() {
    let mut both = Both::new(64_000);
    both.talk(3);
    both.answers("looking", 1);
    both.host.says("stop that!");
    both.host
        .log(r#"{"type":"tool_result","call":"t3_0","content":"stopped"}"#);
    for turn in 0..3 {
        both.answers("answer", 0);
        both.host.says(&format!("late question {turn}"));
    }
    // The range would end with the call, and the words behind it would stay: so both stay.
    both.used(40_000);
    let proposal = both.ours();
    assert_eq!(ranges(&proposal), 1);
    let prompt = both.host.prompt();
    assert!(prompt.contains("stop that!") && prompt.contains("stopped"));
    assert!(
        !prompt.contains("\"question 1\""),
        "what stands before it went"
    );
}

#[test]
fn k10_an_open_call_stays_and_both_sides_of_it_go() {
    let mut both = Both::new(64_000);
    both.talk(3);
    both.answers("looking", 1);
    for turn in 0..9 {
        both.host.says(&format!("late question {turn}"));
        both.host.answers("late answer");
    }
    both.host.says("and now?");
    both.used(40_000);
    let before = both.host.prompt();
    let proposal = both.ours();
    assert_eq!(ranges(&proposal), 2);
    assert!(both.host.prompt().contains("looking"));
    // They are one decision: the first takes the other and the notice with it.
    let first = both.host.head() + 1 - proposal.events.len() as u64;
    both.host.undo(first);
    assert_eq!(both.host.prompt(), before);
}

#[test]
fn k10_what_the_host_put_before_the_first_words_is_not_replaced() {
    let mut both = Both::new(64_000);
    both.host.log(
        r#"{"type":"inject","slot":"rules","lifetime":"session","content":"the rules of the house"}"#,
    );
    both.talk(20);
    both.host
        .log(r#"{"type":"overflow","error":"too long","kind":"tokens"}"#);
    let proposal = cline::overflowed(&both.host.view().at(), 1);
    both.host.accept(&proposal);
    let first = &both.sends()[0].1;
    assert_eq!(first[..], ["the rules of the house", "question 0"]);
    assert!(both.host.prompt().contains("[NOTE] Some previous"));
}
