//! Instruction files and prompts of agents.

use serde::{Deserialize, Serialize};

/// Where an instruction stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InstructScope {
    /// A file at the root: a block of the system prompt, behind its base.
    #[default]
    Root,
    /// A file of a folder: shown once a session, again when a fold hid it or its words changed.
    Nested,
    /// An agent definition's prompt: takes the place of the system prompt's base.
    Agent,
}

/// `v1.session.instruct`: an instruction file was found, or changed. Says nothing where the prompt shows it already.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instruct {
    /// The session.
    #[serde(alias = "session_id")]
    pub session: String,
    /// Where the file is, or the agent's name.
    pub path: String,
    /// What it says; empty takes a root file or an agent's prompt away.
    pub content: String,
    /// Where it stands.
    #[serde(default)]
    pub scope: InstructScope,
    /// The time, in ms; default: the clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// Idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The head that the caller expects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<u64>,
}

/// The answer to [`Instruct`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instructed {
    /// The newest position.
    pub head: u64,
    /// The event that was logged; undo it to go back. None where the prompt shows these words already.
    pub event: Option<u64>,
    /// Something was logged.
    pub changed: bool,
}
