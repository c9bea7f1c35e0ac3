//! Opening and making sessions.

use super::directory::durable;
use super::directory::{Directory, Held};
use super::engine::Engine;
use super::open_calls::open_calls;
use super::write::{Terms, check_expect, synced};
use crate::core::{Core, Input, Key, Keys};
use crate::profiles;
use crate::{Error, ErrorKind, api};
use recount_events::{Body, Event, Millis, Opened, Seq, SessionKind, Text};
use recount_projections::State;
use recount_wal::RecordDigest;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Parent {
    session: String,
    #[serde(default)]
    seq: u64,
}

impl Engine {
    /// Opens, or with `create` makes, a session, and tells what was found. A differing profile or policy is appended.
    ///
    /// # Errors
    /// `not_found` without `create`; `invalid` for a name, profile or policy that cannot be one.
    pub fn open_session(&self, ask: &api::Open) -> Result<api::Opened, Error> {
        let dir = &*self.inner;
        let slot = dir.slot(&ask.session)?;
        let mut held = slot.hold();
        let key = ask.key.as_ref().map(|key| open_key(dir, key, ask));
        let there = match dir.live(&mut held) {
            Ok(live) => {
                let done = live.done_before(key)?;
                match done {
                    Some(repeat) => synced(dir, slot.stream, repeat)?,
                    None => check_expect(live, ask.expect)?,
                }
                Some(done.is_some())
            }
            Err(error) if error.kind() == ErrorKind::NotFound && ask.create => None,
            Err(error) => return Err(error),
        };
        match there {
            None => make(dir, &mut held, ask, key)?,
            Some(false) => update(dir, &mut held, ask, key)?,
            Some(true) => {}
        }
        answer(dir, &mut held, there.is_none())
    }
}

fn open_key(dir: &Directory, key: &str, ask: &api::Open) -> Key {
    let spec = |spec: &Option<api::Spec>| {
        spec.as_ref()
            .map_or_else(String::new, |spec| spec.0.get().to_owned())
    };
    let (profile, policy) = (spec(&ask.profile), spec(&ask.policy));
    Key::new(
        &dir.key,
        key,
        [b"open".as_slice(), profile.as_bytes(), policy.as_bytes()],
    )
}

fn answer(dir: &Directory, held: &mut Held<'_>, created: bool) -> Result<api::Opened, Error> {
    let (name, stream) = (held.slot.name.clone(), held.slot.stream);
    let live = dir.live(held)?;
    Ok(api::Opened {
        session: name,
        head: live.core.head().map_or(0, |head| head.0),
        durable: durable(dir, stream)?,
        created,
        recovered: live.recovered.clone(),
        open_calls: open_calls(&live.core),
    })
}

/// Makes the session: its opening, profile and policy are one batch.
fn make(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Open,
    key: Option<Key>,
) -> Result<(), Error> {
    if ask.expect.is_some() {
        return Err(Error::new(
            ErrorKind::Conflict,
            "the session is not there yet; it has no head to expect",
        ));
    }
    let now = ask.at.map_or_else(|| dir.options.clock.now(), Millis);
    let opening = Event {
        at: now,
        body: Body::Opened(opened(dir, ask)?),
        because: None,
        extra: None,
    };
    let events = std::iter::once(Ok(opening))
        .chain(settings(ask, now))
        .collect::<Result<Vec<Event>, Error>>()?;
    let core = Core::over(State::new(), Keys::default());
    held.put(super::live::Live::fresh(core, RecordDigest::ROOT));
    let done = begin(dir, held, now, events, key);
    if done.is_err() {
        held.forget();
    }
    done
}

fn begin(
    dir: &Directory,
    held: &mut Held<'_>,
    now: Millis,
    events: Vec<Event>,
    key: Option<Key>,
) -> Result<(), Error> {
    let decision = dir
        .live(held)?
        .core
        .handle(now, Input::Own(events), &mut dir.salts())?;
    dir.write(
        held,
        decision,
        Terms {
            key,
            ..Terms::default()
        },
    )
    .map(|_| ())
}

fn opened(dir: &Directory, ask: &api::Open) -> Result<Opened, Error> {
    let kind = match ask.kind.as_deref() {
        None | Some("main") => SessionKind::Main,
        Some("sub") => SessionKind::Sub,
        Some("side") => SessionKind::Side,
        Some(_) => {
            return Err(Error::invalid("a session's kind is main, sub or side").with_field("kind"));
        }
    };
    let parent = ask
        .parent
        .as_ref()
        .map(|raw| serde_json::from_str::<Parent>(raw.get()))
        .transpose();
    let parent = parent
        .map_err(|cause| Error::invalid(format!("not a parent: {cause}")).with_field("parent"))?;
    Ok(Opened {
        session: Text::plain(&ask.session),
        kind,
        parent: parent.map(|parent| (Text::plain(&parent.session), Seq(parent.seq))),
        spill_root: spill_root(dir, ask)?.as_deref().map(Text::plain),
        host: ask.host.as_deref().map(Text::plain),
    })
}

/// Where spilled results go, by the whole path, since the prompt shows it: where the host says, else into the data directory. On a disk of
/// the caller's nothing is spilled that the host did not ask for.
fn spill_root(dir: &Directory, ask: &api::Open) -> Result<Option<String>, Error> {
    let bad = |why: &str| Err(Error::invalid(why).with_field("spill_root"));
    let wanted = match ask.spill_root.as_deref() {
        Some(given) if given.trim().is_empty() || given.contains('\0') => {
            return bad("a spill root is the path of a folder");
        }
        Some(given) => std::path::PathBuf::from(given),
        None if dir.options.disk.is_some() => return Ok(None),
        None => dir.path.join("spills"),
    };
    match std::path::absolute(wanted) {
        Ok(path) => match path.to_str() {
            Some(path) => Ok(Some(path.to_owned())),
            None if ask.spill_root.is_none() => Ok(None),
            None => bad("a spill root is the path of a folder, in UTF-8"),
        },
        Err(cause) => bad(&format!("the spill root cannot be a path: {cause}")),
    }
}

/// A spill root that differs from the recorded one is refused: the prompt shows the recorded one for ever.
fn check_spill_root(dir: &Directory, core: &Core, ask: &api::Open) -> Result<(), Error> {
    if ask.spill_root.is_none() {
        return Ok(());
    }
    let asked = spill_root(dir, ask)?;
    let recorded = core.opened().and_then(|opened| opened.spill_root);
    let recorded = recorded.as_ref().and_then(Text::as_str);
    if asked.as_deref() == recorded {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the session was opened with another spill root; recorded={}",
        recorded.unwrap_or("none")
    ))
    .with_field("spill_root")
    .with_next("leave it out; a new session may have its own"))
}

/// The profile and policy that were asked for, as events.
fn settings(ask: &api::Open, now: Millis) -> impl Iterator<Item = Result<Event, Error>> {
    let profile = ask
        .profile
        .as_ref()
        .map(profiles::resolve)
        .map(|profile| profile.map(Body::Profile));
    let policy = ask
        .policy
        .as_ref()
        .map(profiles::resolve_policy)
        .map(|policy| policy.map(Body::Policy));
    profile.into_iter().chain(policy).map(move |body| {
        body.map(|body| Event {
            at: now,
            body,
            because: None,
            extra: None,
        })
    })
}

/// Appends what differs from the session's settings.
fn update(
    dir: &Directory,
    held: &mut Held<'_>,
    ask: &api::Open,
    key: Option<Key>,
) -> Result<(), Error> {
    let now = ask.at.map_or_else(|| dir.options.clock.now(), Millis);
    let asked = settings(ask, now).collect::<Result<Vec<Event>, Error>>()?;
    let core = &dir.live(held)?.core;
    check_spill_root(dir, core, ask)?;
    let header = &core.state.timeline().header;
    let current = [&header.profile, &header.policy];
    let same = |event: &Event| {
        current.iter().any(|logged| {
            logged
                .as_ref()
                .is_some_and(|logged| says_the_same(&logged.event, event))
        })
    };
    let events: Vec<Event> = asked.into_iter().filter(|event| !same(event)).collect();
    if events.is_empty() {
        return Ok(());
    }
    let decision = core.handle(now, Input::Own(events), &mut dir.salts())?;
    dir.write(
        held,
        decision,
        Terms {
            key,
            ..Terms::default()
        },
    )
    .map(|_| ())
}

/// Two events say the same, whatever their times and salts.
pub(super) fn says_the_same(one: &Event, other: &Event) -> bool {
    let bare = |event: &Event| {
        let mut bare = Event {
            at: Millis(0),
            ..event.clone()
        };
        bare.unseal();
        bare
    };
    bare(one).body == bare(other).body
}
