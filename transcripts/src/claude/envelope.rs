//! What a record says besides its content, kept as the event's unknown fields.
//!
//! One member, `claude_code`, holds the record without what the event holds already: raw values, in order.

use super::record::Record;
use crate::json::{self, Members};
use recount_events::Text;

/// The record without its message's `content` and `usage`.
pub(super) fn besides_content(record: &Record<'_>) -> Text {
    wrap(&object(&record.members, &|key, raw| match key {
        "message" => {
            Some(Members::parse(raw).map_or(raw.to_owned(), |message| object(&message, &inner)))
        }
        _ => Some(raw.to_owned()),
    }))
}

/// The whole record.
pub(super) fn whole(record: &Record<'_>) -> Text {
    wrap(record.raw)
}

fn inner(key: &str, raw: &str) -> Option<String> {
    let held = key == "content" || (key == "usage" && raw.starts_with('{'));
    (!held).then(|| raw.to_owned())
}

fn wrap(object: &str) -> Text {
    Text::json(&format!("{{\"claude_code\":{object}}}"))
}

fn object(members: &Members<'_>, choose: &dyn Fn(&str, &str) -> Option<String>) -> String {
    let member =
        |(key, raw): (&str, &str)| Some(format!("{}:{}", json::escape(key), choose(key, raw)?));
    let members: Vec<String> = members.iter().filter_map(member).collect();
    format!("{{{}}}", members.join(","))
}
