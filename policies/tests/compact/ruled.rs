//! A10: what a summary without a model keeps word for word, and what it says of what it cuts.

use super::common::Host;
use super::talk::*;
use recount_events::Trigger;
use recount_policies::compact::{self, Ask};

/// A fold without a model of all but the last turn: its summary, where it is worth one.
fn ruled(host: &Host, level: u8) -> Option<String> {
    let ask = Ask {
        trigger: Trigger::Manual,
        whole: true,
        level,
        ..Ask::default()
    };
    let proposal = compact::by_rule(&host.view().at(), &ask).ok()?;
    let summary = commit_in(&proposal)?.summary?;
    summary.words().map(|words| words.into_owned())
}

/// A session with a model's summary at its beginning.
fn summed(window_of: u64, summary: &str) -> Host {
    let mut host = window(window_of, SMALL);
    (0..3).for_each(|number| {
        turn(&mut host, number, 400);
    });
    // Little stays beside it.
    host.says("x");
    host.answers("y");
    let ask = Ask {
        whole: true,
        ..Ask::default()
    };
    compacts(&mut host, &ask, summary);
    host
}

/// However little came since, and however hard it cuts: a line of summary is never dropped for the few tokens that it takes.
#[test]
fn a10_a_short_earlier_summary_stays_word_for_word() {
    let (mut folded, mut left) = (0, 0);
    for summary in [
        "SUMMARY-OK".to_owned(),
        "They counted birds.\nThe count is 12.".to_owned(),
        "bird ".repeat(30).trim().to_owned(),
    ] {
        for window_of in [2_500, 8_000, 60_000] {
            for since in [1, 4, 12, 40, 200, 900] {
                for level in 0..=3 {
                    let mut host = summed(window_of, &summary);
                    host.says(&words(since));
                    host.answers(&words(since));
                    host.says("go on");
                    host.answers("yes");
                    match ruled(&host, level) {
                        Some(text) => {
                            folded += 1;
                            assert!(text.contains(&summary), "{since} {level}: {text}");
                        }
                        None => left += 1,
                    }
                }
            }
        }
    }
    assert!(folded > 50, "{folded} {left}");
}

/// What a summary shows of the person's words is theirs, or ends with an ellipsis; no heading promises more.
#[test]
fn a10_what_is_cut_is_not_called_whole() {
    let mut cut = 0;
    for tokens in [10, 60, 300, 1_500] {
        for number in [1, 3, 9] {
            let mut host = window(8_000, SMALL);
            let mut said = Vec::new();
            for one in 0..number {
                let words = format!("ask {one} {}", words(tokens));
                host.says(&words);
                said.push(words.trim().to_owned());
                host.answers(&format!("told {one} {}", super::talk::words(tokens)));
            }
            // Folded twice: what was cut the first time is no more whole the second time.
            for _ in 0..2 {
                host.says("more?");
                host.answers("more.");
                host.says("and now?");
                let Some(text) = ruled(&host, 0) else {
                    continue;
                };
                assert!(!text.contains("verbatim"), "{text}");
                for line in text.lines().filter(|line| line.contains("- ask ")) {
                    let words = line.trim_start_matches("- ");
                    let whole = said.iter().any(|said| said == words);
                    cut += usize::from(!whole);
                    assert!(whole || words.ends_with('…'), "{words}");
                }
                let ask = Ask {
                    trigger: Trigger::Manual,
                    whole: true,
                    ..Ask::default()
                };
                let proposal = compact::by_rule(&host.view().at(), &ask).unwrap();
                host.accept(&proposal);
            }
        }
    }
    assert!(cut > 0, "some were");
}
