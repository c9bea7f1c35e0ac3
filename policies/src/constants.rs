//! The numbers of the tiers, by preset; each may be changed by the `params` of a `policy` event.
//!
//! Sources: `cline`: Cline 4.0.12 (`docs/cline.md`); `claude-code`: public analyses of version 2.1.x; `five-layer`: the public description of a five-layer agent server. Tokens
//! are the provider's unless said; sizes of results are UTF-16 code units, as their original counts them.

use crate::bounds;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use recount_events::Preset;
use serde::{Deserialize, Serialize};

/// All numbers of a policy, tier by tier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Constants {
    /// ① Tool results.
    pub budget: Budget,
    /// ② Zombies.
    pub snip: Snip,
    /// ③ Old results.
    pub micro: Micro,
    /// ④ Staged spans.
    pub collapse: Collapse,
    /// ⑤ Summaries.
    pub compact: Compact,
    /// Cline's own.
    pub cline: Cline,
    /// Reactive levels.
    pub overflow: Overflow,
    /// What is put into the prompt beside the conversation.
    pub assembly: Assembly,
}

/// ① What tool results may cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Largest result, in UTF-16 units; what is larger is spilled. 0: no limit.
    pub result_limit: u64,
    /// Limits of single tools, where they are smaller; 0: that tool has none at all.
    pub tool_limits: BTreeMap<String, u64>,
    /// Largest sum of all results that answer one response, in UTF-16 units. 0: no limit.
    pub response_limit: u64,
    /// Bytes of the preview that stands for a spilled result.
    pub preview_bytes: u64,
    /// Largest result in counted tokens; what is larger loses its middle. 0: no limit.
    pub result_tokens: u64,
    /// Of those, per cent kept of the beginning.
    pub head_percent: u64,
    /// Of those, per cent kept of the end.
    pub tail_percent: u64,
    /// Per cent of the profile's limit of bytes and pictures from which on the largest are taken out. 0: never.
    pub bytes_percent: u64,
}

/// ② Which zombies are removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Snip {
    /// Reads of a file that was read again unchanged.
    pub superseded_reads: bool,
    /// Results equal to a later one of the same call.
    pub duplicates: bool,
    /// Messages without words.
    pub empty: bool,
    /// Markers of progress that nothing followed.
    pub markers: bool,
    /// Also in front of signed thinking that would become invalid.
    pub before_thinking: bool,
    /// Counted tokens that it must free to be worth a changed prefix.
    pub least_tokens: u64,
}

/// ③ Which old results are cleared, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Micro {
    /// Tools whose results may be cleared.
    pub tools: Vec<String>,
    /// Minutes since the last answer after which the cache is cold. 0: never by time.
    pub idle_minutes: u64,
    /// Results that stay, the newest ones; at least 1.
    pub keep: u64,
    /// Clear on the provider's side while the cache is warm: `none`, `cache_edits` or `context_management`.
    pub cached: CachedForm,
    /// Live results from which on the cached form clears.
    pub cached_trigger: u64,
    /// Live results that the cached form leaves; at least 1.
    pub cached_keep: u64,
}

/// How results are cleared on the provider's side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CachedForm {
    /// Not at all.
    #[default]
    None,
    /// Edits that name single results; only on profiles that support them.
    CacheEdits,
    /// The public parameter `context_management`.
    ContextManagement,
}

/// ④ Staged spans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Collapse {
    /// It runs.
    pub on: bool,
    /// Per cent of effective at which staged spans are committed.
    pub commit_percent: u64,
    /// Per cent of effective at which nothing is sent while a staged span is left.
    pub block_percent: u64,
    /// Exchanges of the same tool and target in a row from which on they are collapsed without a model. 0: never.
    pub repeats: u64,
}

/// ⑤ Summaries.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Compact {
    /// It runs.
    pub on: bool,
    /// A limit of its own instead of the window; counts messages only, without tools and system prompt. 0: the window.
    pub limit: u64,
    /// Most of an answer that is kept free.
    pub output_reserve: u64,
    /// Where the trigger comes from.
    pub trigger: TriggerLine,
    /// Trigger: effective less this.
    pub buffer: u64,
    /// Warning line: trigger less this.
    pub warning_buffer: u64,
    /// Error line: trigger less this.
    pub error_buffer: u64,
    /// Blocking line: effective less this.
    pub blocking_buffer: u64,
    /// What a fold leaves.
    pub leaves: Leaves,
    /// Tokens that are kept at least, from the end.
    pub keep_tokens: u64,
    /// Messages with words that are kept at least, from the end.
    pub keep_texts: u64,
    /// Tokens that are kept at most.
    pub keep_most: u64,
    /// Per cent of the trigger that what is kept, restored and attached may take together. 0: no cap.
    pub cap_percent: u64,
    /// Memory notes that cover the span become the summary.
    pub memory: bool,
    /// A custom instruction takes the place of the request's own, else it is put behind it.
    pub custom_replaces: bool,
    /// Thinking is turned off in the request.
    pub thinking_off: bool,
    /// Largest summary, in tokens.
    pub summary_tokens: u64,
    /// Files that come back after.
    pub restore_files: u64,
    /// Counted tokens of one of them; a larger one comes back as its path.
    pub restore_file_tokens: u64,
    /// Counted tokens of all of them.
    pub restore_tokens: u64,
    /// Failures in a row that stop it.
    pub failures: u64,
    /// Refills right after that stop it.
    pub refills: u64,
    /// Responses within which a refill counts as right after.
    pub refill_rounds: u64,
    /// Per cent of the prompt that is new since the last compaction, from which on its refill is work and does not count.
    pub refill_percent: u64,
    /// Times that a request which is itself too long is tried with less.
    pub retries: u64,
}

/// Where the trigger comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TriggerLine {
    /// Effective less the buffer.
    #[default]
    Buffer,
    /// Cline's table of windows.
    Cline,
}

/// What a fold leaves as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leaves {
    /// A tail, by the numbers of what is kept.
    #[default]
    Tail,
    /// The first pair, and of what stands behind it what Cline leaves.
    FirstPair,
}

/// What Cline's rules have of their own; the rest of them is no number of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Cline {
    /// Models that can sum up themselves are asked for summaries, instead of leaving the middle out.
    pub auto_condense: bool,
    /// Refusals behind the first one for which more is left out.
    pub retries: u64,
}

/// Levels without a model, and when a refusal may start a compaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Overflow {
    /// Results that stay uncleared at levels 1, 2 and 3.
    pub keep_results: [u64; 3],
    /// Per cent of the trigger that stays at levels 1, 2 and 3.
    pub keep_percent: [u64; 3],
}

/// What is put into the prompt beside the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Assembly {
    /// Cache breakpoints are set.
    pub breakpoints: bool,
    /// To-do list and memories are attached.
    pub attachments: bool,
    /// Session memories that are attached, the newest.
    pub memories: u64,
    /// Counted tokens of all of them.
    pub memory_tokens: u64,
    /// Importance from which on a memory about the person is attached.
    pub importance: i64,
}

/// What a compaction leaves free of the trigger at the least by its own limits: it keeps, restores and attaches up to 60 per cent, and asks for
/// a summary of up to 25. Work that fills so much is no refill.
const REFILL_PERCENT: u64 = 15;

/// Tools of the preset claude-code whose results are one-time observations.
const CLAUDE_CODE_TOOLS: &[&str] = &[
    "Read",
    "Bash",
    "PowerShell",
    "Grep",
    "Glob",
    "WebSearch",
    "WebFetch",
    "Edit",
    "Write",
];
/// The same of five-layer.
const FIVE_LAYER_TOOLS: &[&str] = &["read", "write", "grep", "find", "script"];

impl Constants {
    /// The numbers of a preset.
    #[must_use]
    pub fn of(preset: Preset) -> Self {
        match preset {
            Preset::None => Self::none(),
            Preset::Cline => Self::cline(),
            Preset::Recount | Preset::ClaudeCode => Self::claude_code(),
            Preset::FiveLayer => Self::five_layer(),
        }
    }

    /// The numbers of a preset with a policy's own in their place. Numbers that are not given follow those that are.
    ///
    /// # Errors
    /// What in `params` is not known, not of its kind, or without sense, in words.
    pub fn resolve(preset: Preset, params: Option<&str>) -> Result<Self, String> {
        let Some(params) = params else {
            return Ok(Self::of(preset));
        };
        let (mut constants, given) = Self::merged(preset, params)?;
        bounds::follow(&mut constants, |name| {
            let mut at = &given;
            name.split('.').all(|part| match at.get(part) {
                Some(inside) => {
                    at = inside;
                    true
                }
                None => false,
            })
        });
        bounds::check(&constants)?;
        Ok(constants)
    }

    /// The numbers of a policy that stands in a log: one without sense is taken at the nearest bound. With what was taken otherwise.
    ///
    /// # Errors
    /// What in `params` is not known or not of its kind, in words.
    pub fn recorded(preset: Preset, params: Option<&str>) -> Result<(Self, Vec<String>), String> {
        let mut constants = match params {
            Some(params) => Self::merged(preset, params)?.0,
            None => Self::of(preset),
        };
        let told = bounds::clamp(&mut constants);
        Ok((constants, told))
    }

    /// The numbers of a preset with others over them, and those.
    fn merged(preset: Preset, params: &str) -> Result<(Self, serde_json::Value), String> {
        let own = Self::of(preset);
        let mut value = serde_json::to_value(&own).map_err(|cause| cause.to_string())?;
        let given: serde_json::Value =
            serde_json::from_str(params).map_err(|cause| cause.to_string())?;
        merge(&mut value, given.clone());
        let constants = serde_json::from_value(value).map_err(|cause| cause.to_string())?;
        Ok((constants, given))
    }

    /// The object that a `policy` event holds.
    #[must_use]
    pub fn to_params(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What works by the host's word alone: no tier proposes.
    fn none() -> Self {
        let mut none = Self::claude_code();
        none.budget = Budget::default();
        none.snip = Snip::default();
        none.micro = Micro::default();
        none.collapse = Collapse::default();
        none.compact.on = false;
        none.assembly = Assembly::default();
        none
    }

    /// Cline 4.0.12: nothing but its own rules. Three automatic retries of a turn; summaries are off unless a person turns them on.
    fn cline() -> Self {
        let base = Self::none();
        Self {
            compact: Compact {
                trigger: TriggerLine::Cline,
                leaves: Leaves::FirstPair,
                memory: false,
                restore_files: 0,
                ..base.compact
            },
            cline: Cline {
                auto_condense: false,
                retries: 3,
            },
            ..base
        }
    }

    fn claude_code() -> Self {
        Self {
            budget: Budget {
                result_limit: 50_000,
                tool_limits: [("Bash", 30_000), ("Read", 0)]
                    .map(|(tool, limit)| (tool.to_string(), limit))
                    .into(),
                response_limit: 200_000,
                preview_bytes: 2_000,
                result_tokens: 0,
                head_percent: 60,
                tail_percent: 20,
                bytes_percent: 90,
            },
            snip: Snip {
                superseded_reads: true,
                duplicates: true,
                empty: true,
                markers: true,
                before_thinking: false,
                least_tokens: 0,
            },
            micro: Micro {
                tools: names(CLAUDE_CODE_TOOLS),
                idle_minutes: 60,
                keep: 5,
                cached: CachedForm::CacheEdits,
                cached_trigger: 12,
                cached_keep: 5,
            },
            collapse: Collapse {
                on: true,
                commit_percent: 90,
                block_percent: 95,
                repeats: 3,
            },
            compact: Compact {
                on: true,
                limit: 0,
                output_reserve: 20_000,
                trigger: TriggerLine::Buffer,
                buffer: 13_000,
                warning_buffer: 20_000,
                error_buffer: 20_000,
                blocking_buffer: 3_000,
                leaves: Leaves::Tail,
                keep_tokens: 10_000,
                keep_texts: 5,
                keep_most: 40_000,
                cap_percent: 60,
                memory: true,
                custom_replaces: false,
                thinking_off: true,
                summary_tokens: 20_000,
                restore_files: 5,
                restore_file_tokens: 5_000,
                restore_tokens: 50_000,
                failures: 3,
                refills: 3,
                refill_rounds: 3,
                refill_percent: REFILL_PERCENT,
                retries: 3,
            },
            cline: Cline::default(),
            overflow: Overflow {
                keep_results: [3, 1, 0],
                keep_percent: [50, 30, 15],
            },
            assembly: Assembly {
                breakpoints: true,
                attachments: false,
                memories: 5,
                memory_tokens: 5_000,
                importance: 1,
            },
        }
    }

    fn five_layer() -> Self {
        let base = Self::claude_code();
        Self {
            budget: Budget {
                result_limit: 0,
                tool_limits: BTreeMap::new(),
                response_limit: 0,
                result_tokens: 10_000,
                ..base.budget
            },
            snip: Snip::default(),
            micro: Micro {
                tools: names(FIVE_LAYER_TOOLS),
                cached: CachedForm::None,
                ..base.micro
            },
            collapse: Collapse::default(),
            compact: Compact {
                limit: 25_000,
                custom_replaces: true,
                restore_file_tokens: 2_000,
                restore_tokens: 10_000,
                ..base.compact
            },
            cline: base.cline,
            overflow: base.overflow,
            assembly: Assembly {
                attachments: true,
                ..base.assembly
            },
        }
    }
}

fn names(tools: &[&str]) -> Vec<String> {
    tools.iter().map(|tool| (*tool).to_string()).collect()
}

/// Puts the members of objects over those of the same name, to any depth.
fn merge(own: &mut serde_json::Value, given: serde_json::Value) {
    match (own, given) {
        (serde_json::Value::Object(own), serde_json::Value::Object(given)) => {
            for (name, value) in given {
                merge(own.entry(name).or_insert(serde_json::Value::Null), value);
            }
        }
        (own, given) => *own = given,
    }
}
