//! Faults on demand: which operations fail, how often, and the moment at which the power goes.

use std::io;

/// What a fault is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Making a file.
    Create,
    /// Making a folder.
    CreateDir,
    /// Opening a file that exists.
    Open,
    /// Listing a folder.
    List,
    /// Writing bytes.
    Write,
    /// Syncing a file.
    Sync,
    /// Syncing a folder.
    SyncDir,
    /// Cutting a file.
    Truncate,
    /// Giving a file another name.
    Rename,
    /// Removing a file.
    Remove,
    /// Reading bytes.
    Read,
}

/// A fault: the operations of a kind from the `after`-th on (counted from 0, from when the fault was set) fail, `times` of them.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What fails.
    pub operation: Operation,
    /// How many succeed first.
    pub after: u64,
    /// How many fail then.
    pub times: u64,
    /// The error they answer.
    pub kind: io::ErrorKind,
    /// Of a failing write, how many bytes are written, durably, all the same.
    pub short: usize,
}

/// Why an operation fails, and what it does all the same.
#[derive(Debug)]
pub(super) struct Struck {
    pub(super) error: io::Error,
    /// Of a write, how many bytes arrive.
    pub(super) short: usize,
    /// Whether these bytes are on the platter, and a refused sync is told once; not when the power is gone.
    pub(super) durably: bool,
}

/// The faults that stand, and the count of operations.
#[derive(Debug, Default)]
pub(super) struct Faults {
    pub(super) standing: Vec<Fault>,
    pub(super) operations: u64,
    pub(super) halt: Option<u64>,
}

impl Faults {
    /// Counts an operation; fails it when a fault says so, or when the power is gone.
    pub(super) fn strike(&mut self, operation: Operation) -> Result<(), Struck> {
        let number = self.operations;
        self.operations = number.saturating_add(1);
        let halted = |short| Struck {
            error: io::ErrorKind::BrokenPipe.into(),
            short,
            durably: false,
        };
        match self.halt {
            Some(halt) if number == halt => return Err(halted(usize::MAX)),
            Some(halt) if number > halt => return Err(halted(0)),
            _ => {}
        }
        for fault in self
            .standing
            .iter_mut()
            .filter(|fault| fault.operation == operation)
        {
            if fault.after > 0 {
                fault.after -= 1;
            } else if fault.times > 0 {
                fault.times -= 1;
                // The worst of an ordinary failure: what was written is on the platter before it is cut off again.
                return Err(Struck {
                    error: fault.kind.into(),
                    short: fault.short,
                    durably: true,
                });
            }
        }
        Ok(())
    }

    /// As [`Faults::strike`], for an operation that is not done in part.
    pub(super) fn pass(&mut self, operation: Operation) -> io::Result<()> {
        self.strike(operation).map_err(|struck| struck.error)
    }
}
