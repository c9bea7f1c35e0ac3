//! The rules of OpenAI Chat Completions, by family.

mod body;
mod media;
mod messages;
mod pairing;
mod tools;

use super::Rule;

/// The rules of shape, on which the others lean.
pub(super) const SHAPE: &[Rule] = body::RULES;

/// The other rules, a list a family.
pub(super) const RULES: &[&[Rule]] = &[messages::RULES, pairing::RULES, media::RULES, tools::RULES];
