//! Pool of device workspaces: temporary memory that compiled code frees at the end of a call, and
//! that is kept for the next call.
//!
//! Queued kernels may still use a freed workspace. So it is reused only for the same queue, where
//! later commands run after those kernels.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_core::error::{Error, Result, kind, out_of_memory};
use ferrite_core::plain_bail;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::sync::Mutex;

/// Granularity of workspace sizes in bytes.
const GRANULARITY: usize = 4096;

/// Device memory from which the pool allocates.
pub trait DeviceMemory {
    /// Name of the device, for error messages.
    const NAME: &'static str;

    /// Allocates memory.
    ///
    /// # Errors
    /// MemoryError; errors of the driver.
    fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>>;

    /// Frees memory. Queued commands may still use it.
    ///
    /// # Safety
    /// The memory must come from `allocate` of the same device, and must not be used afterwards.
    unsafe fn free(&self, memory: NonNull<c_void>);
}

#[derive(Clone, Copy)]
struct WorkspaceBlock {
    data: NonNull<c_void>,
    bytes: usize,
    /// Queue whose commands may use the block.
    queue: *mut c_void,
    /// Whether recorded commands use the block until its queue is destroyed.
    is_kept: bool,
}

// SAFETY: the pointers are device addresses, which any thread may use.
unsafe impl Send for WorkspaceBlock {}

/// Pool of the workspaces of a device.
pub struct Workspaces(Mutex<WorkspacePool>);

struct WorkspacePool {
    free: Buffer<WorkspaceBlock>,
    used: Buffer<WorkspaceBlock>,
}

impl Default for Workspaces {
    fn default() -> Self {
        Workspaces::new()
    }
}

impl Workspaces {
    /// Creates an empty pool.
    pub const fn new() -> Workspaces {
        Workspaces(Mutex::new(WorkspacePool { free: Buffer::new(), used: Buffer::new() }))
    }

    /// Returns a workspace for commands of `queue`: the smallest free one that is large enough,
    /// otherwise a new one in place of the largest free one. If the device is out of memory, first
    /// frees all free workspaces that are not kept.
    ///
    /// # Errors
    /// MemoryError; errors of the driver.
    pub fn allocate<M: DeviceMemory>(
        &self,
        memory: &M,
        bytes: usize,
        queue: *mut c_void,
    ) -> Result<NonNull<c_void>> {
        let Some(bytes) = bytes.max(1).checked_next_multiple_of(GRANULARITY) else {
            return Err(out_of_memory(bytes));
        };
        self.0.with_mut(|pool| {
            // Reserves in both lists, so that freeing cannot fail.
            let count = pool.free.len() + pool.used.len() + 1;
            pool.used.try_reserve(count - pool.used.len())?;
            pool.free.try_reserve(count - pool.free.len())?;
            let block = match pool.take(bytes, queue) {
                Some(block) => block,
                None => {
                    pool.drop_largest(memory, queue);
                    let data = pool.allocate(memory, bytes)?;
                    WorkspaceBlock { data, bytes, queue, is_kept: false }
                }
            };
            pool.used.try_push(block)?;
            Ok(block.data)
        })
    }

    /// Returns a workspace to the pool. Commands of `queue` may still use it.
    ///
    /// # Errors
    /// ValueError if it does not belong to this device.
    pub fn free<M: DeviceMemory>(
        &self,
        workspace: NonNull<c_void>,
        queue: *mut c_void,
    ) -> Result<()> {
        self.0.with_mut(|pool| {
            let index = pool.used.iter().rposition(|block| block.data == workspace);
            match index.and_then(|index| pool.used.swap_remove(index)) {
                Some(block) => Ok(pool.free.try_push(WorkspaceBlock { queue, ..block })?),
                None => {
                    plain_bail!(VALUE_ERROR, "This is not a workspace of the {} device", M::NAME)
                }
            }
        })
    }

    /// Keeps the unused workspaces of a queue until it is destroyed, for commands that are recorded
    /// and run again.
    #[cfg_attr(
        not(any(feature = "cuda", feature = "rocm")),
        expect(dead_code, reason = "only CUDA and ROCm have graphs")
    )]
    pub(crate) fn keep(&self, queue: *mut c_void) {
        self.0.with_mut(|pool| {
            let blocks = pool.free.iter_mut().filter(|block| ptr::eq(block.queue, queue));
            blocks.for_each(|block| block.is_kept = true);
        });
    }

    /// Frees the unused workspaces of a queue that is being destroyed. A later queue may have the
    /// same handle.
    #[cfg_attr(
        not(any(feature = "cuda", feature = "metal", feature = "rocm")),
        expect(dead_code, reason = "only some kinds have queues of their own")
    )]
    pub(crate) fn forget<M: DeviceMemory>(&self, memory: &M, queue: *mut c_void) {
        self.0.with_mut(|pool| while pool.drop_largest(memory, queue) {});
    }
}

impl WorkspacePool {
    /// Takes the smallest free block of `queue` that has at least `bytes` bytes; `None` if there is
    /// none.
    fn take(&mut self, bytes: usize, queue: *mut c_void) -> Option<WorkspaceBlock> {
        let blocks = self.free.iter().enumerate();
        let fitting =
            blocks.filter(|(_, block)| block.bytes >= bytes && ptr::eq(block.queue, queue));
        let index = fitting.min_by_key(|(_, block)| block.bytes).map(|(index, _)| index)?;
        self.free.swap_remove(index)
    }

    /// Frees the largest free block of `queue`. Returns `false` if there is none.
    fn drop_largest<M: DeviceMemory>(&mut self, memory: &M, queue: *mut c_void) -> bool {
        let blocks = self.free.iter().enumerate().filter(|(_, block)| ptr::eq(block.queue, queue));
        let largest = blocks.max_by_key(|(_, block)| block.bytes).map(|(index, _)| index);
        let Some(block) = largest.and_then(|index| self.free.swap_remove(index)) else {
            return false;
        };
        // SAFETY: the block is in no list any more.
        unsafe { memory.free(block.data) };
        true
    }

    /// Allocates memory. If the device is out of memory, frees all free blocks that are not kept
    /// and tries again.
    fn allocate<M: DeviceMemory>(&mut self, memory: &M, bytes: usize) -> Result<NonNull<c_void>> {
        match memory.allocate(bytes) {
            Err(error)
                if is_out_of_memory(&error) && self.free.iter().any(|block| !block.is_kept) =>
            {
                while let Some(index) = self.free.iter().position(|block| !block.is_kept)
                    && let Some(block) = self.free.swap_remove(index)
                {
                    // SAFETY: as in `drop_largest`.
                    unsafe { memory.free(block.data) };
                }
                memory.allocate(bytes)
            }
            result => result,
        }
    }
}

fn is_out_of_memory(error: &Error) -> bool {
    error.kind_bytes() == kind::MEMORY_ERROR.as_bytes()
}
