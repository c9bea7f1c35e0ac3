//! How much of a model's window may be used, and which models summarise themselves.
//!
//! Constants and rules: Cline 3.40.0 to 4.0.12, `context-window-utils.ts` and `ContextManager.ts`.

use alloc::string::String;

/// What is taken where a model declares no window, in tokens.
const DEFAULT: f64 = 128_000.0;
/// Tokens kept free in large windows.
const RESERVE: f64 = 40_000.0;
/// The share of a small window that may be used.
const SHARE: f64 = 0.8;
/// The share of the window at which a helper with summaries compacts.
const HELPER: f64 = 0.75;

/// A model's window, in tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// What the model takes.
    pub size: f64,
    /// What may be used; not rounded.
    pub allowed: f64,
}

impl Window {
    /// The window of a model: as declared, or forced for DeepSeek models behind an endpoint that only resembles OpenAI's.
    #[must_use]
    pub fn of(declared: Option<f64>, model: &str, resembles_openai: bool) -> Window {
        let forced = resembles_openai && model.to_lowercase().contains("deepseek");
        let size = declared.filter(|size| *size != 0.0 && !forced);
        Window::sized(size.unwrap_or(DEFAULT))
    }

    fn sized(size: f64) -> Window {
        let allowed = if size == 64_000.0 {
            37_000.0
        } else if size == 128_000.0 {
            98_000.0
        } else if size == 200_000.0 {
            160_000.0
        } else {
            (size - RESERVE).max(size * SHARE)
        };
        Window { size, allowed }
    }

    /// The tokens at which a share of the window is used up; what is allowed without a share.
    #[must_use]
    pub fn threshold(&self, share: Option<f64>) -> f64 {
        match share.filter(|share| *share != 0.0) {
            Some(share) => floor(self.size * share).min(self.allowed),
            None => self.allowed,
        }
    }

    /// The tokens at which a helper compacts.
    #[must_use]
    pub fn helper_threshold(&self, summarises: bool) -> f64 {
        self.threshold(summarises.then_some(HELPER))
    }
}

/// The largest whole number that is not above; for sizes of windows.
fn floor(number: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "sizes of windows fit"
    )]
    let whole = number as i64 as f64;
    if whole > number { whole - 1.0 } else { whole }
}

/// A model that may write summaries of its own conversation.
#[must_use]
pub fn is_next_generation(model: &str) -> bool {
    const NAMES: [&str; 14] = [
        "gemini-2.5",
        "grok-4",
        "gpt-5",
        "gpt5",
        "gpt-oss",
        "gpt_oss",
        "minimax",
        "gemini3",
        "gemini-3",
        "kimi-k2",
        "kimi-k3",
        "deepseek-chat",
        "deepseek-reasoner",
        "laguna",
    ];
    let id: String = model.to_lowercase();
    let named = NAMES.iter().any(|name| id.contains(name));
    let speciale = id.contains("deepseek") && id.contains("3.2") && !id.contains("speciale");
    named || speciale || is_fourth_claude(&id)
}

fn is_fourth_claude(id: &str) -> bool {
    if id == "sonnet" || id == "opus" {
        return true;
    }
    let family = ["sonnet", "opus", "haiku"]
        .iter()
        .any(|name| id.contains(name));
    family && version(id).is_some_and(|version| version >= 4)
}

/// The first single digit behind a dash, an underscore or a space.
fn version(id: &str) -> Option<u32> {
    let letters = id.as_bytes();
    let digit = |at: usize| letters.get(at).filter(|letter| letter.is_ascii_digit());
    (1..letters.len()).find_map(|at| {
        let behind = matches!(letters.get(at.checked_sub(1)?), Some(b'-' | b'_' | b' '));
        let alone = digit(at.checked_add(1)?).is_none();
        let version = digit(at).filter(|_| behind && alone)?;
        Some(u32::from(version.wrapping_sub(b'0')))
    })
}
