//! What is publicly known of providers' prompt caches. As of 2026-11.
//!
//! Sources: platform.claude.com, prompt caching (minimum prefix by model, lifetimes, look-back, number of breakpoints);
//! developers.openai.com, prompt caching guide; ai.google.dev, context caching.

use recount_events::Profile;

/// Positions that a breakpoint looks back for an earlier entry, its own included (Anthropic).
pub const LOOK_BACK: usize = 20;
/// Breakpoints in a request at most (Anthropic).
pub const MOST_MARKS: usize = 4;

const MINUTE: u64 = 60_000;

/// How a provider caches the prompts of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The shortest prefix that is kept, in tokens of the provider.
    pub minimum: u64,
    /// How long an ordinary entry lives that nobody reads, in ms.
    pub lifetime: u64,
    /// How long the longest-lived entry lives, in ms.
    pub longest: u64,
}

/// Shortest prefix of a family of Anthropic's models.
///
/// The families of 2026 that no page names (the 5.5 models) have the value of the family they follow: uncertain.
const MINIMUM: &[(&str, u64)] = &[
    ("claude-opus-5", 512),
    ("claude-fable-5", 512),
    ("claude-mythos-5", 512),
    ("claude-mythos-preview", 2_048),
    ("claude-opus-4-8", 1_024),
    ("claude-opus-4-7", 2_048),
    ("claude-opus-4-6", 4_096),
    ("claude-opus-4-5", 4_096),
    ("claude-opus-4", 1_024),
    ("claude-sonnet", 1_024),
    ("claude-haiku-5", 4_096),
    ("claude-haiku-4-5", 4_096),
    ("claude-3-5-haiku", 2_048),
];

impl Rules {
    /// The rules for a profile's model; for a model that is not known those of its provider's ordinary ones.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let model = profile.model.as_str().unwrap_or_default();
        match profile.provider.as_str() {
            Some("openai") => Self {
                minimum: 1_024,
                // From 5.6 on entries live for half an hour; before, for 5 to 10 idle minutes.
                lifetime: if model.starts_with("gpt-5.6") {
                    30 * MINUTE
                } else {
                    5 * MINUTE
                },
                longest: 60 * MINUTE,
            },
            Some("google" | "gemini") => Self {
                // Implicit caching: 1,024 for the flash models, 4,096 for the pro ones; nothing is promised about how long.
                minimum: if model.contains("flash") {
                    1_024
                } else {
                    4_096
                },
                lifetime: 5 * MINUTE,
                longest: 60 * MINUTE,
            },
            _ => Self {
                minimum: minimum(model),
                lifetime: 5 * MINUTE,
                longest: 60 * MINUTE,
            },
        }
    }
}

fn minimum(model: &str) -> u64 {
    MINIMUM
        .iter()
        .find(|(family, _)| model.contains(family))
        .map_or(1_024, |(_, tokens)| *tokens)
}
