//! What the scripted model writes when it is asked for a summary: of a realistic length, made of the words that it was given.

use super::body::{Body, Part};
use crate::recordings::Dice;

/// The headings of a summary, in words of our own.
const SECTIONS: [&str; 9] = [
    "What was asked for and why",
    "Ideas and techniques",
    "Files and code",
    "Errors and what helped",
    "How problems were solved",
    "Everything the person said",
    "What is still to do",
    "What is being done now",
    "What might come next",
];

/// A way in which a model fails to summarise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It says nothing.
    Empty,
    /// Its answer is cut off.
    Cut,
    /// It calls a tool.
    Call,
    /// It does not mark where the summary is.
    Untagged,
    /// The provider is overloaded.
    Overloaded,
}

/// An answer to a request for a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// What it wrote.
    pub text: String,
    /// Why it stopped.
    pub stop: &'static str,
    /// What went wrong with it.
    pub fault: Option<Fault>,
}

/// Asks for a summary: the last words name the tag.
#[must_use]
pub(super) fn is_asked(body: &Body) -> bool {
    body.last_words()
        .is_some_and(|words| words.contains("<summary>") || words.contains("summar"))
}

/// Answers; one in `faults` is faulty (0: none).
#[must_use]
pub(super) fn write(body: &Body, faults: u64, dice: &mut Dice) -> Written {
    let fault = (faults > 0 && dice.below(faults) == 0).then(|| match dice.below(5) {
        0 => Fault::Empty,
        1 => Fault::Cut,
        2 => Fault::Call,
        3 => Fault::Untagged,
        _ => Fault::Overloaded,
    });
    let (text, stop) = match fault {
        None => (whole(body, dice), "end_turn"),
        Some(Fault::Empty | Fault::Overloaded) => (String::new(), "end_turn"),
        Some(Fault::Call) => ("I will look at the file first.".to_owned(), "tool_use"),
        Some(Fault::Untagged) => ("We looked at a few things.".to_owned(), "end_turn"),
        Some(Fault::Cut) => {
            let mut text = whole(body, dice);
            let half = (0..=text.len() / 2)
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(0);
            text.truncate(half);
            (text, "max_tokens")
        }
    };
    Written { text, stop, fault }
}

fn whole(body: &Body, dice: &mut Dice) -> String {
    let said: Vec<&str> = body
        .blocks
        .iter()
        .filter(|block| matches!(block.part, Part::User | Part::Assistant))
        .filter_map(|block| block.value["text"].as_str())
        .collect();
    let all: usize = body.blocks.iter().map(|block| block.bytes.len()).sum();
    let share = usize::try_from(9 + dice.below(9)).unwrap_or(9);
    let wanted = (all / share).clamp(400, 16_000);
    let mut text = String::from(
        "<analysis>\nI read it from the beginning, message by message.\n</analysis>\n<summary>\n",
    );
    for (number, section) in SECTIONS.iter().enumerate() {
        text.push_str(&format!("{}. {section}:\n", number + 1));
        let share = wanted / SECTIONS.len();
        let mut left = share;
        for words in said.iter().skip(number).step_by(SECTIONS.len()) {
            let part: String = words.chars().take(left.min(240)).collect();
            let part = part.replace(['<', '>'], " ");
            left = left.saturating_sub(part.len() + 5);
            text.push_str(&format!("   - {part}\n"));
            if left < 20 {
                break;
            }
        }
    }
    text.push_str("</summary>");
    text
}
