//! Which numbers of a policy make sense: bounds of single ones, and how some of them stand to each other.
//!
//! - What is given without sense is refused; what was recorded without is taken at the nearest bound, and that is reported.
//! - A number that was not given follows one that was.

use crate::constants::{CachedForm, Constants};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// A number with its name, the least and the most that it may be.
type Bounded<'c> = (&'static str, &'c mut u64, u64, u64);

/// Every number that has bounds.
fn bounded(constants: &mut Constants) -> Vec<Bounded<'_>> {
    const ANY: u64 = u64::MAX;
    let Constants {
        budget,
        micro,
        collapse,
        compact,
        overflow,
        ..
    } = constants;
    // What a tier that is off would keep is nobody's business.
    let clears = u64::from(!micro.tools.is_empty());
    let edits = u64::from(clears > 0 && micro.cached != CachedForm::None);
    let [first, second, third] = &mut overflow.keep_percent;
    let asks = u64::from(compact.on);
    alloc::vec![
        ("budget.head_percent", &mut budget.head_percent, 0, 100),
        ("budget.tail_percent", &mut budget.tail_percent, 0, 100),
        ("budget.bytes_percent", &mut budget.bytes_percent, 0, 100),
        ("micro.keep", &mut micro.keep, clears, ANY),
        ("micro.cached_keep", &mut micro.cached_keep, edits, ANY),
        (
            "collapse.commit_percent",
            &mut collapse.commit_percent,
            0,
            100
        ),
        (
            "collapse.block_percent",
            &mut collapse.block_percent,
            0,
            100
        ),
        ("compact.cap_percent", &mut compact.cap_percent, 0, 100),
        (
            "compact.refill_percent",
            &mut compact.refill_percent,
            0,
            100
        ),
        (
            "compact.summary_tokens",
            &mut compact.summary_tokens,
            asks,
            ANY
        ),
        ("overflow.keep_percent", first, 1, 100),
        ("overflow.keep_percent", second, 1, 100),
        ("overflow.keep_percent", third, 1, 100),
    ]
}

/// Two numbers of which the first may be at most so much, given the second.
struct Pair<'c> {
    names: (&'static str, &'static str),
    /// The most that the first may be.
    most: u64,
    first: &'c mut u64,
    second: &'c mut u64,
    /// What the second has to be for the first.
    fitting: u64,
    /// In words.
    law: &'static str,
}

/// The pairs, one after the other: each is looked at with what the ones before it made of the numbers.
fn pair(constants: &mut Constants, index: usize) -> Option<Pair<'_>> {
    let Constants {
        budget,
        collapse,
        compact,
        ..
    } = constants;
    Some(match index {
        0 => Pair {
            names: ("budget.tail_percent", "budget.head_percent"),
            most: 100_u64.saturating_sub(budget.head_percent),
            fitting: 100_u64.saturating_sub(budget.tail_percent),
            first: &mut budget.tail_percent,
            second: &mut budget.head_percent,
            law: "head and tail are parts of a hundred",
        },
        1 => Pair {
            names: ("collapse.commit_percent", "collapse.block_percent"),
            most: collapse.block_percent,
            fitting: collapse.commit_percent,
            first: &mut collapse.commit_percent,
            second: &mut collapse.block_percent,
            law: "spans are committed before nothing is sent any more",
        },
        // A limit of its own leaves something under the trigger.
        2 if compact.limit > 0 => Pair {
            names: ("compact.buffer", "compact.limit"),
            most: compact.limit.saturating_sub(1),
            fitting: compact.buffer.saturating_add(1),
            first: &mut compact.buffer,
            second: &mut compact.limit,
            law: "the trigger, limit less buffer, is above nothing",
        },
        2 | 3 => Pair {
            names: ("compact.blocking_buffer", "compact.buffer"),
            most: compact.buffer,
            fitting: compact.blocking_buffer,
            first: &mut compact.blocking_buffer,
            second: &mut compact.buffer,
            law: "the trigger is not above the line at which nothing is sent",
        },
        _ => return None,
    })
}

/// Numbers that were not given follow those that were; where both or neither were given, nothing changes.
pub(crate) fn follow(constants: &mut Constants, given: impl Fn(&str) -> bool) {
    for index in 0.. {
        let Some(pair) = pair(constants, index) else {
            return;
        };
        if *pair.first <= pair.most {
            continue;
        }
        match (given(pair.names.0), given(pair.names.1)) {
            (true, false) if pair.names.1 != "compact.buffer" => *pair.second = pair.fitting,
            (false, true) => *pair.first = pair.most,
            _ => {}
        }
    }
}

/// The first number without sense, with its bounds.
pub(crate) fn check(constants: &Constants) -> Result<(), String> {
    let mut constants = constants.clone();
    for (name, value, least, most) in bounded(&mut constants) {
        if *value < least || *value > most {
            return Err(out(name, *value, least, most));
        }
    }
    for index in 0.. {
        let Some(pair) = pair(&mut constants, index) else {
            break;
        };
        if *pair.first > pair.most {
            let (name, other) = pair.names;
            return Err(format!(
                "{name} is {}; with {other} of {} it may be 0 to {}: {}",
                pair.first, pair.second, pair.most, pair.law
            ));
        }
    }
    Ok(())
}

/// Takes every number without sense at its nearest bound; what was taken otherwise.
pub(crate) fn clamp(constants: &mut Constants) -> Vec<String> {
    let mut told = Vec::new();
    for (name, value, least, most) in bounded(constants) {
        if *value < least || *value > most {
            let taken = (*value).clamp(least, most);
            told.push(format!(
                "{}, and is taken for {taken}",
                out(name, *value, least, most)
            ));
            *value = taken;
        }
    }
    for index in 0.. {
        let Some(pair) = pair(constants, index) else {
            break;
        };
        if *pair.first > pair.most {
            let (name, other) = pair.names;
            told.push(format!(
                "{name} is {} with {other} of {}, and is taken for {}",
                pair.first, pair.second, pair.most
            ));
            *pair.first = pair.most;
        }
    }
    told
}

fn out(name: &str, value: u64, least: u64, most: u64) -> String {
    if most == u64::MAX {
        format!("{name} is {value}; it is at least {least}")
    } else {
        format!("{name} is {value}; it may be {least} to {most}")
    }
}
