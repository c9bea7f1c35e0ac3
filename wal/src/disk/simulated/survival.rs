//! What un-synced data becomes in a crash, in the plain choices.

use super::machine::Machine;
use super::tree::Tree;

/// What un-synced data becomes in a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survival {
    /// All of it survives, still un-synced: the process was killed, the machine went on.
    Kept,
    /// None of it survives, nor names without a directory sync.
    Lost,
    /// Each piece of 512 bytes survives or not, by this seed; names survive.
    Torn(u64),
}

impl Survival {
    /// The machine after the crash.
    pub(super) fn of(self, machine: &Machine) -> Machine {
        match self {
            Survival::Kept => machine.clone(),
            Survival::Lost => {
                let mut tree = machine.durable.clone();
                tree.drop_orphans();
                Machine::holding(tree)
            }
            Survival::Torn(seed) => Machine::holding(torn(machine, seed)),
        }
    }
}

fn torn(machine: &Machine, seed: u64) -> Tree {
    let mut tree = machine.now.clone();
    let files: Vec<usize> = tree.names.values().copied().collect();
    for file in files {
        let (old, new) = (machine.durable.bytes(file), machine.now.bytes(file));
        if old == new {
            continue;
        }
        let bytes = mixed(
            old,
            new,
            seed ^ (file as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        );
        tree.resize(file, bytes.len());
        tree.write(file, 0, &bytes);
    }
    tree
}

fn mixed(old: &[u8], new: &[u8], seed: u64) -> Vec<u8> {
    let mut chance = Chance::new(seed);
    // The length is one of the two, or something in between.
    let span = new.len().abs_diff(old.len());
    let shorter = new.len().min(old.len());
    let length = match chance.below(3) {
        0 => old.len(),
        1 => new.len(),
        _ => shorter + chance.below(span + 1),
    };
    let mut bytes = old.to_vec();
    bytes.resize(length, 0);
    for (piece, target) in bytes.chunks_mut(512).enumerate() {
        let from = new.get(piece * 512..).unwrap_or_default();
        let size = from.len().min(target.len());
        if chance.below(2) == 0 {
            target[..size].copy_from_slice(&from[..size]);
        }
    }
    bytes
}

/// Numbers from a seed.
#[derive(Debug)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) fn new(seed: u64) -> Chance {
        Chance(seed | 1)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % limit.max(1)
    }
}
