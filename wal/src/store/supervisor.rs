//! The supervisor: starts workers, gives up those that hang, panic or fail, and decides what comes next.
//!
//! - It calls nothing of the store itself, so it cannot hang with it.
//! - A worker that was given up keeps its thread and its directory; the next one gets a new directory. Only what is nothing
//!   against the store (a full disk, segments that cannot be read) is waited for, and the same directory tried again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, bounded};

use super::contract::StoreError;
use super::generations::Generations;
use super::shared::Shared;
use super::status::{Doubt, StoreState, panic_text};
use super::worker::{Start, Worker};

/// How often the supervisor looks whether the worker still moves.
const TICK: Duration = Duration::from_millis(50);

/// Runs workers until the store is closed or given up for good.
pub(super) fn supervise(shared: &Arc<Shared>, data_directory: PathBuf) {
    let mut start = Start::Current;
    let mut epoch = 1;
    let mut failures = 0;
    loop {
        shared.begin(epoch, &start);
        let outcome = watch(shared, &run_worker(shared, epoch, &data_directory, start));
        epoch += 1;
        let closing = shared.closing.load(Ordering::Acquire);
        let doubt = match outcome {
            Ok(()) => return shared.give_up(epoch, StoreState::Closed),
            Err(_) if closing => return shared.give_up(epoch, StoreState::Closed),
            Err(doubt) => doubt,
        };
        tracing::warn!(%doubt, "the store is given up");
        let wait = matches!(doubt, Doubt::Failed(StoreError::Full(_)) | Doubt::Unread(_));
        if !wait && !matches!(doubt, Doubt::Asked | Doubt::Absent | Doubt::Foreign) {
            failures += 1;
        }
        if wait || failures > shared.options.attempts {
            shared.give_up(epoch, StoreState::Off(doubt.clone()));
            let limit = if wait {
                shared.options.pause
            } else {
                Duration::MAX
            };
            pause(shared, limit);
            if shared.closing.load(Ordering::Acquire) {
                return shared.give_up(epoch, StoreState::Closed);
            }
            epoch += 1;
        } else {
            shared.give_up(epoch, StoreState::Rebuilding(doubt.clone()));
            epoch += 1;
        }
        start = if wait {
            // Nothing was said against it: what it knows of lost records is weighed and compared again.
            Start::Current
        } else {
            Start::Fresh(doubt)
        };
    }
}

fn run_worker(
    shared: &Arc<Shared>,
    epoch: u64,
    data_directory: &std::path::Path,
    start: Start,
) -> Receiver<Result<(), Doubt>> {
    let (sender, receiver) = bounded(1);
    let worker = Worker {
        shared: Arc::clone(shared),
        epoch,
    };
    let generations = Generations::new(data_directory);
    let thread = thread::Builder::new()
        .name("recount-store".into())
        .spawn(move || {
            let run = AssertUnwindSafe(|| worker.run(&generations, start));
            let outcome = catch_unwind(run).unwrap_or_else(|panic| {
                Err(Doubt::Failed(StoreError::Panicked(panic_text(&*panic))))
            });
            // Nobody listens any more when this worker was given up.
            let _ = sender.send(outcome);
        });
    // Without a thread the sender is gone, which reads as a failure.
    drop(thread);
    receiver
}

/// Waits for a worker's end, or for the time when it counts as hung.
fn watch(shared: &Shared, outcome: &Receiver<Result<(), Doubt>>) -> Result<(), Doubt> {
    let mut beat = shared.beat.load(Ordering::Relaxed);
    let mut moved = Instant::now();
    loop {
        match outcome.recv_timeout(TICK.min(shared.options.patience)) {
            Ok(outcome) => return outcome,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Doubt::Failed(StoreError::Io(
                    "no thread for the store".into(),
                )));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let now = shared.beat.load(Ordering::Relaxed);
        if now != beat || shared.resting.load(Ordering::Acquire) {
            beat = now;
            moved = Instant::now();
        }
        if moved.elapsed() > shared.options.patience {
            return Err(Doubt::Hung);
        }
    }
}

/// Waits for closing, at most that long.
fn pause(shared: &Shared, limit: Duration) {
    let started = Instant::now();
    let mut live = shared.live();
    while !shared.closing.load(Ordering::Acquire) && started.elapsed() < limit {
        let rest = limit
            .saturating_sub(started.elapsed())
            .min(Duration::from_secs(1));
        live = match shared.work.wait_timeout(live, rest) {
            Ok((live, _)) => live,
            Err(poisoned) => poisoned.into_inner().0,
        };
    }
}
