//! What is publicly known of current models. As of 2026-11; numbers are tokens unless said.
//!
//! Sources: platform.claude.com (a page for each model, as of 2026-10: window, largest answer; vision, errors, extended thinking, preserved
//! thinking, mid-conversation system messages); developers.openai.com (model pages); ai.google.dev and docs.cloud.google.com (model
//! pages). Where a page was not at hand the row says so: "uncertain" rows carry the family's smallest published value, so that a budget
//! errs on the safe side. What a picture costs: `pictures.rs`; how a provider caches: `recount_policies::cache::Rules`.

/// A shipped profile.
pub(super) struct Row {
    /// Its name: the model's.
    pub(super) name: &'static str,
    /// Who answers.
    pub(super) provider: &'static str,
    /// Context window.
    pub(super) window: u64,
    /// Largest answer.
    pub(super) max_output: u64,
    /// What the provider adds around tools and messages.
    pub(super) overhead: u64,
    /// Largest body in bytes; 0: none is published.
    pub(super) body_bytes: u64,
    /// Most pictures in a request.
    pub(super) images: u32,
    /// The last message may be the assistant's.
    pub(super) prefill: bool,
    /// Thinking is bound to its prefix.
    pub(super) binds: bool,
    /// Thinking of all turns is kept, else that of the last.
    pub(super) keeps_all: bool,
    /// Messages of role system are allowed in mid-conversation.
    pub(super) system_role: bool,
    /// Most base64 characters of a picture.
    pub(super) image_bytes: u64,
    /// Most pixels a side; 0: none is published, larger ones are scaled down.
    pub(super) image_pixels: u32,
}

const MIB: u64 = 1_024 * 1_024;

/// Anthropic: 32 MB a request; 600 pictures, 100 on windows of 200,000, each of 5 MB in base64 and 8,000 pixels a side; 400 tokens for the system text that tools bring
/// (346 on the tool-use page for most models, rounded up).
const fn claude(name: &'static str, window: u64, max_output: u64) -> Row {
    Row {
        name,
        provider: "anthropic",
        window,
        max_output,
        overhead: 400,
        body_bytes: 32_000_000,
        images: if window > 200_000 { 600 } else { 100 },
        prefill: false,
        binds: false,
        keeps_all: true,
        system_role: false,
        image_bytes: 5 * MIB,
        image_pixels: 8_000,
    }
}

/// OpenAI Chat: the last message may be the assistant's; system messages may stand anywhere; 500 pictures a request and 50 MB a body are
/// the published limits of the vision guide.
const fn gpt(name: &'static str, window: u64, max_output: u64) -> Row {
    Row {
        name,
        provider: "openai",
        window,
        max_output,
        overhead: 100,
        body_bytes: 50_000_000,
        images: 500,
        prefill: true,
        binds: false,
        keeps_all: true,
        system_role: true,
        image_bytes: 20 * MIB,
        image_pixels: 0,
    }
}

/// Google, by its endpoint that speaks OpenAI's Chat dialect (`…/v1beta/openai/chat/completions`): the native wire is not written by this
/// version. The conversation must end with the user. 3,000 pictures a request (docs.cloud.google.com, 2026-10); 20 MB a request with
/// inline data (ai.google.dev; larger on the cloud's own endpoints).
const fn gemini(name: &'static str) -> Row {
    Row {
        name,
        provider: "google",
        window: 1_048_576,
        max_output: 65_535,
        overhead: 100,
        body_bytes: 20_000_000,
        images: 3_000,
        prefill: false,
        binds: false,
        keeps_all: true,
        system_role: false,
        image_bytes: 20_000_000,
        image_pixels: 0,
    }
}

/// The shipped profiles.
pub(super) const SHIPPED: &[Row] = &[
    // Preserved thinking is enforced from Fable 5.1 on.
    Row {
        binds: true,
        system_role: true,
        ..claude("claude-fable-5-2", 1_000_000, 128_000)
    },
    Row {
        binds: true,
        system_role: true,
        ..claude("claude-fable-5-1", 1_000_000, 128_000)
    },
    Row {
        system_role: true,
        ..claude("claude-fable-5", 1_000_000, 128_000)
    },
    Row {
        binds: true,
        system_role: true,
        ..claude("claude-opus-5-5", 1_000_000, 128_000)
    },
    Row {
        system_role: true,
        ..claude("claude-opus-5", 1_000_000, 128_000)
    },
    Row {
        binds: true,
        ..claude("claude-sonnet-5-5", 1_000_000, 128_000)
    },
    claude("claude-sonnet-5", 1_000_000, 128_000),
    Row {
        binds: true,
        ..claude("claude-haiku-5-5", 1_000_000, 128_000)
    },
    Row {
        system_role: true,
        ..claude("claude-opus-4-8", 1_000_000, 128_000)
    },
    claude("claude-opus-4-7", 1_000_000, 128_000),
    claude("claude-opus-4-6", 1_000_000, 128_000),
    claude("claude-sonnet-4-6", 1_000_000, 128_000),
    Row {
        prefill: true,
        ..claude("claude-opus-4-5", 200_000, 64_000)
    },
    Row {
        prefill: true,
        keeps_all: false,
        ..claude("claude-sonnet-4-5", 200_000, 64_000)
    },
    Row {
        prefill: true,
        keeps_all: false,
        ..claude("claude-haiku-4-5", 200_000, 64_000)
    },
    Row {
        prefill: true,
        keeps_all: false,
        ..claude("claude-opus-4-1", 200_000, 32_000)
    },
    Row {
        prefill: true,
        keeps_all: false,
        ..claude("claude-sonnet-4", 200_000, 64_000)
    },
    gpt("gpt-5.6-sol", 1_050_000, 128_000),
    gpt("gpt-5.6-terra", 1_050_000, 128_000),
    gpt("gpt-5.6-luna", 400_000, 128_000),
    // The larger windows of 5.4 and 5.5 are priced apart; this is the ordinary one.
    gpt("gpt-5.5", 400_000, 128_000),
    gpt("gpt-5.4", 400_000, 128_000),
    gpt("gpt-5.2", 400_000, 128_000),
    gpt("gpt-5.1", 400_000, 128_000),
    gpt("gpt-5", 400_000, 128_000),
    gpt("gpt-5-mini", 400_000, 128_000),
    gpt("gpt-4.1", 1_047_576, 32_768),
    gpt("gpt-4.1-mini", 1_047_576, 32_768),
    gpt("gpt-4o", 128_000, 16_384),
    // Google says 65,536 on some pages and 65,535 on others.
    gemini("gemini-3.8-flash"),
    gemini("gemini-3.7-flash"),
    gemini("gemini-3.1-pro-preview"),
    gemini("gemini-3-pro-preview"),
    gemini("gemini-3-flash-preview"),
    gemini("gemini-2.5-pro"),
    gemini("gemini-2.5-flash"),
];
