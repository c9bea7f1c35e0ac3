//! Under what a session is relived: preset, window, dialect, and the moods of the provider.

use super::provider::Traits;
use crate::host;
use crate::validator::Wire;
use serde_json::{Value, json};

/// A policy, a window, a provider.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The preset.
    pub preset: &'static str,
    /// The context window.
    pub window: u64,
    /// The longest answer.
    pub max_output: u64,
    /// The dialect.
    pub wire: Wire,
    /// The answer's limit counts against the window.
    pub older: bool,
    /// One summary in so many is faulty; 0: none.
    pub faults: u64,
    /// One request in so many meets a rate limit; 0: none.
    pub rates: u64,
    /// The host stages spans for collapsing while it goes on.
    pub stages: bool,
    /// The host keeps notes of the session.
    pub notes: bool,
    /// Where spilled results go, as the prompt shows it; none: into the data directory.
    pub spills: Option<String>,
    /// The bodies that are issued are kept whole.
    pub keep: bool,
    /// What tokenizer and moods are drawn from.
    pub seed: String,
}

impl Setup {
    /// A preset in a window, with a provider drawn from a seed: about half of them count the answer's limit against the window.
    #[must_use]
    pub fn new(preset: &'static str, window: u64, wire: Wire, seed: &str) -> Self {
        Self {
            preset,
            window,
            max_output: (window / 4).min(16_000),
            wire,
            older: seed.len().is_multiple_of(2),
            faults: 7,
            rates: 60,
            stages: preset == "claude-code" && window >= 64_000,
            notes: (preset == "claude-code") == (window == 200_000),
            spills: None,
            keep: false,
            seed: format!("{seed} {preset} {window}"),
        }
    }

    /// The profile, as a host gives it.
    #[must_use]
    pub fn profile(&self, thinks: bool) -> Value {
        let thinking = json!({"thinking": {"type": "enabled", "budget_tokens": 1_024}});
        match self.wire {
            Wire::Anthropic => json!({
                "provider": "anthropic",
                "model": "claude-sonnet-4-5-20250929",
                "wire": "anthropic",
                "window": self.window,
                "max_output": self.max_output,
                "overhead_tokens": 400,
                "body_bytes": 32_000_000,
                "images": {"count": 100, "bytes": 5_242_880, "pixels": 8_000},
                "prefill": false,
                "thinking": {"binds": false, "keeps": "all"},
                "system_role": false,
                "cache_edits": self.edits(),
                "params": if thinks { thinking } else { json!({}) },
            }),
            Wire::Chat => json!({
                "provider": "openai",
                "model": "gpt-4.1",
                "wire": "openai_chat",
                "window": self.window,
                "max_output": self.max_output,
                "overhead_tokens": 100,
                "body_bytes": 50_000_000,
                "images": {"count": 500, "bytes": 5_242_880, "pixels": 8_000},
                "prefill": true,
                "thinking": {"binds": false, "keeps": "all"},
                "system_role": true,
                "cache_edits": false,
            }),
        }
    }

    /// The same with a window that holds everything: to see what would be sent.
    #[must_use]
    pub fn unlimited(&self, thinks: bool) -> Value {
        let mut profile = self.profile(thinks);
        if let Some(object) = profile.as_object_mut() {
            object.insert("window".to_owned(), json!(1_u64 << 32));
        }
        profile
    }

    /// The policy, as a host gives it.
    #[must_use]
    pub fn policy(&self) -> Value {
        json!(self.preset)
    }

    /// Cache edits are understood: claude-code on its own provider.
    #[must_use]
    pub fn edits(&self) -> bool {
        self.preset == "claude-code" && self.wire == Wire::Anthropic
    }

    /// Words of the system prompt: fewer in small windows.
    #[must_use]
    pub fn system_words(&self) -> u64 {
        (self.window / 40).min(2_500)
    }

    /// What the provider is like.
    #[must_use]
    pub fn traits(&self) -> Traits {
        Traits {
            wire: self.wire,
            window: self.window,
            max_output: self.max_output,
            overhead: if self.wire == Wire::Anthropic {
                346
            } else {
                60
            },
            older: self.older,
            edits: self.edits(),
            faults: self.faults,
            rates: self.rates,
            facts: host::logged(&self.profile(false)),
        }
    }
}
