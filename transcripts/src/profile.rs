//! The profile that a recording shows: who answered, and the limits of that model.

use recount_events::{Keeps, Profile, Text, Thinking, Wire};

/// Context window of Claude models (vendor's model pages).
const WINDOW: u64 = 200_000;
/// Context window of the models that the host marks with `[1m]`.
const WINDOW_LONG: u64 = 1_000_000;
/// The answer that the host asks for at most.
const MAX_OUTPUT: u64 = 32_000;
/// Largest request body (vendor's page of API errors: 413 above 32 MB).
const BODY_BYTES: u64 = 32 * 1024 * 1024;
/// Most pictures in a request of a 200,000 token model (vendor's vision page).
const IMAGES_COUNT: u32 = 100;
/// Largest picture, in base64 characters (vendor's vision page: 5 MB).
const IMAGES_BYTES: u64 = 5 * 1024 * 1024;
/// Longest side of a picture in pixels (vendor's vision page).
const IMAGES_PIXELS: u32 = 8_000;

/// Tokens of thinking that the host asks for (`maxThinkingTokens` of recordings; below the largest answer, as it must be).
pub(crate) const THINKING_TOKENS: u64 = 31_999;

/// The profile of a Claude model; `budget` is that of the thinking which requests ask for.
pub(crate) fn anthropic(model: &str, provider: &str, budget: Option<u64>) -> Profile {
    let long = model.ends_with("[1m]");
    Profile {
        provider: Text::plain(provider),
        model: Text::plain(model),
        wire: Wire::Anthropic,
        window: if long { WINDOW_LONG } else { WINDOW },
        max_output: MAX_OUTPUT,
        overhead_tokens: 0,
        body_bytes: BODY_BYTES,
        images_count: IMAGES_COUNT,
        images_bytes: IMAGES_BYTES,
        images_pixels: IMAGES_PIXELS,
        prefill: false,
        thinking: Thinking {
            binds: false,
            keeps: Keeps::All,
        },
        system_role: false,
        cache_edits: false,
        params: budget.map(|tokens| {
            Text::json(&format!(
                "{{\"thinking\":{{\"type\":\"enabled\",\"budget_tokens\":{tokens}}}}}"
            ))
        }),
        headers: None,
    }
}
