//! Thinking: verbatim or absent.
//!
//! - What is signed is never mended: what would need it is left out.
//! - Once the chain of signed prefixes is broken, everything behind the break is left out.

use crate::render::Reason;
use crate::render::block::{Setting, bytes};
use crate::render::context::same;
use crate::render::params::Asked;
use crate::render::pen::{Draft, Pen};
use crate::render::speech::Speech;
use crate::render::table::{copy, known};
use crate::render::track::Ends;
use recount_events::raw::member_words;
use recount_events::{Block, Format, Message, sanitize};

/// Writes a thinking block, or lists it as left out.
pub(crate) fn show(
    pen: &mut Pen<'_, '_>,
    setting: Setting<'_>,
    speech: &Speech<'_>,
    block: &Block,
    raw: &str,
) {
    match refused(pen, setting, speech, raw) {
        Some(reason) => pen.leave_out(reason),
        None => {
            let kind = member_words(raw, "type").unwrap_or_default();
            let json = copy(pen, raw, known(&kind));
            let role = setting.role();
            pen.push(Draft {
                role,
                json,
                raw: bytes(block),
                call: false,
                ends: Ends::Thinking,
            });
        }
    }
}

/// Why it has to be left out.
fn refused(
    pen: &Pen<'_, '_>,
    setting: Setting<'_>,
    speech: &Speech<'_>,
    raw: &str,
) -> Option<Reason> {
    let context = pen.context;
    let foreign = context.chat() || setting.format != Format::Anthropic;
    if foreign {
        return Some(Reason::Issuer);
    }
    if context.off || matches!(context.asked, Asked::Off | Asked::Unfit) {
        return Some(Reason::ThinkingOff);
    }
    let Some(message) = setting.message else {
        return Some(Reason::Issuer);
    };
    if !issued_here(pen, message) {
        return Some(Reason::Issuer);
    }
    if !signed(raw) {
        return Some(Reason::Unsigned);
    }
    if sanitize(raw) != raw {
        return Some(Reason::Unicode);
    }
    if !context.keeps(speech.key) {
        return Some(Reason::Kept);
    }
    // Behind a compaction of its own response it was made behind that, not behind the prompt that the response answers.
    let prompt = message.issued == Some(speech.root) || holds_compaction(pen, speech);
    let broken = pen.track.sums.broken || !prompt;
    (context.profile.thinking.binds && broken).then_some(Reason::Prefix)
}

/// The profile's provider issued it, and its model where it binds.
fn issued_here(pen: &Pen<'_, '_>, message: &Message) -> bool {
    let profile = pen.context.profile;
    let provider = message
        .issuer
        .as_ref()
        .is_none_or(|issuer| same(issuer, &profile.provider));
    let model = message
        .model
        .as_ref()
        .is_none_or(|model| same(model, &profile.model));
    provider && (model || !profile.thinking.binds)
}

fn holds_compaction(pen: &Pen<'_, '_>, speech: &Speech<'_>) -> bool {
    let compaction = pen.context.compaction;
    compaction.is_some_and(|compaction| compaction.key == speech.key)
}

fn signed(raw: &str) -> bool {
    let seal = match member_words(raw, "type").as_deref() {
        Some("thinking") => "signature",
        Some("redacted_thinking") => "data",
        _ => return false,
    };
    member_words(raw, seal).is_some_and(|seal| !seal.is_empty())
}
