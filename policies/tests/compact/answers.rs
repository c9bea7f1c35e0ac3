//! A4, A14: what of an answer becomes the summary.

use recount_events::{CompactPlan, Range, Seq, Text, Trigger};
use recount_policies::compact::{Ask, answer, plan};

fn asked(instruction: Option<&str>) -> CompactPlan {
    CompactPlan {
        id: Text::plain("c1"),
        range: Range::Closed {
            first: Seq(1),
            last: Seq(2),
        },
        trigger: Trigger::Manual,
        level: 0,
        chunks: vec![(Seq(1), Seq(2))],
        instruction: instruction.map(Text::plain),
    }
}

/// Several pairs are one summary; what stands between them is none of it.
#[test]
fn a4_only_what_stands_inside_of_a_pair_enters() {
    let plan = own();
    for (text, summary) in [
        (
            "prefix <summary>a</summary> x <summary>b</summary>",
            "a\n\nb",
        ),
        (
            "<summary>a</summary><summary> b </summary>\n<summary>c</summary> end",
            "a\n\nb\n\nc",
        ),
        ("<summary></summary> x <summary>b</summary>", "b"),
        // What is opened and never closed is not begun.
        ("<summary>a</summary> see <summary> for it", "a"),
        // Tags that are spoken of.
        (
            "<summary>it reads `<summary>` and `</summary>` now</summary>",
            "it reads `<summary>` and `</summary>` now",
        ),
        (
            "<summary>outer <summary>inner</summary> rest</summary>",
            "outer <summary>inner</summary> rest",
        ),
        (
            "<summary>a `</summary>` tag</summary> x <summary>b</summary>",
            "a `</summary>` tag\n\nb",
        ),
    ] {
        let found = answer(&plan, text, Some("end_turn"));
        assert_eq!(found.as_deref(), Ok(summary), "{text}");
    }
    for text in [
        "<summary>",
        "</summary> a <summary>",
        "a</summary>",
        "<summary> </summary>",
    ] {
        assert!(answer(&plan, text, Some("end_turn")).is_err(), "{text}");
    }
}

fn own() -> CompactPlan {
    let mut host = super::talk::window(100_000, super::talk::SMALL);
    super::talk::turn(&mut host, 1, 200);
    super::talk::turn(&mut host, 2, 200);
    let ask = Ask {
        whole: true,
        ..Ask::default()
    };
    plan(&host.view().at(), &ask).unwrap()
}

#[test]
fn a4_the_scratchpad_is_stripped_and_the_summary_taken() {
    let plan = own();
    for (text, summary) in [
        (
            "<analysis>thinking</analysis>\n<summary>\n1. All\n</summary>",
            "1. All",
        ),
        ("<summary>1. All</summary>", "1. All"),
        ("Here it is.\n<summary>1. All</summary> Bye.", "1. All"),
        (
            "<analysis>the <summary> comes later</analysis><summary>1. All</summary>",
            "1. All",
        ),
        (
            "<analysis>a </analysis> b</analysis><summary>1. All</summary>",
            "1. All",
        ),
        (
            "<summary>code: `</summary>` is a tag</summary>",
            "code: `</summary>` is a tag",
        ),
        ("<analysis>never closed <summary>1. All</summary>", "1. All"),
    ] {
        assert_eq!(
            answer(&plan, text, Some("end_turn")).as_deref(),
            Ok(summary),
            "{text}"
        );
    }
}

#[test]
fn a14_an_answer_that_is_none_is_a_fault_and_says_whether_to_try_again() {
    let plan = own();
    let good = "<summary>1. All</summary>";
    for (text, stop, retry) in [
        ("", Some("end_turn"), true),
        ("  \n", None, true),
        ("<summary> </summary>", None, true),
        ("1. All", Some("end_turn"), true),
        ("<analysis>I think</analysis>", None, true),
        ("<summary>1. All", None, true),
        (good, Some("max_tokens"), true),
        (good, Some("length"), true),
        (good, Some("MAX_TOKENS"), true),
        (good, Some("tool_use"), true),
        (good, Some("tool_calls"), true),
        (good, Some("refusal"), false),
        (good, Some("SAFETY"), false),
        (good, Some("model_context_window_exceeded"), false),
    ] {
        let fault = answer(&plan, text, stop).unwrap_err();
        assert_eq!(fault.retry, retry, "{text:?} {stop:?}: {}", fault.why);
        assert!(!fault.why.is_empty());
    }
    for stop in [
        None,
        Some("end_turn"),
        Some("stop"),
        Some("STOP"),
        Some("stop_sequence"),
    ] {
        assert!(answer(&plan, good, stop).is_ok(), "{stop:?}");
    }
}

#[test]
fn a14_where_no_tags_were_asked_for_the_whole_text_enters() {
    let plan = asked(Some("Say it in one line."));
    assert_eq!(
        answer(&plan, " All is well. ", None).as_deref(),
        Ok("All is well.")
    );
    let tagged = "<analysis>x</analysis><summary>All</summary>";
    assert_eq!(answer(&plan, tagged, None).as_deref(), Ok("All"));
    assert!(answer(&plan, "<analysis>x</analysis>", None).is_err());
    assert_eq!(answer(&asked(None), "All", None).as_deref(), Ok("All"));
}
