//! Entries in a constant array, for firmware.
#![forbid(unsafe_code)]

use super::super::failure::{Failure, refused};
use super::super::host::Limits;
use super::entry::Entry;

/// Number of entries: functions, modules and tensors that a client of a board uses at a time.
const CAPACITY: usize = 24;

pub(super) struct Entries {
    entries: [Entry; CAPACITY],
    used: u32,
}

impl Entries {
    pub(super) const fn new(_: Limits) -> Entries {
        Entries { entries: [Entry::NEW; CAPACITY], used: 0 }
    }

    #[cfg(feature = "devices")]
    pub(super) fn len(&self) -> u32 {
        self.used
    }

    pub(super) fn get(&self, number: u32) -> Option<&Entry> {
        self.entries.get(number as usize)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Entry> {
        self.entries.get_mut(number as usize)
    }

    /// Takes an entry that was never used. Returns its number.
    pub(super) fn push(&mut self) -> Result<u32, Failure> {
        let number = self.used;
        if number as usize >= CAPACITY {
            return Err(refused!("MemoryError: too many handles"));
        }
        self.used += 1;
        Ok(number)
    }

    /// Data is limited by the memory of the board alone.
    pub(super) fn add_data(&mut self, _: u64) -> Result<(), Failure> {
        Ok(())
    }

    pub(super) fn remove_data(&mut self, _: u64) {}
}
