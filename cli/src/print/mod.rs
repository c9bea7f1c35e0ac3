//! Output for people: colour on a terminal only, aligned tables, units, and no control character of a transcript.

mod clean;
mod colour;
mod progress;
mod state;
mod table;
mod units;

pub(crate) use clean::{clean, first_line, lines};
pub(crate) use colour::{bold, dim, green, red, yellow};
pub(crate) use progress::Progress;
pub(crate) use state::state;
pub(crate) use table::Table;
pub(crate) use units::{bytes, count, parse_age, parse_time, short, time};

use std::io::Write as _;

/// Prints a line. A reader that went away is no failure.
pub(crate) fn line(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints text as it is, to the byte.
pub(crate) fn exact(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}

/// Says why standard output stays empty, on standard error.
pub(crate) fn aside(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "recount: {text}");
}

/// Tells what failed and what to do next, on standard error.
pub(crate) fn failure(error: &recount::Error, json: bool) {
    let mut out = std::io::stderr().lock();
    if json {
        let _ = writeln!(out, "{}", error.to_json());
        return;
    }
    let _ = writeln!(
        out,
        "recount: {}: {}",
        error.kind().name(),
        clean(error.message())
    );
    let _ = writeln!(out, "next: {}", clean(error.next()));
}
