//! The host's say in compactions: a veto before, attachments after.
//!
//! - Called while the session is held: a hook must not call the engine for the same session; it decides from what it is shown.
//! - A hook that panics has said nothing.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What is about to be compacted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanSeen {
    /// The session.
    pub session: String,
    /// `auto`, `manual` or `overflow`.
    pub trigger: &'static str,
    /// How hard it cuts: 0 to 3.
    pub level: u8,
    /// The first position that it covers.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// In how many requests; 0: without a model.
    pub chunks: usize,
    /// Tokens of the prompt now, by estimate.
    pub tokens: u64,
}

/// What was compacted, and is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommitSeen {
    /// The session.
    pub session: String,
    /// The compaction.
    pub compaction: String,
    /// The event that commits it.
    pub event: u64,
    /// `auto`, `manual` or `overflow`.
    pub trigger: &'static str,
    /// What stands for the range now.
    pub summary: String,
    /// The first position that it covers.
    pub first: u64,
    /// The last.
    pub last: u64,
    /// Tokens of the prompt before, by estimate.
    pub before: u64,
    /// Tokens after, by estimate.
    pub after: u64,
}

/// What a hook says to a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Veto {
    /// Go on.
    #[default]
    Allow,
    /// Not now, and why. A compaction by threshold is skipped and logged as abandoned; one that was asked for is refused; after a refusal
    /// for size the error surfaces.
    Refuse(String),
}

/// Called around each compaction; both do nothing where they are not written.
pub trait CompactionHooks: Send + Sync {
    /// Before it is planned. The same plan may be shown twice, where the session had to be read again in between: the last word counts.
    fn before_compact(&self, _plan: &PlanSeen) -> Veto {
        Veto::Allow
    }

    /// After it is committed: events, each a JSON object as for `append`, that are logged because of it and so fall with it. What does
    /// not fit is left out and reported in the log of the process.
    fn after_compact(&self, _commit: &CommitSeen) -> Vec<String> {
        Vec::new()
    }
}

/// The host's hooks, if it has any.
#[derive(Clone, Default)]
pub struct Hooks(Option<Arc<dyn CompactionHooks>>);

impl Hooks {
    /// These.
    pub fn new(hooks: impl CompactionHooks + 'static) -> Self {
        Self(Some(Arc::new(hooks)))
    }

    /// Why a compaction must not be, if so.
    pub(crate) fn refuses(&self, plan: &PlanSeen) -> Option<String> {
        let hooks = self.0.as_ref()?;
        match catch_unwind(AssertUnwindSafe(|| hooks.before_compact(plan))) {
            Ok(Veto::Allow) => None,
            Ok(Veto::Refuse(why)) => Some(why),
            Err(_) => {
                tracing::error!("the hook before a compaction panicked");
                None
            }
        }
    }

    /// What is to be logged because of a commit.
    pub(crate) fn after(&self, commit: &CommitSeen) -> Vec<String> {
        let Some(hooks) = &self.0 else {
            return Vec::new();
        };
        catch_unwind(AssertUnwindSafe(|| hooks.after_compact(commit))).unwrap_or_else(|_| {
            tracing::error!("the hook after a compaction panicked");
            Vec::new()
        })
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hooks").field(&self.0.is_some()).finish()
    }
}
