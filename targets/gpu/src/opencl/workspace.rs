//! Workspaces of a device: buffers that compiled code gives back at the end of a call, kept for the next one.
//!
//! The queue is in order, so a buffer may be given to a kernel that is queued later while one that was queued before still uses
//! it.

use core::ffi::c_void;
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrite_core::error::{Result, out_of_memory};
use ferrite_core::memory::Buffer;
use ferrite_core::plain_bail;

use super::device::Device;
use super::memory;

/// Sizes are multiples of this.
const GRANULARITY: usize = 4096;

#[derive(Clone, Copy)]
struct Block {
    data: NonNull<c_void>,
    bytes: usize,
}

// SAFETY: the pointer is that of a descriptor, which any thread may use.
unsafe impl Send for Block {}

/// The workspaces of a device.
pub(super) struct Workspaces(Mutex<Pool>);

struct Pool {
    free: Buffer<Block>,
    used: Buffer<Block>,
}

impl Workspaces {
    pub(super) const fn new() -> Workspaces {
        Workspaces(Mutex::new(Pool { free: Buffer::new(), used: Buffer::new() }))
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a workspace: the smallest free one that is large enough, otherwise a new one in place of the largest free one.
    ///
    /// # Errors
    /// MemoryError; errors of the driver.
    pub(super) fn allocate(&self, device: &Device, bytes: usize) -> Result<NonNull<c_void>> {
        let Some(bytes) = bytes.max(1).checked_next_multiple_of(GRANULARITY) else {
            return Err(out_of_memory(bytes));
        };
        let mut pool = self.pool();
        let pool = &mut *pool;
        // Room in both lists, so that giving back cannot fail.
        let count = pool.free.len() + pool.used.len() + 1;
        pool.used.try_reserve(count - pool.used.len())?;
        pool.free.try_reserve(count - pool.free.len())?;
        let fitting = pool.free.iter().enumerate().filter(|(_, block)| block.bytes >= bytes);
        let block = match fitting.min_by_key(|(_, block)| block.bytes).map(|(index, _)| index) {
            Some(index) => pool.free.swap_remove(index),
            None => None,
        };
        let block = match block {
            Some(block) => block,
            None => {
                pool.drop_largest(device);
                Block { data: memory::allocate(device, bytes)?, bytes }
            }
        };
        pool.used.try_push(block)?;
        Ok(block.data)
    }

    /// Takes back a workspace.
    ///
    /// # Errors
    /// ValueError when it is none of this device.
    pub(super) fn free(&self, workspace: NonNull<c_void>) -> Result<()> {
        let mut pool = self.pool();
        let pool = &mut *pool;
        let index = pool.used.iter().rposition(|block| block.data == workspace);
        match index.and_then(|index| pool.used.swap_remove(index)) {
            Some(block) => pool.free.try_push(block),
            None => plain_bail!(VALUE_ERROR, "This is no workspace of the OpenCL device"),
        }
    }
}

impl Pool {
    fn drop_largest(&mut self, device: &Device) {
        let largest =
            self.free.iter().enumerate().max_by_key(|(_, block)| block.bytes).map(|(index, _)| index);
        if let Some(block) = largest.and_then(|index| self.free.swap_remove(index)) {
            // SAFETY: the block is in no list any more; commands that are queued hold it.
            unsafe { memory::free(device, block.data) };
        }
    }
}
