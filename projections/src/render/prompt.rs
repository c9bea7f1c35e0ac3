//! A prompt that grows with its timeline.
//!
//! - Persistent: cloning is O(1), clones share their pieces.
//! - `update` after any change equals a render from nothing, as long as the counts give the same answers.
//! - Two tracks: the prompt as it is asked for, and, while an open tool loop forbids thinking, the prompt without thinking.

use crate::render::body::Shape;
use crate::render::compaction::{self, Compaction};
use crate::render::context::{self, Context};
use crate::render::params::{self, Asked};
use crate::render::track::{Sums, Track};
use crate::render::{
    ByBytes, Marks, Projection, Repair, RepairKind, Request, entry, header, outcome,
};
use crate::timeline::Logged;
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::sync::Arc;
use recount_events::{Keeps, Profile, Seq, Wire};

/// Tokens of an answer that are worth a call: a few paragraphs, or a call of a tool with its arguments.
const LEAST_ANSWER: u64 = 1_024;

/// What the whole prompt depends on.
#[derive(Clone, Debug)]
struct Head {
    profile: Profile,
    wire: Wire,
    system: Option<Arc<Logged>>,
    tools: Option<Arc<Logged>>,
    /// Names of the tools.
    names: Arc<BTreeSet<String>>,
}

/// The pieces of a prompt, ready to be continued.
#[derive(Clone, Debug)]
pub struct Prompt {
    head: Arc<Head>,
    asked: Asked,
    /// The last compaction of the profile's provider.
    compaction: Option<Compaction>,
    /// Thinking shown.
    with: Track,
    /// Thinking turned off; while the open loop asks for that.
    without: Option<Track>,
    /// The entry behind which nothing stands.
    last: Option<Seq>,
}

impl Prompt {
    /// Renders from nothing.
    #[must_use]
    pub fn render(request: &Request<'_>) -> Self {
        let names = Arc::new(header::names(request));
        let turn = turn_start(request, &names, None);
        let context = Context::new(request, Arc::clone(&names), turn, false);
        let compaction = compaction::last(&context, request.timeline);
        let context = Context {
            compaction,
            ..context
        };
        let mut with = Track::new(Shape::new(context.wire));
        header::show(&context, &mut with, request);
        write(&context, &mut with, None);
        let header = &request.timeline.header;
        let head = Head {
            profile: request.profile.clone(),
            wire: context.wire,
            system: header.system.clone(),
            tools: header.tools.clone(),
            names,
        };
        let prompt = Self {
            head: Arc::new(head),
            asked: context.asked,
            compaction,
            with,
            without: None,
            last: context.last,
        };
        prompt.turned_off(request, turn)
    }

    /// The prompt after a change of the timeline: keeps the pieces before the first touched key of `shown` (`None`: no entry changed),
    /// renders the rest. `header`: profile, system or tools may have changed.
    #[must_use]
    pub fn update(&self, request: &Request<'_>, touched: Option<Seq>, header: bool) -> Self {
        if !self.head.fits(request, header) {
            return Self::render(request);
        }
        let turn = match touched {
            None => self.with.entries.turn,
            Some(key) => turn_start(request, &self.head.names, Some(key))
                .or_else(|| self.with.before(key).turn),
        };
        let context = Context {
            compaction: self.compaction,
            ..Context::new(request, Arc::clone(&self.head.names), turn, false)
        };
        let from = self.first_changed(&context, touched);
        let mut with = self.with.clone();
        rewrite(&context, &mut with, from);
        if with.sums.compaction != self.compaction {
            return Self::render(request);
        }
        let without = self.without.clone().map(|mut without| {
            let context = Context {
                off: true,
                ..self.context_again(request, turn)
            };
            rewrite(&context, &mut without, from);
            without
        });
        let prompt = Self {
            head: Arc::clone(&self.head),
            asked: self.asked,
            compaction: self.compaction,
            with,
            without,
            last: context.last,
        };
        prompt.turned_off(request, turn)
    }

    /// The first entry that has to be written again: the touched one, or one before it that looks otherwise because of what now
    /// stands behind it.
    fn first_changed(&self, context: &Context<'_>, touched: Option<Seq>) -> Option<Seq> {
        let mut from = touched;
        let mut also = |key: Seq| from = Some(from.map_or(key, |from: Seq| from.min(key)));
        if self.last != context.last {
            let ends = [self.last, context.last].into_iter().flatten();
            ends.filter(|key| self.with.mark(*key).is_some_and(|mark| mark.paused))
                .for_each(&mut also);
        }
        let before = self.with.entries.turn;
        if context.profile.thinking.keeps == Keeps::Last && before != context.turn {
            self.first_thinking(before.min(context.turn))
                .into_iter()
                .for_each(&mut also);
        }
        from
    }

    /// The first entry with thinking behind this one.
    fn first_thinking(&self, behind: Option<Seq>) -> Option<Seq> {
        let start = behind.map_or(0, |key| self.with.place(key.next()));
        (start..self.with.marks.len())
            .filter_map(|place| self.with.marks.get(place))
            .find(|mark| mark.thinks)
            .map(|mark| mark.key)
    }

    /// Turns thinking off where the open loop asks for that, on again where it does not.
    fn turned_off(mut self, request: &Request<'_>, turn: Option<Seq>) -> Self {
        let bare = self.bare();
        self.without = match (bare, self.without.take()) {
            (None, _) => None,
            (Some(_), Some(without)) => Some(without),
            (Some(_), None) => {
                let context = Context {
                    off: true,
                    ..self.context_again(request, turn)
                };
                let mut without = self.with.clone();
                rewrite(&context, &mut without, self.with.entries.thinks);
                Some(without)
            }
        };
        self
    }

    fn context_again<'a>(&self, request: &Request<'a>, turn: Option<Seq>) -> Context<'a> {
        Context {
            compaction: self.compaction,
            ..Context::new(request, Arc::clone(&self.head.names), turn, true)
        }
    }

    /// The response of the open loop that forbids thinking.
    fn bare(&self) -> Option<Seq> {
        self.with
            .entries
            .bare
            .filter(|_| matches!(self.asked, Asked::Enabled(_)))
    }

    /// The event for which the request's thinking is turned off.
    fn turns_off(&self, request: &Request<'_>) -> Option<Seq> {
        let profile = request
            .timeline
            .header
            .profile
            .as_ref()
            .map_or(Seq(0), |logged| logged.seq);
        if self.asked == Asked::Unfit {
            Some(profile)
        } else {
            self.bare()
        }
    }

    /// The answer's limit in the window that the provider was seen to have: not below what is worth a call.
    fn within(&self, limit: u64, request: &Request<'_>, estimate: u64) -> u64 {
        let Some(window) = request.budget.window else {
            return limit;
        };
        let room = window.saturating_sub(estimate);
        let least = LEAST_ANSWER.saturating_add(self.least().saturating_sub(1));
        if room < least.min(limit) {
            limit
        } else {
            limit.min(room)
        }
    }

    /// The fewest tokens of answer that the request can be sent with.
    fn least(&self) -> u64 {
        match self.asked {
            Asked::Enabled(_) if self.without.is_none() => params::LEAST_THINKING.saturating_add(1),
            _ => 1,
        }
    }

    /// The track that is shown.
    pub(crate) fn track(&self) -> &Track {
        self.without.as_ref().unwrap_or(&self.with)
    }

    /// What it is good for, and its body.
    #[must_use]
    pub fn project(&self, request: &Request<'_>) -> Projection {
        let (track, profile, wire) = (self.track(), request.profile, self.head.wire);
        let off = self.turns_off(request);
        let estimate = outcome::estimate(track, request);
        let room = profile.window.saturating_sub(estimate);
        let max_tokens = self.within(params::wanted(profile).min(room).max(1), request, estimate);
        let written = params::write(
            profile,
            wire,
            max_tokens,
            !self.head.names.is_empty(),
            off.is_some(),
        );
        let tail: Arc<str> = params::tail(&written.object).into();
        let bytes = track.sums.shape.closed(&tail);
        Projection {
            outcome: outcome::outcome(track, request, estimate.saturating_add(self.least()), bytes),
            digest: track.sums.root,
            tokens: track.sums.by.total(),
            by: track.sums.by,
            estimate,
            max_tokens,
            bytes,
            images: track.sums.images,
            pieces: track.pieces.clone(),
            repairs: match off {
                Some(event) => track.repairs.push_back(Repair {
                    kind: RepairKind::ThinkingOff,
                    event,
                    block: None,
                }),
                None => track.repairs.clone(),
            },
            left_out: track.left_out.clone(),
            params_left_out: written.left_out,
            params: written.object.into(),
            wire,
            marks: Marks::default(),
            edits: profile.cache_edits,
            most: profile.body_bytes,
            tail,
        }
    }
}

impl Head {
    /// The request's profile, wire, system prompt and tools are these.
    fn fits(&self, request: &Request<'_>, header: bool) -> bool {
        let now = &request.timeline.header;
        self.wire == context::wire(request.wire)
            && self.profile == *request.profile
            && (!header || (same(&self.system, &now.system) && same(&self.tools, &now.tools)))
    }
}

fn same(one: &Option<Arc<Logged>>, turn: &Option<Arc<Logged>>) -> bool {
    match (one, turn) {
        (Some(one), Some(turn)) => Arc::ptr_eq(one, turn),
        (None, None) => true,
        _ => false,
    }
}

/// Where the turn begins that the newest responses belong to, looked for from this key on: the newest entry that shows something and is
/// neither a response nor an injection.
fn turn_start(
    request: &Request<'_>,
    names: &Arc<BTreeSet<String>>,
    from: Option<Seq>,
) -> Option<Seq> {
    // Looking is not showing: nothing is counted for it.
    let request = Request {
        counts: &ByBytes,
        ..*request
    };
    let context = Context::new(&request, Arc::clone(names), None, false);
    let mut newest_first = request.timeline.shown.range(from.unwrap_or(Seq(0))..).rev();
    newest_first
        .find(|(key, shown)| entry::begins_turn(&context, **key, shown))
        .map(|(key, _)| *key)
}

/// Writes the entries from this key on (`None`: all of them), then the tails.
fn write(context: &Context<'_>, track: &mut Track, from: Option<Seq>) {
    for (key, shown) in context.timeline.shown.range(from.unwrap_or(Seq(0))..) {
        entry::show(context, track, *key, shown);
    }
    entry::tails(context, track);
}

/// Writes the entries from this key on again (`None`: none of them), and the tails.
fn rewrite(context: &Context<'_>, track: &mut Track, from: Option<Seq>) {
    match from {
        Some(from) => {
            track.cut(from);
            write(context, track, Some(from));
        }
        None => {
            let entries: Sums = track.entries.clone();
            track.restore(entries);
            entry::tails(context, track);
        }
    }
}
