//! What decides how a block looks, beside the block: profile, wire, parameters, and where the end is.

use crate::Timeline;
use crate::render::compaction::Compaction;
use crate::render::json;
use crate::render::params::{self, Asked};
use crate::render::{Counts, Request};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use recount_events::{Keeps, Profile, Seq, Text, Wire};

/// The facts that the render of one entry needs.
pub(crate) struct Context<'a> {
    pub(crate) timeline: &'a Timeline,
    pub(crate) profile: &'a Profile,
    pub(crate) wire: Wire,
    pub(crate) counts: &'a dyn Counts,
    /// What the parameters say about thinking.
    pub(crate) asked: Asked,
    /// Thinking is turned off for this request.
    pub(crate) off: bool,
    /// Names of the header's tools.
    pub(crate) tools: Arc<BTreeSet<String>>,
    /// The entry behind which nothing stands.
    pub(crate) last: Option<Seq>,
    /// The last compaction of the profile's provider: nothing before it is sent.
    pub(crate) compaction: Option<Compaction>,
    /// Where the turn begins that the newest responses belong to.
    pub(crate) turn: Option<Seq>,
}

impl<'a> Context<'a> {
    pub(crate) fn new(
        request: &Request<'a>,
        tools: Arc<BTreeSet<String>>,
        turn: Option<Seq>,
        off: bool,
    ) -> Self {
        Self {
            timeline: request.timeline,
            profile: request.profile,
            wire: wire(request.wire),
            counts: request.counts,
            asked: params::thinking(request.profile, request.wire),
            off,
            tools,
            last: last(request.timeline),
            compaction: None,
            turn,
        }
    }

    pub(crate) const fn chat(&self) -> bool {
        !matches!(self.wire, Wire::Anthropic)
    }

    /// The profile keeps thinking of a unit at this key.
    pub(crate) fn keeps(&self, key: Seq) -> bool {
        match self.profile.thinking.keeps {
            Keeps::All => true,
            Keeps::Last => self.turn.is_none_or(|turn| key > turn),
            Keeps::None => false,
        }
    }
}

/// The wires that this version writes; the others are written as Chat.
pub(crate) const fn wire(wire: Wire) -> Wire {
    match wire {
        Wire::Anthropic => Wire::Anthropic,
        Wire::OpenaiChat | Wire::OpenaiResponses | Wire::Gemini => Wire::OpenaiChat,
    }
}

/// The last entry, unless tail injections stand behind it.
pub(crate) fn last(timeline: &Timeline) -> Option<Seq> {
    if timeline.tails.is_empty() {
        timeline.shown.last().map(|(key, _)| *key)
    } else {
        None
    }
}

/// Two authored texts say the same.
pub(crate) fn same(one: &Text, other: &Text) -> bool {
    let token = json::token(one);
    token.is_some() && token == json::token(other)
}
