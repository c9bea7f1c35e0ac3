//! What a disk was asked to do, in order, and every crash that may interrupt it.
//!
//! - A crash at moment `m` comes after the first `m` completed operations and before the next one has completed.
//! - A write that was interrupted leaves no more than one that completed and was not synced, so the moments behind it
//!   stand for it too; a kill, which keeps all that completed, tears it besides.

use super::change::{Change, Step};
use super::choice::{Plan, choices, is_exhaustive};
use super::machine::{Machine, Names};
use super::pieces::{Piece, pieces, tears};
use super::tree::Tree;
use super::{SimulatedDisk, Survival};

/// What a crash may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// The process is killed: what completed stays, the next write is torn, nothing becomes durable by it.
    Kill,
    /// The power goes; un-synced bytes are kept or lost piece by piece, names keep their order, and a synced file has its name.
    Ordered,
    /// The power goes; as above, and any name whose folder was not synced may be lost: all that POSIX promises.
    Strict,
}

impl View {
    /// All of them.
    pub const ALL: [View; 3] = [View::Kill, View::Ordered, View::Strict];
}

/// What was done to a disk from some moment on.
#[derive(Clone, Debug)]
pub struct Journal {
    start: Machine,
    steps: Vec<Step>,
}

/// One crash: when, what it took, and what is found after it.
#[derive(Clone, Debug)]
pub struct Crash {
    /// How many operations had completed.
    pub moment: usize,
    /// What survived, for a person to read.
    pub loss: String,
    machine: Machine,
}

impl Crash {
    /// The disk as it is found.
    #[must_use]
    pub fn disk(&self) -> SimulatedDisk {
        SimulatedDisk::on(self.machine.clone())
    }

    /// Equal for equal names and bytes, as a process finds them.
    #[must_use]
    pub fn image(&self) -> u64 {
        self.machine.now.fingerprint()
    }

    /// As [`Crash::image`], and equal only if a loss of power would leave the same, too.
    #[must_use]
    pub fn identity(&self) -> (u64, u64) {
        let image = self.image();
        if self.machine.pending.is_empty() {
            (image, image)
        } else {
            let refused = self.machine.refused.values().sum::<usize>() as u64;
            (image, self.machine.durable.fingerprint() ^ refused)
        }
    }
}

impl Journal {
    pub(super) fn from(machine: &Machine) -> Journal {
        Journal {
            start: machine.clone(),
            steps: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// How many operations there are.
    #[must_use]
    pub fn moments(&self) -> usize {
        self.steps.len()
    }

    /// The disk as it would be found after a crash at a moment.
    #[must_use]
    pub fn crashed(&self, moment: usize, survival: Survival) -> SimulatedDisk {
        let mut machine = self.start.clone();
        self.steps
            .iter()
            .take(moment)
            .for_each(|step| machine.apply(step));
        SimulatedDisk::on(survival.of(&machine))
    }

    /// Calls `visit` with every crash from the moment `from` on that `view` allows and `plan` enumerates, in the order of moments.
    pub fn crashes(&self, view: View, plan: &Plan, from: usize, visit: &mut dyn FnMut(Crash)) {
        let mut machine = self.start.clone();
        machine.rule = match view {
            View::Kill | View::Strict => Names::Strict,
            View::Ordered => Names::Ordered,
        };
        for moment in 0..=self.steps.len() {
            let next = self.steps.get(moment);
            if moment >= from {
                match view {
                    View::Kill => kills(&machine, moment, next, plan, visit),
                    View::Ordered | View::Strict => cuts(&machine, moment, plan, visit),
                }
            }
            if let Some(step) = next {
                machine.apply(step);
            }
        }
    }
}

fn kills(
    machine: &Machine,
    moment: usize,
    next: Option<&Step>,
    plan: &Plan,
    visit: &mut dyn FnMut(Crash),
) {
    visit(Crash {
        moment,
        loss: "nothing".to_owned(),
        machine: machine.clone(),
    });
    let Some(Step::Changed(Change::Write {
        file,
        offset,
        bytes,
    })) = next
    else {
        return;
    };
    for length in tears(*offset, bytes.len(), plan.tears) {
        let mut torn = machine.clone();
        torn.apply(&Step::Changed(Change::Write {
            file: *file,
            offset: *offset,
            bytes: bytes[..length].into(),
        }));
        visit(Crash {
            moment,
            loss: format!("a write of {} bytes torn at {length}", bytes.len()),
            machine: torn,
        });
    }
}

fn cuts(machine: &Machine, moment: usize, plan: &Plan, visit: &mut dyn FnMut(Crash)) {
    for grain in [512, 4096] {
        let pieces = pieces(&machine.pending, grain);
        for chosen in choices(plan, pieces.len(), moment) {
            if machine.rule == Names::Ordered && !in_order(&pieces, &chosen) {
                continue;
            }
            let short = surviving(machine, &pieces, &chosen);
            let long = lengthened(machine, &short);
            for (tree, tail) in [(Some(short), "short"), (long, "of zeros")] {
                let Some(tree) = tree else { continue };
                visit(Crash {
                    moment,
                    loss: format!("survivors at {grain}, tail {tail}: {}", marks(&chosen)),
                    machine: Machine::holding(tree),
                });
            }
        }
        if is_exhaustive(plan, pieces.len()) {
            break;
        }
    }
}

/// Whether no name survives behind one that is lost.
fn in_order(pieces: &[Piece<'_>], chosen: &[bool]) -> bool {
    let names = pieces
        .iter()
        .zip(chosen)
        .filter(|(piece, _)| piece.is_name());
    names.map(|(_, chosen)| *chosen).is_sorted_by(|a, b| a >= b)
}

fn surviving(machine: &Machine, pieces: &[Piece<'_>], chosen: &[bool]) -> Tree {
    let mut tree = machine.durable.clone();
    for (piece, _) in pieces.iter().zip(chosen).filter(|(_, chosen)| **chosen) {
        match piece {
            Piece::Bytes {
                file,
                offset,
                bytes,
            } => tree.write(*file, *offset, bytes),
            Piece::Length { file, length } => tree.resize(*file, *length),
            Piece::Name(name) => tree.apply(&Change::Name((*name).clone())),
        }
    }
    tree.drop_orphans();
    tree
}

/// The same with the lengths that files have now, where they were lost with the bytes.
fn lengthened(machine: &Machine, short: &Tree) -> Option<Tree> {
    let mut tree = short.clone();
    let mut longer = false;
    for file in machine.pending.iter().filter_map(Change::data_of) {
        let length = machine.now.bytes(file).len();
        if tree.bytes(file).len() < length {
            tree.resize(file, length);
            longer = true;
        }
    }
    longer.then_some(tree)
}

fn marks(chosen: &[bool]) -> String {
    let mark = |kept: &bool| if *kept { '+' } else { '-' };
    chosen.iter().map(mark).collect()
}
