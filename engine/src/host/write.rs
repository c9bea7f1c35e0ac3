//! Writing: what was decided goes to the log, then into memory; what the log refuses leaves nothing.

use super::directory::{Directory, Held};
use super::kept::Kept;
use super::live::{Live, Weighed};
use crate::core::{Core, Decision, Key, Repeat};
use crate::{Error, ErrorKind, api};
use recount_events::{Durability, EncodeError, Encoded, Event, Seq};
use recount_wal::{
    AppendError, Batch, Class, Content, NewRecord, Receipt, RecordDigest, StreamId, Wal,
};

/// How often a full queue is waited for.
const PATIENCE: u32 = 8;

/// What a write carries besides its events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    /// Its idempotency key.
    pub(crate) key: Option<Key>,
    /// What the receipt shall promise; none: the strongest default of the events.
    pub(crate) class: Option<Class>,
    /// For the first record of a fork: what its chain starts from.
    pub(crate) origin: Option<RecordDigest>,
}

impl Directory {
    /// Logs what was decided and takes it in.
    pub(crate) fn write(
        &self,
        held: &mut Held<'_>,
        decision: Decision,
        terms: Terms,
    ) -> Result<Receipt, Error> {
        let log = self.log()?;
        let stream = held.slot.stream;
        let live = held
            .live()
            .ok_or_else(|| Error::new(ErrorKind::Poisoned, "the session is not in memory"))?;
        writable(live)?;
        let class = terms.class.unwrap_or_else(|| class_of(&decision));
        match append(&log, stream, &decision, terms, class)? {
            Ok(receipt) => {
                let erases = decision.erases();
                live.accept(decision, terms.key, &receipt);
                if erases && let Err(cause) = self.erased(held) {
                    // It is logged and durable; a checkpoint from before it is derived, and replaced by the next one.
                    tracing::warn!(%stream, %cause, "what was erased may still stand in a state checkpoint");
                }
                self.note(held);
                Ok(receipt)
            }
            Err(cause) => {
                if is_doubtful(&cause) {
                    held.forget();
                }
                Err(refusal(&cause))
            }
        }
    }
}

/// Appends; a full queue is waited for, a few times.
fn append(
    log: &Wal,
    stream: StreamId,
    decision: &Decision,
    terms: Terms,
    class: Class,
) -> Result<Result<Receipt, AppendError>, Error> {
    for _ in 1..PATIENCE {
        match log.append(batch(stream, decision, terms)?, class) {
            // What this answers is seen by the next try.
            Err(AppendError::Busy) => drop(log.sync_all()),
            done => return Ok(done),
        }
    }
    Ok(log.append(batch(stream, decision, terms)?, class))
}

impl Live {
    fn accept(&mut self, decision: Decision, key: Option<Key>, receipt: &Receipt) {
        if let Some(key) = key {
            self.core.keys.remember(
                key.tag(),
                Repeat {
                    first: Seq(receipt.first),
                    last: Seq(receipt.last),
                },
            );
        }
        self.digest = receipt.digest;
        self.core.accept(decision);
    }

    /// A session before its first record.
    pub(crate) fn fresh(core: Core, digest: RecordDigest) -> Self {
        Self {
            core,
            recovered: api::Recovered::default(),
            digest,
            read_only: None,
            kept: Kept::default(),
            weighed: Weighed::default(),
        }
    }
}

fn writable(live: &Live) -> Result<(), Error> {
    match live.read_only {
        None => Ok(()),
        Some(seq) => Err(Error::new(
            ErrorKind::Newer,
            format!("the session holds an essential event of a newer version; seq={seq}"),
        )
        .with_next("upgrade to write to it; it can be read")),
    }
}

fn batch(stream: StreamId, decision: &Decision, terms: Terms) -> Result<Batch, Error> {
    let records: Result<Vec<NewRecord>, Error> = decision
        .applied
        .iter()
        .map(|(event, _)| record(event))
        .collect();
    Ok(Batch {
        stream,
        first: decision.first.0,
        records: records?,
        tag: terms.key.map(Key::tag),
        origin: terms.origin,
    })
}

fn record(event: &Event) -> Result<NewRecord, Error> {
    let encoded = event.encode().map_err(|cause| match cause {
        EncodeError::TooLarge { .. } => Error::new(ErrorKind::TooLarge, cause.to_string()),
        EncodeError::Unsealed | EncodeError::Malformed { .. } => {
            Error::new(ErrorKind::Invalid, cause.to_string())
        }
    })?;
    Ok(new_record(encoded))
}

fn new_record(encoded: Encoded) -> NewRecord {
    let contents = encoded
        .contents
        .into_iter()
        .map(|(salt, bytes)| Content { salt, bytes })
        .collect();
    NewRecord {
        time: encoded.time.0,
        kind: encoded.kind,
        schema: encoded.schema,
        body: encoded.body,
        contents,
    }
}

/// The strongest default of the events.
fn class_of(decision: &Decision) -> Class {
    let strongest = decision
        .applied
        .iter()
        .map(|(event, _)| event.body.durability())
        .max();
    match strongest {
        Some(Durability::Synced) | None => Class::Synced,
        Some(Durability::Ordered) => Class::Ordered,
    }
}

/// What the host asked for.
pub(crate) fn class(durability: Option<api::Durability>) -> Option<Class> {
    durability.map(|durability| match durability {
        api::Durability::Ordered => Class::Ordered,
        api::Durability::Synced => Class::Synced,
    })
}

/// After these, what is in memory may not be what is in the log.
fn is_doubtful(cause: &AppendError) -> bool {
    matches!(
        cause,
        AppendError::Unknown { .. } | AppendError::Conflict { .. } | AppendError::Poisoned
    )
}

/// What was done under a key before is on disk.
pub(crate) fn synced(dir: &Directory, stream: StreamId, repeat: Repeat) -> Result<(), Error> {
    let done = dir.log()?.sync(stream, repeat.last.0);
    done.map(|_| ()).map_err(|cause| refusal(&cause))
}

/// The error that the caller sees.
pub(crate) fn refusal(cause: &AppendError) -> Error {
    let error = |kind| Error::new(kind, cause.to_string());
    match cause {
        // Not the caller's doing: memory was behind the log, and is read again by the next request.
        AppendError::Conflict { next } => error(ErrorKind::Busy).with_head(next.checked_sub(1)),
        AppendError::Io { .. } | AppendError::ReadOnly => error(ErrorKind::Io),
        AppendError::Unknown { .. } => error(ErrorKind::Unknown),
        AppendError::NotDurable { since } => error(ErrorKind::NotDurable).with_since(*since),
        AppendError::Poisoned => error(ErrorKind::Poisoned),
        AppendError::TooLarge { .. } => error(ErrorKind::TooLarge),
        AppendError::Busy => error(ErrorKind::Busy),
        _ => error(ErrorKind::Invalid),
    }
}

/// Refuses when the head is not the one that the caller expects.
pub(crate) fn check_expect(live: &Live, expect: Option<u64>) -> Result<(), Error> {
    let head = live.core.head().map(|head| head.0);
    match expect {
        Some(expected) if head != Some(expected) => {
            let now = head.map_or_else(|| "none".to_owned(), |head| head.to_string());
            Err(Error::new(
                ErrorKind::Conflict,
                format!("the head is another one; expected={expected} head={now}"),
            )
            .with_head(head))
        }
        _ => Ok(()),
    }
}
