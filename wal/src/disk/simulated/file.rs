//! An open file of the simulated disk.

use std::io;

use super::change::{Change, Step};
use super::fault::Operation;
use super::{Access, SegmentFile, SimulatedDisk};

#[derive(Debug)]
pub(super) struct SimulatedFile {
    pub(super) disk: SimulatedDisk,
    pub(super) file: usize,
    pub(super) access: Access,
}

impl SimulatedFile {
    fn writable(&self) -> io::Result<()> {
        match self.access {
            Access::Write => Ok(()),
            Access::Read => Err(io::ErrorKind::PermissionDenied.into()),
        }
    }
}

impl SegmentFile for SimulatedFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.writable()?;
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidInput)?;
        offset
            .checked_add(bytes.len())
            .ok_or(io::ErrorKind::InvalidInput)?;
        let mut state = self.disk.lock();
        let struck = state.faults.strike(Operation::Write);
        let written = match &struck {
            Ok(()) => bytes,
            Err(struck) => bytes.get(..struck.short).unwrap_or(bytes),
        };
        if !written.is_empty() {
            state.step(Step::Changed(Change::Write {
                file: self.file,
                offset,
                bytes: written.into(),
            }));
            if matches!(&struck, Err(struck) if struck.durably) {
                state.step(Step::Synced(self.file));
            }
        }
        struck.map_err(|struck| struck.error)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut state = self.disk.lock();
        state.faults.pass(Operation::Read)?;
        let bytes = state.machine.now.bytes(self.file);
        let from = usize::try_from(offset)
            .ok()
            .and_then(|start| bytes.get(start..))
            .unwrap_or_default();
        let size = from.len().min(buffer.len());
        buffer[..size].copy_from_slice(&from[..size]);
        Ok(size)
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.lock().machine.now.bytes(self.file).len() as u64)
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.disk.lock();
        match state.faults.strike(Operation::Sync) {
            Ok(()) => state.step(Step::Synced(self.file)),
            Err(struck) => {
                if struck.durably {
                    state.step(Step::Refused(self.file));
                }
                return Err(struck.error);
            }
        }
        Ok(())
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.writable()?;
        let mut state = self.disk.lock();
        state.faults.pass(Operation::Truncate)?;
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::InvalidInput)?;
        state.step(Step::Changed(Change::Length {
            file: self.file,
            length,
        }));
        Ok(())
    }
}
