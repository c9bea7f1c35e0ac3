//! An independent validator of request bodies: what a provider would refuse, rule by rule.
//!
//! - It reads bytes; it shares nothing with the renderer and was written from what providers publish and answer.
//! - One small function a rule; its name in `RULES` is what a violation reports and what its failing fixture is called.
//! - Later rules assume what earlier ones demand: a body that is not JSON, or whose messages are no list of objects, gets
//!   only the violations found so far.

mod anthropic;
mod chat;
mod image;
mod json;
mod keys;
mod request;

pub use image::size as picture_size;
pub use json::parse;
use request::{Found, Request};
use serde_json::Value;

/// The dialect of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    Chat,
}

/// What the provider and the model allow. [`Facts::default`]: no prefill, no system messages, the public limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The last message may be the assistant's.
    pub prefill: bool,
    /// Messages of role system are allowed in mid-conversation.
    pub system_role: bool,
    /// Older models: while thinking is on, a message with thinking begins with it.
    pub thinking_first: bool,
    /// Some routes want tools in the request as soon as the history has a call.
    pub tools_with_calls: bool,
    /// The model takes references and edits of its cache.
    pub cache_edits: bool,
    /// Largest body in bytes; 0: no limit.
    pub body_bytes: u64,
    /// Most pictures; 0: no limit.
    pub images_count: u32,
    /// Most bytes of one picture as it travels, in base64 characters; 0: no limit.
    pub images_bytes: u64,
    /// Most pixels a side; 0: no limit.
    pub images_pixels: u32,
}

impl Default for Facts {
    /// Limits: 32 MB a body (platform.claude.com, api/errors); 5 MB a picture, 8,000 pixels a side, 100 pictures (vision pages).
    fn default() -> Self {
        Self {
            prefill: false,
            system_role: false,
            thinking_first: false,
            tools_with_calls: false,
            cache_edits: false,
            body_bytes: 32 << 20,
            images_count: 100,
            images_bytes: 5 << 20,
            images_pixels: 8_000,
        }
    }
}

/// A rule that a body breaks, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The rule's name, as in `RULES`.
    pub rule: &'static str,
    /// Where, as `messages[1].content[0]`.
    pub path: String,
    /// What is wrong there.
    pub text: String,
}

type Rule = (&'static str, fn(&Request<'_>) -> Vec<Found>);

/// The names of all rules of a wire, those of plain JSON first.
pub fn rules(wire: Wire) -> Vec<&'static str> {
    json::RULES
        .iter()
        .copied()
        .chain(table(wire).map(|rule| rule.0))
        .collect()
}

fn table(wire: Wire) -> impl Iterator<Item = &'static Rule> {
    let shape = match wire {
        Wire::Anthropic => anthropic::SHAPE,
        Wire::Chat => chat::SHAPE,
    };
    let rest = match wire {
        Wire::Anthropic => anthropic::RULES,
        Wire::Chat => chat::RULES,
    };
    shape.iter().chain(rest.iter().copied().flatten())
}

/// Everything that a provider of this wire would refuse in a body. Empty: accepted.
pub fn validate(wire: Wire, body: &[u8], facts: &Facts) -> Vec<Violation> {
    let parsed = match json::parse(body) {
        Ok(parsed) => parsed,
        Err(violation) => return vec![violation],
    };
    let mut violations = parsed.violations;
    let shape = match wire {
        Wire::Anthropic => anthropic::SHAPE,
        Wire::Chat => chat::SHAPE,
    };
    run(
        shape.iter(),
        &parsed.value,
        body.len(),
        facts,
        &mut violations,
    );
    if violations.is_empty() {
        run(
            table(wire).skip(shape.len()),
            &parsed.value,
            body.len(),
            facts,
            &mut violations,
        );
    }
    violations
}

fn run<'a>(
    rules: impl Iterator<Item = &'a Rule>,
    body: &Value,
    bytes: usize,
    facts: &Facts,
    violations: &mut Vec<Violation>,
) {
    let request = Request::new(body, bytes as u64, facts);
    for (name, rule) in rules {
        violations.extend(rule(&request).into_iter().map(|found| Violation {
            rule: name,
            path: found.path,
            text: found.text,
        }));
    }
}
