//! Arrays that grow while others read them: old blocks stay as they are, and the length is published last.

use crate::sync::atomic::{AtomicI32, AtomicPtr, Ordering};
use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::slice;

use super::arena::{Arena, NoMemory};

/// Where the parts of an array lie, in bytes from the start of what has it, and how large its records are.
#[derive(Clone, Copy)]
pub(super) struct ArrayLayout {
    /// The pointer to the records.
    pub data: u8,
    /// Their number, an `i32`.
    pub len: u8,
    /// The room for records, an `i32` that is touched only under the registry's lock.
    pub capacity: u8,
    /// Bytes of a record.
    pub record_bytes: u8,
    /// How many records the first block has room for, at least.
    pub first_capacity: u8,
}

/// Such an array, whose parts lie where C readers look for them.
pub(super) struct GrowingArray<'a> {
    base: *mut u8,
    layout: &'static ArrayLayout,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> GrowingArray<'a> {
    /// The array of this place in what `base` points to.
    ///
    /// # Safety
    /// The parts lie there for `'a`, and everybody reaches the first two by atomics only. The array holds `len` records in a
    /// block that lives for ever.
    pub(super) unsafe fn at(base: *mut u8, layout: &'static ArrayLayout) -> Self {
        GrowingArray { base, layout, lifetime: PhantomData }
    }

    fn data(&self) -> &AtomicPtr<u8> {
        // SAFETY: the pointer lies there, and is reached by atomics only (`at`).
        unsafe { AtomicPtr::from_ptr(self.base.add(self.layout.data.into()).cast()) }
    }

    fn len_part(&self) -> &AtomicI32 {
        // SAFETY: as for the data.
        unsafe { AtomicI32::from_ptr(self.base.add(self.layout.len.into()).cast()) }
    }

    /// The records that everybody may see.
    ///
    /// # Safety
    /// The records are of type `T`, and written before they are published.
    #[inline]
    pub(super) unsafe fn published<T>(&self) -> &'static [T] {
        let len = self.len_part().load(Ordering::Acquire);
        // An array seen after a length holds at least that many records: it was published first.
        let data = self.data().load(Ordering::Acquire);
        // The record that holds both is the clients' to read: a length that one of them spoilt must not become a huge one.
        if data.is_null() || len <= 0 {
            return &[];
        }
        // SAFETY: the first `len` records of every published array are written, never change, and live for ever.
        unsafe { slice::from_raw_parts(data.cast(), len as usize) }
    }

    /// The number of records.
    pub(super) fn len(&self) -> usize {
        self.len_part().load(Ordering::Relaxed) as usize
    }

    /// The place of a record, which the array has room for from here on. Places that nobody wrote are zero.
    ///
    /// When the block is too small, all records move to one of at least twice the room.
    #[cfg_attr(feature = "speed", inline(always))]
    #[cfg_attr(not(feature = "speed"), inline(never))]
    pub(super) fn place(&self, arena: &Arena, index: usize) -> Result<NonNull<u8>, NoMemory> {
        // SAFETY: whoever has the arena holds the registry's lock, so nobody else touches the capacity.
        let capacity = unsafe { &*self.base.add(self.layout.capacity.into()).cast::<Cell<i32>>() };
        let record_bytes = usize::from(self.layout.record_bytes);
        let room = capacity.get() as usize;
        if index >= room {
            // Indices are bounded, and what lies in memory twice can be numbered.
            let grown = (2 * room).max(index + usize::from(self.layout.first_capacity));
            let bytes = grown * record_bytes;
            let block = arena.carve_zeroed(bytes, align_of::<u64>())?;
            let old = self.data().load(Ordering::Relaxed);
            // SAFETY: both blocks have room for the records, and the new one is fresh, so they do not overlap.
            unsafe { ptr::copy_nonoverlapping(old, block.as_ptr(), self.len() * record_bytes) };
            self.data().store(block.as_ptr(), Ordering::Release);
            capacity.set(grown as i32);
        }
        // SAFETY: the block has room for the record.
        Ok(unsafe { NonNull::new_unchecked(self.data().load(Ordering::Relaxed).add(index * record_bytes)) })
    }

    /// Shows the records up to this one to everybody.
    pub(super) fn publish(&self, index: usize) {
        if index >= self.len() {
            self.len_part().store(index as i32 + 1, Ordering::Release);
        }
    }
}
