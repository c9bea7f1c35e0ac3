//! Numbers as Cline's program reads and writes them: IEEE doubles.

use alloc::format;
use alloc::string::{String, ToString};

/// Reads a JSON number; `None` when the value is none.
pub(crate) fn read(raw: &str) -> Option<f64> {
    let raw = raw.trim_ascii();
    let begins = raw.bytes().next()?;
    if begins != b'-' && !begins.is_ascii_digit() {
        return None;
    }
    raw.parse().ok()
}

/// Reads a whole number that a double holds exactly.
pub(crate) fn whole(raw: &str) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = read(raw).filter(|number| (-EXACT..=EXACT).contains(number))?;
    #[expect(clippy::cast_possible_truncation, reason = "the range was checked")]
    let whole = number as i64;
    #[expect(clippy::cast_precision_loss, reason = "the range was checked")]
    let back = whole as f64;
    (back == number).then_some(whole)
}

/// Writes a number as JavaScript does.
pub(crate) fn write(number: f64) -> String {
    let size = if number < 0.0 { -number } else { number };
    if !number.is_finite() {
        return "null".to_string();
    }
    if number == 0.0 {
        return "0".to_string();
    }
    if (1e-6..1e21).contains(&size) {
        return format!("{number}");
    }
    let short = format!("{number:e}");
    match short.split_once('e') {
        Some((digits, power)) if !power.starts_with('-') => format!("{digits}e+{power}"),
        _ => short,
    }
}
