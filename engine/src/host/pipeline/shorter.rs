//! A prompt that fits, but not with as long an answer as was asked for: it is sent again with a shorter one, and nothing is taken out of it.

use crate::core::{Core, issued_in, issued_of};
use recount_events::raw::{member, member_words};
use recount_events::{Digest, Issued, Text};
use recount_policies::overflow::Verdict;

/// Tokens of an answer that are worth sending a prompt for; and as many again where the model thinks before it, which is what
/// thinking takes at the least.
const LEAST_ANSWER: u64 = 1_024;

/// What was sent of an answer's limit with a prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    /// The limit of the answer.
    pub(super) answer: Option<u64>,
    /// Whether the model was to think within it.
    thinks: bool,
    /// What we counted of the prompt, in our own tokens.
    counted: u64,
}

/// The answer's limit that a prompt was issued with.
pub(super) fn answer_in(issued: &Issued) -> Option<u64> {
    let limit = |name: &str| member(params(issued), name)?.trim().parse().ok();
    limit("max_tokens").or_else(|| limit("max_completion_tokens"))
}

fn params(issued: &Issued) -> &str {
    issued.params.as_ref().and_then(Text::as_str).unwrap_or("")
}

impl Sent {
    /// Of a prompt that was issued.
    pub(super) fn with(core: &Core, issued: Option<Digest>) -> Self {
        let logged = issued.and_then(|digest| issued_of(&core.state, digest));
        let Some(issued) = logged.as_deref().and_then(issued_in) else {
            return Self::default();
        };
        let thinking = member(params(issued), "thinking").and_then(|raw| member_words(raw, "type"));
        Self {
            answer: answer_in(issued),
            thinks: thinking.is_some_and(|kind| kind == "enabled"),
            counted: issued.estimate,
        }
    }

    /// What the words say of the prompt alone. Where they tell only what it came to with the answer, what was asked for the answer is
    /// known; where they tell what it has at the least, and we counted more, they tell nothing.
    pub(super) fn alone(&self, verdict: &Verdict) -> Verdict {
        let mut alone = *verdict;
        alone.answer = verdict.answer.or(self.answer);
        if verdict.actual.is_none() {
            let parts = verdict.total.zip(alone.answer);
            alone.actual = parts.map(|(total, answer)| total.saturating_sub(answer));
        } else if verdict.at_least && verdict.actual < Some(self.counted) {
            alone.actual = None;
        }
        alone
    }

    /// The shortest answer that the prompt is sent again for.
    pub(super) fn least(&self) -> u64 {
        let least = if self.thinks {
            LEAST_ANSWER.saturating_mul(2)
        } else {
            LEAST_ANSWER
        };
        self.answer.map_or(least, |asked| asked.min(least))
    }
}
