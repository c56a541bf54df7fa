//! The separate block of a List's elements: growth, and removal of the whole block.

use core::ffi::c_void;

use ferrite_core::abi::TVMFFIAny;
use ferrite_core::error::Result;
use ferrite_core::platform::sync::atomic::{Ordering, size_word};
use ferrite_core::value::any::Any;

use super::cells::Seq;
use crate::containers::cell::{self, CELL_BYTES};
use crate::containers::storage;

/// The memory of a List's elements. The owner moves it to a List or releases it.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    data: *mut c_void,
    capacity: usize,
    release: Option<unsafe extern "C" fn(*mut c_void)>,
}

impl Block {
    /// Removes and returns the last of `len` elements, and decrements `len`; `None` if it is 0.
    ///
    /// # Safety
    /// The block must have that many elements, which are the caller's.
    pub(crate) unsafe fn pop(&self, len: &mut usize) -> Option<Any> {
        *len = len.checked_sub(1)?;
        // SAFETY: the caller guarantees the element, and has it from here.
        Some(unsafe { cell::take(self.data.cast::<TVMFFIAny>().add(*len)) })
    }

    /// Releases the memory, by the deleter of the code that allocated it.
    ///
    /// # Safety
    /// The block must have no elements, and not be used afterwards.
    pub(crate) unsafe fn release(self) {
        if let Some(release) = self.release {
            // SAFETY: the caller guarantees the block; the deleter came with it.
            unsafe { release(self.data) }
        }
    }
}

impl Seq<'_> {
    /// Grows the block of a List to `capacity` cells. Does nothing if it is large enough.
    ///
    /// The old block is released by the deleter stored in the object. The new block is stored with
    /// this library's deleter, so that each block is released by its own allocator.
    ///
    /// # Errors
    /// MemoryError. On failure the sequence is unchanged.
    pub(crate) fn grow_block(self, capacity: usize) -> Result<()> {
        if capacity <= self.capacity() {
            return Ok(());
        }
        let block = storage::allocate_block(storage::block_bytes(capacity, CELL_BYTES)?)?.as_ptr();
        let len = self.len();
        let old = self.block();
        // SAFETY: the new block holds more than `len` cells; the values move with the switch of the
        // block.
        unsafe {
            if len > 0 {
                core::ptr::copy_nonoverlapping(old.data.cast::<TVMFFIAny>(), block.cast(), len);
            }
            self.set_block(Block { data: block, capacity, release: Some(storage::release_block) });
            old.release();
        }
        Ok(())
    }

    /// Returns the block of a List.
    fn block(self) -> Block {
        // SAFETY: the record is alive for 'a.
        unsafe {
            let cell = self.cell();
            Block { data: (*cell).data, capacity: self.capacity(), release: (*cell).data_deleter }
        }
    }

    /// Replaces the block of a List, and releases nothing.
    ///
    /// # Safety
    /// The elements must be in the new block, and the caller releases the old one.
    unsafe fn set_block(self, block: Block) {
        let cell = self.cell();
        // SAFETY: the record is alive for 'a. Other threads may read the capacity meanwhile.
        unsafe {
            (*cell).data = block.data;
            (*cell).data_deleter = block.release;
            size_word(&raw mut (*cell).capacity).store(block.capacity, Ordering::Relaxed);
        }
    }

    /// Takes the block of a List, with its elements: their number is returned. The List is then
    /// empty, without a block, but with the deleter.
    pub(crate) fn take_block(self) -> (Block, usize) {
        let (block, len) = (self.block(), self.len());
        self.set_len(0);
        // SAFETY: the caller has the elements and the block now.
        unsafe { self.set_block(Block { data: core::ptr::null_mut(), capacity: 0, ..block }) }
        (block, len)
    }

    /// Moves an empty block to a List without one, such as after [`take_block`](Self::take_block).
    /// Returns `false` and changes nothing if the List has a block.
    pub(crate) fn give_block(self, block: Block) -> bool {
        let is_without = self.cells().is_null();
        if is_without {
            // SAFETY: the List has neither elements nor a block.
            unsafe { self.set_block(block) }
        }
        is_without
    }
}
