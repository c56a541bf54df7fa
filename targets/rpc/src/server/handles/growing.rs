//! Entries in a buffer that grows up to a limit.
#![forbid(unsafe_code)]

use ferrite_core::platform::memory::Buffer;

use super::super::failure::Failure;
use super::super::host::Limits;
use super::entry::Entry;

pub(super) struct Entries {
    entries: Buffer<Entry>,
    limits: Limits,
    /// Bytes of data that the client has allocated.
    data_bytes: u64,
}

impl Entries {
    pub(super) const fn new(limits: Limits) -> Entries {
        Entries { entries: Buffer::new(), limits, data_bytes: 0 }
    }

    #[cfg(feature = "devices")]
    pub(super) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    pub(super) fn get(&self, number: u32) -> Option<&Entry> {
        self.entries.get(number as usize)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Entry> {
        self.entries.get_mut(number as usize)
    }

    /// Adds a free entry. Returns its number.
    pub(super) fn push(&mut self) -> Result<u32, Failure> {
        let number = self.entries.len() as u32;
        if number >= self.limits.handles {
            return Err(Failure::Raised(ferrite_core::error!(
                MemoryError,
                "the session has {number} handles, its limit: free some"
            )));
        }
        self.entries.try_push(Entry::NEW).map_err(|refused| Failure::Raised(refused.into()))?;
        Ok(number)
    }

    pub(super) fn add_data(&mut self, bytes: u64) -> Result<(), Failure> {
        let (used, limit) = (self.data_bytes, self.limits.data_bytes);
        match used.checked_add(bytes) {
            Some(total) if total <= limit => {
                self.data_bytes = total;
                Ok(())
            }
            _ => Err(Failure::Raised(ferrite_core::error!(
                MemoryError,
                "the session has allocated {used} of {limit} bytes, and {bytes} more are too many"
            ))),
        }
    }

    pub(super) fn remove_data(&mut self, bytes: u64) {
        self.data_bytes = self.data_bytes.saturating_sub(bytes);
    }
}
