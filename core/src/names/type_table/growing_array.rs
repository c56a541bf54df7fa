//! Growing arrays with lock-free readers. Old blocks stay unchanged, and the length is published
//! last.

use crate::platform::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::slice;

use super::arena::{Arena, NoMemory};

/// Memory layout of an array: byte offsets of its fields within the owner, and the size of its
/// records.
#[derive(Clone, Copy)]
pub(super) struct ArrayLayout {
    /// Offset of the pointer to the records.
    pub data: u8,
    /// Offset of the number of records, an `i32`.
    pub len: u8,
    /// Offset of the capacity, an `i32` that is only accessed under the registry's lock.
    pub capacity: u8,
    /// Size of a record in bytes.
    pub record_bytes: u8,
    /// Minimum capacity of the first block.
    pub first_capacity: u8,
}

/// A growing array whose pointer and length are fields of a record that C code reads.
pub(super) struct GrowingArray<'a> {
    base: *mut u8,
    layout: &'static ArrayLayout,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> GrowingArray<'a> {
    /// Accesses the array with this layout in the record at `base`.
    ///
    /// # Safety
    /// The array's fields must live for `'a`, and its pointer and length must only be accessed
    /// atomically. The array must have `len` records in a block that lives forever.
    pub(super) unsafe fn at(base: *mut u8, layout: &'static ArrayLayout) -> Self {
        GrowingArray { base, layout, lifetime: PhantomData }
    }

    fn data(&self) -> &AtomicPtr<u8> {
        // SAFETY: the pointer lies at this offset, and is only accessed atomically (`at`).
        unsafe { AtomicPtr::from_ptr(self.base.add(self.layout.data.into()).cast()) }
    }

    fn len_part(&self) -> &AtomicI32 {
        // SAFETY: as for the data.
        unsafe { AtomicI32::from_ptr(self.base.add(self.layout.len.into()).cast()) }
    }

    /// Returns the published records.
    ///
    /// # Safety
    /// The records must have type `T`, and be written before they are published.
    #[inline]
    pub(super) unsafe fn published<T>(&self) -> &'static [T] {
        let len = self.len_part().load(Ordering::Acquire);
        // An array is published before its length, so it has at least that many records.
        let data = self.data().load(Ordering::Acquire);
        // Clients can access the record of both; a length that one of them corrupted must not
        // become a huge one.
        if data.is_null() || len <= 0 {
            return &[];
        }
        // SAFETY: the first `len` records of every published array are written, never change, and
        // live forever.
        unsafe { slice::from_raw_parts(data.cast(), len as usize) }
    }

    /// Returns the number of published records.
    pub(super) fn len(&self) -> usize {
        self.len_part().load(Ordering::Relaxed) as usize
    }

    /// Returns the address of the record at `index`, growing the array if needed. Unwritten records
    /// are zero.
    ///
    /// If the block is too small, all records are copied to one with at least twice the capacity.
    #[cfg_attr(feature = "speed", inline(always))]
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub(super) fn place(&self, arena: &Arena, index: usize) -> Result<NonNull<u8>, NoMemory> {
        // SAFETY: a caller with the arena holds the registry's lock, so no one else accesses the
        // capacity.
        let capacity = unsafe { &*self.base.add(self.layout.capacity.into()).cast::<Cell<i32>>() };
        let record_bytes = usize::from(self.layout.record_bytes);
        let room = capacity.get() as usize;
        if index >= room {
            // Cannot overflow: indices are bounded, and twice the size of an array in memory fits a
            // number.
            let grown = (2 * room).max(index + usize::from(self.layout.first_capacity));
            let bytes = grown * record_bytes;
            let block = arena.carve_zeroed(bytes, align_of::<u64>())?;
            let old = self.data().load(Ordering::Relaxed);
            // SAFETY: both blocks have space for the records, and the new one does not overlap the
            // old.
            unsafe { ptr::copy_nonoverlapping(old, block.as_ptr(), self.len() * record_bytes) };
            self.data().store(block.as_ptr(), Ordering::Release);
            capacity.set(grown as i32);
        }
        // SAFETY: the block has space for the record.
        Ok(unsafe {
            NonNull::new_unchecked(self.data().load(Ordering::Relaxed).add(index * record_bytes))
        })
    }

    /// Publishes all records up to `index`.
    pub(super) fn publish(&self, index: usize) {
        if index >= self.len() {
            self.len_part().store(index as i32 + 1, Ordering::Release);
        }
    }
}
