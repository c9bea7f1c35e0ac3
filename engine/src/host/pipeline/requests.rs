//! The requests of a compaction that waits for its summaries.
//!
//! - A function of the log at the position of the plan, and of nothing else: after a restart, and whatever was said since, the same bytes.
//! - One chunk: the session's own prompt as it was then, plus the instruction, so that the provider's cache serves it. Several, or one
//!   whose prompt was refused for its size: each range alone, plus the instruction.
//! - Parameters, system prompt and tools are those of the session, but no call and no form of the answer is forced. Thinking is turned off only where a person asked for the compaction
//!   and the policy says so: turned off, earlier thinking leaves the prompt, and the prefix is no longer the one that is cached.

use crate::core::{Core, issued_in, own_profile, profile_of};
use crate::host::ask::Asked;
use crate::host::directory::{Directory, Held};
use crate::host::project;
use crate::{Error, api};
use recount_events::raw::{member, member_words, members, words};
use recount_events::{Body, CompactPlan, Profile, Seq, Text, Trigger};
use recount_policies::compact;
use recount_policies::constants::Compact;
use recount_projections::{Plan, Timeline};
use recount_wal::StreamId;

/// A compaction that waits for its summaries.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// Where it was planned.
    pub(crate) seq: Seq,
    /// When, in ms.
    pub(crate) at: u64,
    /// What was planned.
    pub(crate) plan: CompactPlan,
    /// The chunks that are summarised, and their summaries.
    pub(crate) done: Vec<(u32, Text)>,
}

impl Pending {
    /// The one that waits at the head, if any.
    pub(crate) fn of(core: &Core) -> Option<Self> {
        Self::from(core.state.timeline().work.waiting()?)
    }

    /// The one that a new plan has to give up first: it waits at the head, or its commit was undone.
    pub(crate) fn unended(core: &Core) -> Option<Self> {
        Self::from(core.state.timeline().work.plan.as_ref()?)
    }

    fn from(pending: &Plan) -> Option<Self> {
        let Body::CompactPlan(plan) = &pending.logged.event.body else {
            return None;
        };
        let done = pending.chunks.iter();
        let done = done.filter_map(|(chunk, logged)| match &logged.event.body {
            Body::CompactChunk(said) => Some((*chunk, said.text.clone())),
            _ => None,
        });
        Some(Self {
            seq: pending.logged.seq,
            at: pending.logged.event.at.0,
            plan: plan.clone(),
            done: done.collect(),
        })
    }

    /// Its name.
    pub(crate) fn id(&self) -> String {
        self.plan
            .id
            .words()
            .map_or_else(String::new, |id| id.into_owned())
    }

    /// Why it gives way to a new plan.
    pub(crate) fn gives_way<'w>(&self, otherwise: &'w str) -> &'w str {
        if self.open().is_empty() && !self.plan.chunks.is_empty() {
            compact::UNDONE
        } else {
            otherwise
        }
    }

    /// The chunks that are not summarised yet.
    pub(crate) fn open(&self) -> Vec<u32> {
        let all = u32::try_from(self.plan.chunks.len()).unwrap_or(u32::MAX);
        (0..all)
            .filter(|chunk| self.done.iter().all(|(done, _)| done != chunk))
            .collect()
    }
}

/// The requests that are open, in order.
pub(crate) fn open(
    dir: &Directory,
    held: &mut Held<'_>,
    pending: &Pending,
    form: &api::As,
) -> Result<Vec<api::ChunkRequest>, Error> {
    let stream = held.slot.stream;
    dir.ask(held, |live| {
        let timeline = live.core.timeline_at(pending.seq)?;
        let plan = &pending.plan;
        render(
            dir,
            stream,
            &live.core,
            &timeline,
            plan,
            &pending.open(),
            form,
        )
    })
}

/// The requests that a plan would have if it were logged now.
pub(crate) fn proposed(
    dir: &Directory,
    held: &mut Held<'_>,
    plan: &CompactPlan,
    form: &api::As,
) -> Result<Vec<api::ChunkRequest>, Error> {
    let stream = held.slot.stream;
    let all = u32::try_from(plan.chunks.len()).unwrap_or(u32::MAX);
    let all: Vec<u32> = (0..all).collect();
    dir.ask(held, |live| {
        let timeline = live.core.state.timeline().clone();
        render(dir, stream, &live.core, &timeline, plan, &all, form)
    })
}

fn render(
    dir: &Directory,
    stream: StreamId,
    core: &Core,
    timeline: &Timeline,
    plan: &CompactPlan,
    chunks: &[u32],
    form: &api::As,
) -> Result<Vec<api::ChunkRequest>, Error> {
    let instruction = plan.instruction.as_ref().and_then(Text::words);
    let instruction = instruction.ok_or_else(|| {
        Error::new(
            crate::ErrorKind::Damaged,
            "the instruction of the compaction is not at hand",
        )
        .with_next("abandon the compaction, or compact without a model")
    })?;
    let (profile, source) = addressee(core, timeline, plan)?;
    let whole = shows_all(plan);
    let one = |chunk: &u32| {
        let range = usize::try_from(*chunk).ok();
        let range = range.and_then(|index| plan.chunks.get(index).copied());
        let (first, last) = range.ok_or_else(|| Error::invalid("there is no such chunk"))?;
        let shown = if whole {
            timeline.clone()
        } else {
            timeline.only(first, last)
        };
        let asked = Asked {
            cut: timeline.head.unwrap_or_default(),
            timeline: shown.asking(&instruction),
            profile: profile.clone(),
            source,
            wire: profile.wire,
            heal: true,
        };
        let projection = core.render(&asked.timeline, &asked.profile, asked.wire, true);
        let marks = core.marks(&asked.timeline, &asked.profile, &projection.pieces);
        let projection = projection.marked(&marks);
        Ok(api::ChunkRequest {
            chunk: *chunk,
            request: project::request_of(dir, stream, &asked, &projection, form)?,
            first: first.0,
            last: last.0,
        })
    };
    chunks.iter().map(one).collect()
}

/// The request is the session's own prompt: in one piece, and nobody said yet that it is too long.
fn shows_all(plan: &CompactPlan) -> bool {
    plan.chunks.len() <= 1 && plan.level == 0 && plan.trigger != Trigger::Overflow
}

/// For whom the session's prompts are at a position, with the parameters that it was last sent with, for a summary as long as the
/// policy allows.
fn addressee(
    core: &Core,
    timeline: &Timeline,
    plan: &CompactPlan,
) -> Result<(Profile, Option<Seq>), Error> {
    let own = timeline.header.profile.as_deref();
    let own = own.and_then(|logged| Some((profile_of(logged)?.clone(), Some(logged.seq))));
    let issued = timeline.issued.and_then(|seq| core.event(seq));
    let sent = issued.as_deref().and_then(issued_in);
    let (mut profile, source) = match (own, sent) {
        (Some((profile, source)), sent) => {
            let profile = core.profile_under(timeline, profile);
            let same = sent.filter(|sent| sent.profile == source);
            let params = same.and_then(|sent| sent.params.clone());
            let wire = same.map_or(profile.wire, |sent| sent.wire);
            let params = params.or(profile.params);
            (
                Profile {
                    params,
                    wire,
                    ..profile
                },
                source,
            )
        }
        (None, Some(sent)) => {
            let carried = issued
                .as_deref()
                .and_then(|logged| own_profile(&logged.event));
            let profile = carried.ok_or_else(no_profile)?;
            let profile = Profile {
                params: sent.params.clone(),
                wire: sent.wire,
                ..profile
            };
            (profile, None)
        }
        (None, None) => return Err(no_profile()),
    };
    let constants = core.policy(timeline).constants;
    bound(&mut profile, &constants.compact, plan.trigger);
    Ok((profile, source))
}

fn no_profile() -> Error {
    Error::invalid("the session has no profile: nobody knows for which model the summary is asked")
        .with_field("profile")
        .with_next("append a profile event, or compact without a model")
}

/// The request's own limit of the answer, and whether the model thinks before it.
fn bound(profile: &mut Profile, constants: &Compact, trigger: Trigger) {
    let params = profile.params.as_ref().and_then(Text::as_str);
    let off = constants.thinking_off && trigger == Trigger::Manual;
    let mut thinking = 0;
    let mut kept: Vec<String> = Vec::new();
    for one in params.and_then(members).into_iter().flatten() {
        match &*one.key() {
            "max_tokens" | "max_completion_tokens" => {}
            // A summary is text: a model that has to call a tool writes none.
            "tool_choice" if forces(one.value) => {}
            key if SHAPES.contains(&key) => {}
            "output_config" => kept.extend(without_format(one.value)),
            "thinking" if off => kept.push(r#""thinking":{"type":"disabled"}"#.to_owned()),
            key => {
                if key == "thinking" {
                    thinking = thinks(one.value);
                }
                kept.push(format!("{}:{}", one.token, one.value));
            }
        }
    }
    profile.params = Some(Text::json(&format!("{{{}}}", kept.join(","))));
    let most = constants.summary_tokens.max(1);
    profile.max_output = most.saturating_add(thinking).min(profile.max_output.max(1));
    // What fits was decided with the plan; here the window would only change the limit of the answer with every count.
    profile.window = u64::MAX;
}

/// Parameters that give the answer another form than one whole text: a schema, sound, several answers, words at which it is cut.
const SHAPES: &[&str] = &[
    "response_format",
    "modalities",
    "audio",
    "n",
    "prediction",
    "stop",
    "stop_sequences",
];

/// The output's settings but for the form that the answer would have to have; nothing where no other is left.
fn without_format(settings: &str) -> Option<String> {
    let kept = members(settings)?.filter(|one| one.key() != "format");
    let kept: Vec<String> = kept
        .map(|one| format!("{}:{}", one.token, one.value))
        .collect();
    (!kept.is_empty()).then(|| format!(r#""output_config":{{{}}}"#, kept.join(",")))
}

/// The choice of tools leaves the model no answer without a call. `any` and `tool` of the Anthropic dialect, `required`, a named function
/// and a list of allowed tools one of which is required of the OpenAI one.
fn forces(choice: &str) -> bool {
    let mode = |raw: &str| words(raw.trim_ascii()).map(|mode| mode.into_owned());
    let kind = match mode(choice) {
        Some(word) => Some(word),
        None => member_words(choice, "type").map(|kind| kind.into_owned()),
    };
    match kind.as_deref() {
        Some("any" | "tool" | "required" | "function" | "custom") => true,
        Some("allowed_tools") => {
            let listed = member(choice, "allowed_tools").unwrap_or(choice);
            member_words(listed, "mode").is_some_and(|mode| mode == "required")
        }
        _ => false,
    }
}

/// Tokens that the parameters set aside for thinking.
fn thinks(raw: &str) -> u64 {
    let enabled = member_words(raw, "type").is_some_and(|kind| kind == "enabled");
    let tokens = member(raw, "budget_tokens").and_then(|tokens| tokens.trim().parse().ok());
    tokens.filter(|_| enabled).unwrap_or(0)
}
