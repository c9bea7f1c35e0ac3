//! Times as transcripts write them: `2026-02-10T21:11:56.906Z`, or a number.
//!
//! Days are counted by the proleptic Gregorian calendar; leap seconds are read as the second before them.

use recount_events::Millis;

/// The time of a raw JSON value: an ISO string (no zone: UTC), or a number of milliseconds or seconds since the epoch.
pub(crate) fn parse(raw: &str) -> Option<Millis> {
    match raw.strip_prefix('"') {
        Some(rest) => iso(rest.strip_suffix('"')?),
        None => crate::json::number(raw).map(from_number),
    }
}

/// Numbers below this are seconds: as milliseconds they would lie in the first weeks of 1970.
const SECONDS_BELOW: u64 = 100_000_000_000;

fn from_number(number: u64) -> Millis {
    Millis(if number < SECONDS_BELOW {
        number.saturating_mul(1000)
    } else {
        number
    })
}

/// An ISO 8601 time.
fn iso(text: &str) -> Option<Millis> {
    let (date, rest) = text.split_once(['T', ' '])?;
    let (clock, zone) = match rest.find(['Z', 'z', '+', '-']) {
        Some(at) => rest.split_at_checked(at)?,
        None => (rest, "Z"),
    };
    let mut parts = date.split('-');
    let days = days(
        number(parts.next()?)?,
        number(parts.next()?)?,
        number(parts.next()?)?,
    )?;
    let millis = days
        .checked_mul(86_400_000)?
        .checked_add(of_day(clock)?)?
        .checked_sub(offset(zone)?)?;
    u64::try_from(millis).ok().map(Millis)
}

fn number(text: &str) -> Option<i64> {
    let digits =
        !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// Milliseconds of `hh:mm[:ss[.fraction]]`.
fn of_day(clock: &str) -> Option<i64> {
    let (whole, fraction) = clock.split_once(['.', ',']).unwrap_or((clock, ""));
    let mut parts = whole.split(':');
    let (hours, minutes) = (number(parts.next()?)?, number(parts.next()?)?);
    let seconds = parts.next().map_or(Some(0), number)?;
    let millis: String = fraction.chars().chain("000".chars()).take(3).collect();
    let known = hours < 24 && minutes < 60 && seconds <= 60;
    known.then_some(((hours * 60 + minutes) * 60 + seconds.min(59)) * 1000 + number(&millis)?)
}

/// Milliseconds that a zone is ahead of UTC.
fn offset(zone: &str) -> Option<i64> {
    let (sign, rest) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return Some(0),
    };
    let digits = rest.replace(':', "");
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() {
        0
    } else {
        number(minutes)?
    };
    Some(sign * (number(hours)? * 60 + minutes) * 60_000)
}

/// Days since 1970-01-01.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // The year is taken to begin in March, so that the leap day is its last.
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    Some(
        year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
            - 719_468,
    )
}
