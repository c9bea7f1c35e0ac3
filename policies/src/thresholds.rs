//! The lines that a policy draws in a window. Tokens of the provider.

use crate::constants::{Compact, TriggerLine};
use recount_events::Profile;

/// The lines, ascending: warning, trigger, blocking, effective (the error line may lie on either side of the warning).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// What of the window the prompt may fill: the window without room for an answer.
    pub effective: u64,
    /// From here on the prompt is made smaller.
    pub trigger: u64,
    /// From here on people are warned.
    pub warning: u64,
    /// From here on it is urgent.
    pub error: u64,
    /// From here on nothing is sent while nothing may be compacted.
    pub blocking: u64,
}

/// How full a window is, in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Ample.
    #[default]
    Normal,
    /// Above the warning line.
    Warning,
    /// Above the error line.
    Error,
    /// Above the blocking line, with proactive tiers turned off.
    Blocked,
}

impl Thresholds {
    /// The lines of a policy in a profile's window; `window`: what the provider was seen to allow, where it is less.
    ///
    /// Effective: window − min(largest answer, reserve). Trigger: effective − buffer, but at least half of effective, so that small
    /// windows have room to work. A policy with a limit of its own (`limit` > 0) takes that for the window where it is smaller; then nothing
    /// is reserved, and the trigger is limit − buffer. Cline's trigger is what its table says of the declared window. The warning and error lines keep three quarters of the trigger at least, so that
    /// a small window is not warned of from its first word on.
    #[must_use]
    pub fn of(constants: &Compact, profile: &Profile, window: Option<u64>) -> Self {
        let window = window.map_or(profile.window, |seen| seen.min(profile.window));
        let own = constants.limit > 0 && constants.limit <= window;
        let reserve = profile
            .max_output
            .min(constants.output_reserve)
            .min(window / 2);
        let effective = if own {
            constants.limit
        } else {
            window.saturating_sub(reserve)
        };
        let least = if own { 0 } else { effective / 2 };
        let trigger = match constants.trigger {
            TriggerLine::Buffer => effective.saturating_sub(constants.buffer).max(least),
            TriggerLine::Cline => crate::cline::limit(profile),
        };
        let below = |buffer: u64| trigger.saturating_sub(buffer.min(trigger / 4));
        Self {
            effective,
            trigger,
            warning: below(constants.warning_buffer),
            error: below(constants.error_buffer),
            blocking: effective
                .saturating_sub(constants.blocking_buffer)
                .max(trigger),
        }
    }
}

impl Thresholds {
    /// How full so many tokens make the window; `auto`: proactive tiers run, so that nothing has to be blocked.
    #[must_use]
    pub const fn level(&self, weighed: u64, auto: bool) -> Level {
        if weighed >= self.blocking && !auto {
            Level::Blocked
        } else if weighed >= self.error {
            Level::Error
        } else if weighed >= self.warning {
            Level::Warning
        } else {
            Level::Normal
        }
    }
}

impl Level {
    /// Its name in answers.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Blocked => "blocked",
        }
    }
}
