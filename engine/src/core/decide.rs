//! Deciding: from an input to events that fit, judged one by one on the state after the one before.

use super::foreign::{self, Misplaced};
use super::{Core, refused, shrink};
use crate::{Error, ErrorKind};
use recount_events::{
    Body, Bound, Checkpoint, Content, Event, Format, Millis, Rollback, Seq, Status, Target, Text,
    ToolResult, Undo,
};
use recount_projections::{Applied, State};

/// What is asked of a session.
#[derive(Debug)]
pub(crate) enum Input {
    /// A host's events, parsed.
    Append(Vec<Event>),
    /// Foreign events: what does not fit is kept word for word instead of refused.
    Import(Vec<Event>),
    /// A name for the head.
    Checkpoint {
        label: String,
        workspace: Option<String>,
    },
    /// The timeline of an earlier position.
    Rollback(Target),
    /// One event's effect is taken out.
    Undo(Seq),
    /// The draft and every open call are closed.
    Interrupt,
    /// The engine's own events.
    Own(Vec<Event>),
}

/// Events that fit, not yet logged.
#[derive(Debug)]
pub(crate) struct Decision {
    /// The state after them.
    pub(crate) state: State,
    /// The first one's position.
    pub(crate) first: Seq,
    /// Each event as it will be logged, and what it changed.
    pub(crate) applied: Vec<(Event, Applied)>,
    /// Foreign events that did not fit as they came.
    pub(crate) misplaced: Vec<Misplaced>,
}

impl Decision {
    /// Nothing to log.
    pub(crate) fn is_empty(&self) -> bool {
        self.applied.is_empty()
    }

    /// Contents leave memory with it.
    pub(crate) fn erases(&self) -> bool {
        let mut events = self.applied.iter();
        events.any(|(event, _)| matches!(event.body, Body::Erased(_)))
    }

    /// The last position.
    pub(crate) fn last(&self) -> Option<Seq> {
        self.state.head()
    }
}

/// Gives each text of an event a salt.
pub(crate) type Salts<'a> = &'a mut dyn FnMut() -> [u8; 16];

impl Core {
    /// Decides: refused inputs leave everything as it was.
    pub(crate) fn handle(
        &self,
        now: Millis,
        input: Input,
        salts: Salts<'_>,
    ) -> Result<Decision, Error> {
        match input {
            Input::Append(events) => self.admit(events, salts, Strict::Host),
            Input::Import(events) => self.admit(events, salts, Strict::Foreign),
            Input::Own(events) => self.admit(events, salts, Strict::Own),
            Input::Checkpoint { label, workspace } => {
                self.admit_one(now, checkpoint(&label, workspace.as_deref()), salts)
            }
            Input::Rollback(asked) => {
                self.admit_one(now, Body::Rollback(Rollback { asked, to: None }), salts)
            }
            Input::Undo(event) => self.admit_one(now, Body::Undo(Undo { event, to: None }), salts),
            Input::Interrupt => self.admit(self.closings(now), salts, Strict::Own),
        }
    }

    fn admit_one(&self, now: Millis, body: Body, salts: Salts<'_>) -> Result<Decision, Error> {
        self.admit(
            vec![Event {
                at: now,
                body,
                because: None,
                extra: None,
            }],
            salts,
            Strict::Alone,
        )
    }

    fn admit(
        &self,
        events: Vec<Event>,
        salts: Salts<'_>,
        strict: Strict,
    ) -> Result<Decision, Error> {
        let mut decision = Decision {
            state: self.state.clone(),
            first: self.next(),
            applied: Vec::new(),
            misplaced: Vec::new(),
        };
        for (index, event) in events.into_iter().enumerate() {
            take(&mut decision, event, index, salts, strict)?;
        }
        Ok(decision)
    }

    /// The draft as a message, and a result of fixed words for each open call.
    fn closings(&self, now: Millis) -> Vec<Event> {
        let calls = self
            .state
            .open_calls()
            .into_iter()
            .map(|open| interrupted(now, open.block));
        self.drafts.closed(now).into_iter().chain(calls).collect()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strict {
    /// A host's batch: a misfit is refused with its place.
    Host,
    /// One event made from a method: a misfit is refused.
    Alone,
    /// The engine's own.
    Own,
    /// Foreign: a misfit is kept.
    Foreign,
}

fn take(
    decision: &mut Decision,
    mut event: Event,
    index: usize,
    salts: Salts<'_>,
    strict: Strict,
) -> Result<(), Error> {
    event.seal(salts);
    let admitted = match strict {
        Strict::Foreign => {
            let mut seal = |made: &mut Event| made.seal(salts);
            let found = foreign::admit(&decision.state, index, event, &mut seal);
            let (admitted, misplaced) = found.map_err(|misfit| refused(&misfit, None))?;
            decision.misplaced.extend(misplaced);
            admitted
        }
        _ => {
            let place = (strict == Strict::Host).then_some(index as u64);
            decision
                .state
                .admit(event)
                .map_err(|misfit| refused(&misfit, place))?
        }
    };
    let logged = admitted.event().clone();
    let mut after = decision.state.clone();
    let applied = after.apply(admitted);
    if strict == Strict::Host && !shrink::shrinks(&decision.state, &after, &logged) {
        return Err(Error::new(
            ErrorKind::Rejected,
            "the summary is not smaller than what it hides",
        )
        .with_index(index as u64)
        .with_next("nothing was changed; make the summary shorter, or cover more"));
    }
    decision.state = after;
    decision.applied.push((logged, applied));
    Ok(())
}

fn checkpoint(label: &str, workspace: Option<&str>) -> Body {
    Body::Checkpoint(Checkpoint {
        label: Text::plain(label),
        workspace: workspace.map(Text::plain),
    })
}

/// What stands as the result of a call that was interrupted.
pub(crate) const INTERRUPTED: &str =
    "\"[Interrupted: the call was stopped before it gave a result.]\"";

fn interrupted(at: Millis, block: recount_events::BlockId) -> Event {
    let content = Content {
        format: Format::Anthropic,
        ..Content::string(INTERRUPTED)
    };
    let result = ToolResult {
        call: None,
        block: Some(block),
        status: Status::Interrupted,
        content,
        tool: None,
        child: None,
        bound: None::<Bound>,
    };
    Event {
        at,
        body: Body::ToolResult(result),
        because: None,
        extra: None,
    }
}
