//! Colour: only when standard output is a terminal and `NO_COLOR` is not set.

use std::io::IsTerminal as _;
use std::sync::OnceLock;

fn on() -> bool {
    static ON: OnceLock<bool> = OnceLock::new();
    *ON.get_or_init(|| {
        std::io::stdout().is_terminal()
            && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
    })
}

fn paint(code: &str, text: &str) -> String {
    if on() {
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    } else {
        text.to_owned()
    }
}

/// Bold.
pub(crate) fn bold(text: &str) -> String {
    paint("1", text)
}

/// Dim.
pub(crate) fn dim(text: &str) -> String {
    paint("2", text)
}

/// Red.
pub(crate) fn red(text: &str) -> String {
    paint("31", text)
}

/// Green.
pub(crate) fn green(text: &str) -> String {
    paint("32", text)
}

/// Yellow.
pub(crate) fn yellow(text: &str) -> String {
    paint("33", text)
}
