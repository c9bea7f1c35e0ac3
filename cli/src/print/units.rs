//! Sizes, counts and times as people read them.

use jiff::Timestamp;

/// `1.4 MB`.
pub(crate) fn bytes(number: u64) -> String {
    scaled(number, 1000, &["B", "kB", "MB", "GB", "TB"])
}

/// `12,345`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `2026-11-29 22:55:45Z`, of milliseconds since the epoch.
pub(crate) fn time(milliseconds: u64) -> String {
    let stamp = i64::try_from(milliseconds)
        .ok()
        .and_then(|milliseconds| Timestamp::from_millisecond(milliseconds).ok());
    stamp.map_or_else(
        || milliseconds.to_string(),
        |stamp| stamp.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
    )
}

/// The first 12 digits of a digest.
pub(crate) fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

/// ISO 8601, or milliseconds since the epoch.
pub(crate) fn parse_time(typed: &str) -> Result<u64, String> {
    if let Ok(milliseconds) = typed.parse() {
        return Ok(milliseconds);
    }
    let stamp: Timestamp = typed.parse().map_err(|cause| {
        format!("neither milliseconds nor an ISO 8601 time with its zone: {cause}")
    })?;
    u64::try_from(stamp.as_millisecond()).map_err(|_| "before 1970".to_owned())
}

/// `30d`, `12h`, `90m`, `45s`, `2w`: an age in ms.
pub(crate) fn parse_age(typed: &str) -> Result<u64, String> {
    let digits = typed.trim_end_matches(|end: char| end.is_ascii_alphabetic());
    let unit = match typed.get(digits.len()..).unwrap_or_default() {
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        "w" => 604_800_000,
        _ => return Err("an age is a number with s, m, h, d or w: 30d".to_owned()),
    };
    let number: u64 = digits
        .parse()
        .map_err(|_| "an age is a number with s, m, h, d or w: 30d".to_owned())?;
    number
        .checked_mul(unit)
        .ok_or_else(|| "too long".to_owned())
}

fn scaled(number: u64, step: u64, units: &[&str]) -> String {
    let mut value = number;
    let mut tenths = 0;
    let mut unit = 0;
    while value >= step && unit + 1 < units.len() {
        tenths = value % step * 10 / step;
        value /= step;
        unit += 1;
    }
    let name = units.get(unit).copied().unwrap_or_default();
    if unit == 0 {
        format!("{value} {name}")
    } else {
        format!("{value}.{tenths} {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1_456_331), "1.4 MB");
        assert_eq!(count(0), "0");
        assert_eq!(count(1_234_567), "1,234,567");
    }

    #[test]
    fn ages_have_units() {
        assert_eq!(parse_age("30d"), Ok(30 * 86_400_000));
        assert_eq!(parse_age("0s"), Ok(0));
        for bad in ["", "d", "3", "3y", "-3d", "3 d", "99999999999999999w"] {
            assert!(parse_age(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn times_are_read_both_ways() {
        assert_eq!(parse_time("1764460800000"), Ok(1_764_460_800_000));
        assert_eq!(parse_time("2025-11-30T00:00:00Z"), Ok(1_764_460_800_000));
        assert!(parse_time("yesterday").is_err());
        assert_eq!(time(1_764_460_800_000), "2025-11-30 00:00:00Z");
    }
}
