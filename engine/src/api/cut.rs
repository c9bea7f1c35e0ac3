//! Where: cuts of a session's timeline; and profiles and policies as they are named in requests.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A cut: `"head"`, `{"seq": n}`, `{"time": ms}` or `{"checkpoint": label}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum At {
    /// The newest event.
    #[default]
    Head,
    /// The timeline as of this position, included.
    Seq(u64),
    /// The last event of the current timeline whose time (ms) is not later.
    Time(u64),
    /// The newest checkpoint of this label on the current timeline.
    Checkpoint(String),
}

/// The target of a rollback: `{"seq": n}`, `{"time": ms}`, `{"checkpoint": label}` or `{"turns": n}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "Target")]
pub enum To {
    /// To this position, included.
    Seq(u64),
    /// To the last event of the current timeline whose time (ms) is not later.
    Time(u64),
    /// To the newest checkpoint of this label on the current timeline.
    Checkpoint(String),
    /// To just before the n-th last authored message.
    Turns(u64),
}

/// A target as it comes in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    seq: Option<u64>,
    time: Option<u64>,
    checkpoint: Option<String>,
    turns: Option<u64>,
}

impl TryFrom<Target> for To {
    type Error = &'static str;

    fn try_from(target: Target) -> Result<Self, Self::Error> {
        match target {
            Target {
                seq: Some(seq),
                time: None,
                checkpoint: None,
                turns: None,
            } => Ok(Self::Seq(seq)),
            Target {
                seq: None,
                time: Some(time),
                checkpoint: None,
                turns: None,
            } => Ok(Self::Time(time)),
            Target {
                seq: None,
                time: None,
                checkpoint: Some(label),
                turns: None,
            } => Ok(Self::Checkpoint(label)),
            Target {
                seq: None,
                time: None,
                checkpoint: None,
                turns: Some(turns),
            } => Ok(Self::Turns(turns)),
            _ => Err("a target is exactly one of seq, time, checkpoint, turns"),
        }
    }
}

/// A profile or a policy: a shipped name, or a JSON object with the fields of its event.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Spec(pub Box<RawValue>);

impl Spec {
    /// From the JSON text of a string or an object; `None` when it is not JSON.
    #[must_use]
    pub fn json(text: &str) -> Option<Self> {
        RawValue::from_string(text.to_owned()).ok().map(Self)
    }

    /// By a shipped name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let token = serde_json::to_string(name).unwrap_or_else(|_| "\"\"".to_owned());
        Self(RawValue::from_string(token).unwrap_or_default())
    }
}

impl From<&str> for Spec {
    fn from(name: &str) -> Self {
        Self::named(name)
    }
}
