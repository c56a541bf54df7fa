//! The table of handles of a session: the only way from a number of the client to an object.
//!
//! A handle is the number of an entry plus one, and in its high half the entry's generation, which
//! a release increments: a stale handle names nothing. An entry whose generations are used up is
//! never used again.
//!
//! | file | entries |
//! |---|---|
//! | `entry` | one entry |
//! | `growing` | a buffer that grows up to a limit, and a limit of the data, with `alloc` |
//! | `fixed` | a constant array |

use ferrite_core::abi::DLDevice;
use ferrite_core::{ObjectRef, Tensor};

use super::failure::{Failure, refused};
use super::host::Limits;
use super::region::DataRegion;

mod entry;
#[cfg_attr(not(feature = "alloc"), path = "fixed.rs")]
mod growing;

pub(super) use entry::Content;
use entry::Entry;
use growing::Entries;

const STALE: Failure = refused!("ValueError: no such handle");
const WRONG_KIND: Failure =
    refused!("TypeError: the handle has another kind", "TypeError: kind of handle");

/// The table of handles.
pub(super) struct Handles {
    entries: Entries,
    /// Number of the first free entry plus one, or 0.
    free: u32,
}

impl Handles {
    pub(super) const fn new(limits: Limits) -> Handles {
        Handles { entries: Entries::new(limits), free: 0 }
    }

    /// Counts bytes of data before they are allocated.
    pub(super) fn add_data(&mut self, bytes: u64) -> Result<(), Failure> {
        self.entries.add_data(bytes)
    }

    /// Counts bytes of data as freed.
    pub(super) fn remove_data(&mut self, bytes: u64) {
        self.entries.remove_data(bytes);
    }

    /// Adds an entry. Returns its handle.
    pub(super) fn insert(&mut self, content: Content) -> Result<u64, Failure> {
        let number = match self.free {
            0 => self.entries.push()?,
            next => next - 1,
        };
        let entry = self.entries.get_mut(number).ok_or(STALE)?;
        if let Content::Free(next) = core::mem::replace(&mut entry.content, content) {
            self.free = next;
        }
        Ok(handle_of(number, entry))
    }

    fn find(&self, handle: u64) -> Result<&Content, Failure> {
        match self.entries.get(number_of(handle)) {
            Some(entry) if handle_of(number_of(handle), entry) == handle => match &entry.content {
                Content::Free(_) => Err(STALE),
                content => Ok(content),
            },
            _ => Err(STALE),
        }
    }

    /// Borrows the object of a handle. If `index` is not 0, the object has that type index.
    pub(super) fn object(&self, handle: u64, index: i32) -> Result<&ObjectRef, Failure> {
        match self.find(handle)? {
            Content::Object(object) if index == 0 || object.type_index() == index => Ok(object),
            _ => Err(WRONG_KIND),
        }
    }

    /// Returns the memory behind a handle: data of the client, or a tensor that a call returned.
    pub(super) fn region(&self, handle: u64, device: DLDevice) -> Result<DataRegion, Failure> {
        let tensor = match self.find(handle)? {
            Content::Data(tensor) => Some(tensor),
            Content::Object(object) => object.as_class::<Tensor>(),
            _ => None,
        };
        let tensor = tensor.ok_or(WRONG_KIND)?;
        if tensor.device() == device {
            Ok(DataRegion::of(tensor.dl_tensor()))
        } else {
            Err(refused!("ValueError: the data is on another device", "ValueError: device"))
        }
    }

    /// Borrows the stream of a handle.
    #[cfg(feature = "devices")]
    pub(super) fn stream(
        &self,
        handle: u64,
    ) -> Result<&super::session_stream::SessionStream, Failure> {
        match self.find(handle)? {
            Content::Stream(stream) => Ok(stream),
            _ => Err(WRONG_KIND),
        }
    }

    /// Returns the handle of the stream that the driver knows by a pointer.
    #[cfg(feature = "devices")]
    pub(super) fn find_stream(&self, of_driver: *mut core::ffi::c_void) -> Option<u64> {
        (0..self.entries.len()).find_map(|number| {
            let entry = self.entries.get(number)?;
            match &entry.content {
                Content::Stream(stream) if stream.as_ptr() == of_driver => {
                    Some(handle_of(number, entry))
                }
                _ => None,
            }
        })
    }

    /// Removes an entry, if its content is of the kind of a request to free it.
    pub(super) fn remove(&mut self, handle: u64, code: i32) -> Result<(), Failure> {
        if self.find(handle)?.freed_by() != code {
            return Err(WRONG_KIND);
        }
        let number = number_of(handle);
        let entry = self.entries.get_mut(number).ok_or(STALE)?;
        // The last generation stays in use, so that no later entry has it.
        let is_last = entry.generation == u32::MAX;
        let next = if is_last { 0 } else { self.free };
        let content = core::mem::replace(&mut entry.content, Content::Free(next));
        if !is_last {
            entry.generation += 1;
            self.free = number.wrapping_add(1);
        }
        if let Content::Data(data) = &content {
            self.entries.remove_data(DataRegion::of(data.dl_tensor()).bytes as u64);
        }
        Ok(())
    }
}

fn number_of(handle: u64) -> u32 {
    (handle as u32).wrapping_sub(1)
}

fn handle_of(number: u32, entry: &Entry) -> u64 {
    u64::from(entry.generation) << 32 | u64::from(number.wrapping_add(1))
}

#[cfg(test)]
mod tests;
