//! A bar for long work, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that goes on.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar with a name; it appears on standard error when that is a terminal.
    pub(crate) fn new(name: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template("{prefix} {wide_bar} {pos}/{len} {eta}") {
            bar.set_style(style);
        }
        bar.set_prefix(super::clean(name));
        Self { bar }
    }

    /// So much of so much is done.
    pub(crate) fn at(&self, done: u64, whole: u64) {
        self.bar.set_length(whole);
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
