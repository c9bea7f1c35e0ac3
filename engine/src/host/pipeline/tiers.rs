//! The tiers, in order: each sees what the earlier ones changed, and says what it did.

use super::over::Over;
use super::{Ground, auto, log, with_files};
use crate::core::Measured;
use crate::host::ask::Asked;
use crate::host::directory::{Directory, Held};
use crate::host::look::look;
use crate::lock::lock;
use crate::{Error, ErrorKind, api};
use recount_events::Millis;
use recount_policies::{Proposal, Propose, Tier, assembly, overflow};
use recount_projections::Outcome;
use recount_wal::Class;

/// A policy's limit that nothing may be sent over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocked {
    /// Tokens.
    pub(crate) limit: u64,
}

/// What the tiers made of a prompt.
pub(crate) struct Ran {
    /// The prompt after them.
    pub(crate) prompt: (Asked, Measured),
    /// What each did.
    pub(crate) tiers: Vec<api::TierReport>,
    /// The hard line was reached.
    pub(crate) blocked: Option<Blocked>,
}

/// One request for a prompt.
#[derive(Clone, Copy)]
struct Turn<'a> {
    dir: &'a Directory,
    ask: &'a api::Prepare,
    now: Millis,
}

/// Runs the tiers over a prompt at the head; what waits for somebody is left as it is.
pub(crate) fn run(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Prepare,
    prompt: (Asked, Measured),
    now: Millis,
) -> Result<Ran, Error> {
    let turn = Turn { dir, ask, now };
    let mut ran = Ran {
        prompt,
        tiers: Vec::new(),
        blocked: None,
    };
    for (tier, propose) in dir.live(held)?.core.ways().tiers {
        if !ran.may_run(dir, held)? {
            return Ok(ran);
        }
        match tier {
            Tier::Compact => ran.compaction(turn, held, *propose)?,
            _ => ran.step(turn, held, (*tier, *propose))?,
        }
    }
    ran.step(turn, held, (Tier::Assembly, assembly::propose))?;
    ran.levels(turn, held)?;
    ran.line(turn, held)?;
    Ok(ran)
}

impl Ran {
    /// Brings a prompt that came to show more behind the tiers below its limit again.
    pub(crate) fn fit(
        &mut self,
        dir: &Directory,
        held: &mut Held<'_>,
        ask: &api::Prepare,
        now: Millis,
    ) -> Result<(), Error> {
        self.levels(Turn { dir, ask, now }, held)
    }

    /// The prompt is at the head, waits for nobody, and a policy is in force.
    fn may_run(&self, dir: &Directory, held: &mut Held<'_>) -> Result<bool, Error> {
        let (asked, measured) = &self.prompt;
        let core = &dir.live(held)?.core;
        let waits = matches!(
            measured.projection.outcome,
            Outcome::WaitingPerson | Outcome::WaitingResults { .. }
        );
        Ok(!waits
            && core.head() == Some(asked.cut)
            && core.state.timeline().header.policy.is_some())
    }

    /// ⑤, which is more than events: hooks are asked, and a commit is weighed.
    fn compaction(
        &mut self,
        turn: Turn<'_>,
        held: &mut Held<'_>,
        propose: Propose,
    ) -> Result<(), Error> {
        let report = auto::compaction(turn.dir, held, &self.prompt, turn.now, propose)?;
        self.note(turn, held, report)
    }

    fn step(
        &mut self,
        turn: Turn<'_>,
        held: &mut Held<'_>,
        (tier, propose): (Tier, Propose),
    ) -> Result<(), Error> {
        let proposal = with_files(turn.dir, held, |held, files| {
            self.proposed(turn, held, files, (tier, propose))
        })?;
        self.take(turn, held, (tier, proposal))
    }

    fn proposed(
        &self,
        turn: Turn<'_>,
        held: &mut Held<'_>,
        files: bool,
        (tier, propose): (Tier, Propose),
    ) -> Result<Proposal, Error> {
        let (asked, measured) = &self.prompt;
        let stream = held.slot.stream;
        let core = &turn.dir.live(held)?.core;
        let mut ground = Ground::of(core, stream, asked, measured, turn.now);
        if !files {
            ground = ground.without_files();
        }
        let at = ground.situation(core, asked, measured);
        Ok(match tier {
            Tier::Snip => recount_policies::snip::propose_with(&at, &mut lock(&core.zombies)),
            _ => propose(&at),
        })
    }

    /// Logs what was proposed and renders again.
    fn take(
        &mut self,
        turn: Turn<'_>,
        held: &mut Held<'_>,
        (tier, proposal): (Tier, Proposal),
    ) -> Result<(), Error> {
        let mut report = api::TierReport {
            tier: tier.name().to_owned(),
            did: proposal.did.clone(),
            freed: proposal.freed,
            events: Vec::new(),
        };
        match log(turn.dir, held, &proposal, turn.now, Class::Ordered) {
            Ok(events) => report.events = events,
            Err(error) if error.kind() == ErrorKind::Rejected => {
                tracing::error!(tier = tier.name(), %error, "a tier proposed what does not fit");
                report.freed = 0;
                report.did = format!("not admitted: {error}");
            }
            Err(error) => return Err(error),
        }
        self.note(turn, held, report)
    }

    /// Keeps what a tier did, and the prompt after it.
    fn note(
        &mut self,
        turn: Turn<'_>,
        held: &mut Held<'_>,
        report: api::TierReport,
    ) -> Result<(), Error> {
        if !report.events.is_empty() {
            self.prompt = look(turn.dir, held, turn.ask)?;
        }
        if !report.did.is_empty() {
            self.tiers.push(report);
        }
        Ok(())
    }

    /// Levels without a model, each harder than the one before, while the prompt does not fit.
    fn levels(&mut self, turn: Turn<'_>, held: &mut Held<'_>) -> Result<(), Error> {
        for _ in 0..overflow::LEVELS {
            let stream = held.slot.stream;
            let proposal = {
                let (asked, measured) = &self.prompt;
                let core = &turn.dir.live(held)?.core;
                let ground = Ground::of(core, stream, asked, measured, turn.now);
                let Some(over) = Over::of(core, asked, measured).filter(|_| ground.may_level())
                else {
                    return Ok(());
                };
                over.level(&ground.situation(core, asked, measured))
            };
            let Some(proposal) = proposal else {
                return Ok(());
            };
            self.take(turn, held, (Tier::Overflow, proposal))?;
        }
        Ok(())
    }

    /// The hard line, where nothing may be compacted by itself.
    fn line(&mut self, turn: Turn<'_>, held: &mut Held<'_>) -> Result<(), Error> {
        let (asked, measured) = &self.prompt;
        let stream = held.slot.stream;
        let core = &turn.dir.live(held)?.core;
        let ground = Ground::of(core, stream, asked, measured, turn.now);
        if ground.blocked() {
            let limit = ground.lines.blocking;
            self.blocked = Some(Blocked { limit });
            self.tiers.push(api::TierReport {
                tier: Tier::Block.name().to_owned(),
                did: "nothing is sent over the blocking line while nothing may be compacted"
                    .to_owned(),
                ..api::TierReport::default()
            });
        }
        Ok(())
    }
}
