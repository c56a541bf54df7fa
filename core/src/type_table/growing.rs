//! Arrays that grow while others read them: old blocks stay as they are, and the length is published last.

use crate::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use core::cell::Cell;
use core::ptr::{self, NonNull};
use core::slice;

use super::arena::{Arena, NoMemory};

/// Where the parts of an array lie, in bytes from the start of what has it, and how large its records are.
#[derive(Clone, Copy)]
pub(super) struct ArrayPlace {
    /// The pointer to the records.
    pub data: u8,
    /// Their number, an `i32`.
    pub len: u8,
    /// The room for records, an `i32` that is touched only under the registry's lock.
    pub capacity: u8,
    /// Bytes of a record.
    pub record_bytes: u8,
    /// How many records the first block has room for, at least.
    pub first_room: u8,
}

/// The parts of such an array, which lie where C readers look for them.
pub(super) struct GrowingArray<'a> {
    data: &'a AtomicPtr<u8>,
    len: &'a AtomicI32,
    capacity: *const Cell<i32>,
    record_bytes: usize,
    first_room: usize,
}

impl<'a> GrowingArray<'a> {
    /// The array of this place in what `base` points to.
    ///
    /// # Safety
    /// The parts lie there for `'a`, and everybody reaches the first two by atomics only. The array holds `len` records in a block that
    /// lives for ever.
    pub(super) unsafe fn at(base: *mut u8, place: ArrayPlace) -> Self {
        // SAFETY: the caller vouches for all parts.
        unsafe {
            GrowingArray {
                data: AtomicPtr::from_ptr(base.add(place.data.into()).cast()),
                len: AtomicI32::from_ptr(base.add(place.len.into()).cast()),
                capacity: base.add(place.capacity.into()).cast(),
                record_bytes: place.record_bytes.into(),
                first_room: place.first_room.into(),
            }
        }
    }

    /// The records that everybody may see.
    ///
    /// # Safety
    /// The records are of type `T`, and written before they are published.
    #[inline]
    pub(super) unsafe fn published<T>(&self) -> &'static [T] {
        let len = self.len.load(Ordering::Acquire);
        // An array seen after a length holds at least that many records: it was published first.
        let data = self.data.load(Ordering::Acquire);
        if len <= 0 || data.is_null() {
            return &[];
        }
        // SAFETY: the first `len` records of every published array are written, never change, and live for ever.
        unsafe { slice::from_raw_parts(data.cast(), len as usize) }
    }

    /// The number of records.
    pub(super) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed) as usize
    }

    /// The place of a record, which the array has room for from here on. Places that nobody wrote are zero.
    ///
    /// When the block is too small, all records move to one of at least twice the room.
    #[inline(never)]
    pub(super) fn place(&self, arena: &mut Arena, index: usize) -> Result<NonNull<u8>, NoMemory> {
        // SAFETY: whoever has the arena holds the registry's lock, so nobody else touches the capacity.
        let capacity = unsafe { &*self.capacity };
        let room = capacity.get() as usize;
        if index >= room {
            // Indices are bounded, and what lies in memory twice can be numbered.
            let grown = (2 * room).max(index + self.first_room);
            let bytes = grown * self.record_bytes;
            let block = arena.carve(bytes, align_of::<u64>())?;
            let old = self.data.load(Ordering::Relaxed);
            // SAFETY: both blocks have room for the records, and the new one is fresh, so they do not overlap.
            unsafe {
                block.write_bytes(0, bytes);
                ptr::copy_nonoverlapping(old, block.as_ptr(), self.len() * self.record_bytes);
            }
            self.data.store(block.as_ptr(), Ordering::Release);
            capacity.set(grown as i32);
        }
        // SAFETY: the block has room for the record.
        Ok(unsafe {
            NonNull::new_unchecked(self.data.load(Ordering::Relaxed).add(index * self.record_bytes))
        })
    }

    /// Shows the records up to this one to everybody.
    pub(super) fn publish(&self, index: usize) {
        if index >= self.len() {
            self.len.store(index as i32 + 1, Ordering::Release);
        }
    }
}
