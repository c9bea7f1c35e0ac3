//! The rules of Anthropic Messages, by family.

mod body;
mod cache;
mod compaction;
mod content;
mod media;
mod pairing;
mod server;
mod system;
mod thinking;
mod tools;
mod turns;

use super::Rule;

/// The rules of shape, on which the others lean.
pub(super) const SHAPE: &[Rule] = body::RULES;

/// The other rules, a list a family.
pub(super) const RULES: &[&[Rule]] = &[
    turns::RULES,
    content::RULES,
    pairing::RULES,
    server::RULES,
    thinking::RULES,
    media::RULES,
    tools::RULES,
    system::RULES,
    cache::RULES,
    compaction::RULES,
];
