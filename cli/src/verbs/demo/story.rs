//! The story that the demo tells, step by step, each with the prompt's digest.

use crate::print::{Table, bold, bytes, count, dim, green, line, short};
use crate::reach::Reach;
use crate::verbs::import;
use recount::{Error, ErrorKind, api};
use std::path::Path;

/// How many turns are rolled back.
const TURNS: u64 = 2;

/// Imports a transcript and travels in it.
pub(crate) fn tell(reach: &Reach, transcript: &Path) -> Result<(), Error> {
    let ask = api::Import {
        path: import::absolute(transcript)?,
        ..Default::default()
    };
    let imported = import::ask_with_progress(reach, &ask)?;
    let Some(session) = imported.sessions.first() else {
        return Err(Error::invalid("the transcript holds no session"));
    };
    let name = session.session.as_str();
    line(&format!(
        "{}   {} records → {} events, {} kept beside it (no model sees them), {} damaged",
        bold("imported"),
        count(imported.read),
        count(session.events),
        count(imported.kept),
        count(imported.damaged.len() as u64)
    ));

    let profile = shipped(reach)?;
    let mut steps = Table::new(
        &["step", "outcome", "cut", "tokens", "size", "digest"],
        &[2, 3, 4],
    );
    let before = project(reach, name, profile.as_ref())?;
    step(&mut steps, "projected", &before);
    let label = api::Checkpoint {
        session: name.to_owned(),
        label: "before the demo".to_owned(),
        ..Default::default()
    };
    let _: api::Checkpointed = reach.ask("v1.session.checkpoint", &label)?;

    let turns = turns(reach, name)?;
    let ask = api::Rollback {
        session: name.to_owned(),
        to: api::To::Turns(turns),
        key: None,
        expect: None,
        at: None,
    };
    let rolled: api::RolledBack = reach.ask("v1.session.rollback", &ask)?;
    step(
        &mut steps,
        &format!(
            "rolled back {turns} turn{}",
            if turns == 1 { "" } else { "s" }
        ),
        &project(reach, name, profile.as_ref())?,
    );

    let undo = api::Undo {
        session: name.to_owned(),
        event: rolled.event,
        ..Default::default()
    };
    let _: api::Undone = reach.ask("v1.session.undo", &undo)?;
    let after = project(reach, name, profile.as_ref())?;
    step(&mut steps, "undid the rollback", &after);
    line("");
    steps.print();
    line("");
    line(&if before.digest == after.digest {
        green("the same bytes, before and after")
    } else {
        format!(
            "{} and {} differ",
            short(&before.digest),
            short(&after.digest)
        )
    });
    happened(reach, name)?;
    verify(reach, name)
}

/// The prompt; a cut before the session's first profile is projected for a shipped one.
fn project(
    reach: &Reach,
    session: &str,
    shipped: Option<&api::Spec>,
) -> Result<api::Projected, Error> {
    let ask = |profile: Option<api::Spec>| api::Project {
        session: session.to_owned(),
        profile,
        form: api::As::None,
        ..Default::default()
    };
    match reach.ask("v1.session.project", &ask(None)) {
        Err(error) if error.kind() == ErrorKind::Invalid => {
            reach.ask("v1.session.project", &ask(shipped.cloned()))
        }
        answer => answer,
    }
}

/// A shipped profile, for what a recording does not tell.
fn shipped(reach: &Reach) -> Result<Option<api::Spec>, Error> {
    let hello: api::Hello = reach.ask("v1.hello", &serde_json::json!({}))?;
    Ok(hello.profiles.first().map(|name| api::Spec::named(name)))
}

/// [`TURNS`], or fewer, so that something is left.
fn turns(reach: &Reach, session: &str) -> Result<u64, Error> {
    let status: api::StatusReport = reach.ask(
        "v1.session.status",
        &api::Status {
            session: session.to_owned(),
        },
    )?;
    Ok(status.turns.saturating_sub(1).clamp(1, TURNS))
}

fn step(table: &mut Table, name: &str, projected: &api::Projected) {
    let outcome = match (&projected.outcome, &projected.waiting) {
        (api::Outcome::Waiting, Some(waiting)) => format!("waiting for {}", waiting.whom),
        (outcome, _) => format!("{outcome:?}").to_lowercase(),
    };
    table.row(vec![
        name.to_owned(),
        outcome,
        projected.cut.to_string(),
        count(projected.tokens.total),
        bytes(projected.bytes),
        short(&projected.digest).to_owned(),
    ]);
}

/// The last events of the log: what the demo did, as the log tells it.
fn happened(reach: &Reach, session: &str) -> Result<(), Error> {
    let status: api::StatusReport = reach.ask(
        "v1.session.status",
        &api::Status {
            session: session.to_owned(),
        },
    )?;
    let ask = api::Log {
        session: session.to_owned(),
        from: Some(status.head.saturating_sub(2)),
        limit: Some(3),
    };
    let page: api::LogPage = reach.ask("v1.session.log", &ask)?;
    line("");
    line(&bold("what the log says happened"));
    for event in &page.events {
        line(&dim(&crate::print::clean(event.get())));
    }
    Ok(())
}

fn verify(reach: &Reach, session: &str) -> Result<(), Error> {
    let verified: api::Verified = reach.ask(
        "v1.session.verify",
        &api::Verify {
            session: session.to_owned(),
            ..api::Verify::default()
        },
    )?;
    line("");
    let state = serde_json::to_string(&verified.state).unwrap_or_default();
    line(&format!(
        "{} {}: {} events, {} contents",
        bold("verified"),
        state.trim_matches('"'),
        count(verified.events),
        count(verified.contents)
    ));
    Ok(())
}
