//! Memory of tensors, from a memory pool of the driver that is ordered by streams.
//!
//! Tensors are allocated and freed on the current stream of the calling thread, without a wait.
//! Before memory is freed, the streams of the device are ordered, as the driver's function for
//! freeing other memory orders them. Recorded commands cannot free memory of the pool, so memory
//! that is freed during a recording waits for the next allocation or free that is not part of one.

use core::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::streams::{StreamDriver, UsedStreams};
use crate::variable;

/// A handle of the driver: a pool or a stream.
type Handle = *mut c_void;
/// A device address.
type Memory = *mut c_void;

/// Operations of a driver on the memory of a device, which must be current on the calling thread.
pub(crate) trait PoolDriver: StreamDriver {
    /// Status of an allocation that the device has no memory for.
    const OUT_OF_MEMORY: c_int;

    /// Creates a pool that keeps unused memory up to `threshold` bytes. Returns `None` if the
    /// driver or the device has no pools.
    ///
    /// # Errors
    /// Errors of the driver.
    fn create_pool(&self, threshold: u64) -> Result<Option<Handle>>;

    /// Gives unused memory of a pool back. Errors are ignored.
    ///
    /// # Safety
    /// The pool must come from `create_pool`.
    unsafe fn trim_pool(&self, pool: Handle);

    /// Allocates memory of a pool, for commands that are queued on a stream from now on.
    ///
    /// # Safety
    /// The pool must come from `create_pool`; the stream must be null or belong to the device.
    unsafe fn allocate_pooled(&self, pool: Handle, bytes: usize, stream: Handle) -> Allocation;

    /// Frees memory of a pool when a stream reaches this command. Errors are ignored.
    ///
    /// # Safety
    /// The memory must come from `allocate_pooled`, and must not be used by later commands; the
    /// stream must be null or belong to the device.
    unsafe fn free_pooled(&self, memory: Memory, stream: Handle);

    /// Allocates memory that is not part of a pool, which may wait for the device.
    fn allocate_unpooled(&self, bytes: usize) -> Allocation;

    /// Frees memory that is not part of a pool after the commands that use it. Errors are ignored.
    ///
    /// # Safety
    /// The memory must come from `allocate_unpooled`, and must not be used afterwards.
    unsafe fn free_unpooled(&self, memory: Memory);
}

/// Outcome of a driver call that allocates.
pub(crate) struct Allocation {
    pub(crate) call: &'static str,
    pub(crate) result: core::result::Result<Memory, c_int>,
}

impl Allocation {
    /// Returns the outcome of a call with this status, of which 0 is success.
    pub(crate) fn new(call: &'static str, status: c_int, memory: Memory) -> Allocation {
        Allocation { call, result: if status == 0 { Ok(memory) } else { Err(status) } }
    }
}

/// The pool of a device.
pub(crate) struct Pool {
    /// Streams whose commands may use memory of the pool.
    pub(crate) streams: UsedStreams,
    state: Mutex<PoolState>,
}

struct PoolState {
    driver: DriverPool,
    /// Number of allocated blocks that will be freed to the pool.
    live: usize,
    /// Blocks that were freed during a recording, with capacity for all live ones.
    waiting: Buffer<Memory>,
    /// Blocks that do not come from the driver's pool: they were allocated during a recording.
    unpooled: Buffer<Memory>,
}

/// A `CUmemoryPool` or `hipMemPool_t`.
#[derive(Clone, Copy)]
enum DriverPool {
    /// Not asked for yet.
    Unknown,
    /// Turned off by the user, or not supported by the device.
    Unavailable,
    Ready(Handle),
}

// SAFETY: the driver accepts the handle and the addresses on any thread.
unsafe impl Send for PoolState {}

impl Pool {
    /// Creates the state of a device whose pool does not exist yet.
    pub(crate) const fn new() -> Pool {
        let state = PoolState {
            driver: DriverPool::Unknown,
            live: 0,
            waiting: Buffer::new(),
            unpooled: Buffer::new(),
        };
        Pool { streams: UsedStreams::new(), state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Allocates memory for commands that are queued on a stream from now on, and returns its
    /// address or the driver's failure. If the device is out of memory, gives unused memory back
    /// and tries again. During a recording, allocates as if there were no pool.
    ///
    /// # Errors
    /// MemoryError without host memory; errors of the driver when it creates the pool.
    ///
    /// # Safety
    /// The stream must be null or belong to the device.
    pub(crate) unsafe fn allocate<D: PoolDriver>(
        &self,
        device: &D,
        bytes: usize,
        stream: Handle,
    ) -> Result<Allocation> {
        let mut state = self.state();
        let DriverPool::Ready(pool) = state.driver_pool(device)? else {
            return Ok(device.allocate_unpooled(bytes));
        };
        self.streams.note(stream);
        // SAFETY: the caller guarantees the stream.
        if unsafe { device.is_recording(stream) } {
            state.unpooled.try_reserve(1)?;
            let allocated = device.allocate_unpooled(bytes);
            if let Ok(memory) = allocated.result {
                state.unpooled.try_push(memory)?;
            }
            return Ok(allocated);
        }
        // So that freeing needs no memory.
        let capacity = state.live + 1;
        state.waiting.try_reserve(capacity)?;
        // SAFETY: the caller guarantees the stream; the pool is never destroyed.
        let allocated = unsafe {
            self.free_waiting(&mut state, device, stream);
            let allocated = device.allocate_pooled(pool, bytes, stream);
            if allocated.result == Err(D::OUT_OF_MEMORY) {
                trim_pool(device, pool);
                device.allocate_pooled(pool, bytes, stream)
            } else {
                allocated
            }
        };
        state.live += usize::from(allocated.result.is_ok());
        Ok(allocated)
    }

    /// Frees memory from [`allocate`](Pool::allocate). Commands that are queued may still use it.
    /// Errors are ignored.
    ///
    /// # Safety
    /// The memory must come from `allocate` for this device, and must not be used afterwards; the
    /// stream must be null or belong to the device.
    pub(crate) unsafe fn free(&self, device: &impl PoolDriver, memory: Memory, stream: Handle) {
        let mut state = self.state();
        let unpooled = state.unpooled.iter().position(|block| core::ptr::eq(*block, memory));
        if let Some(index) = unpooled {
            state.unpooled.swap_remove(index);
        }
        if unpooled.is_some() || !matches!(state.driver, DriverPool::Ready(_)) {
            drop(state);
            // SAFETY: the caller guarantees the memory, which the driver allocated directly.
            return unsafe { device.free_unpooled(memory) };
        }
        self.streams.note(stream);
        state.live -= 1;
        // The capacity was reserved with the memory.
        let _ = state.waiting.try_push(memory);
        // SAFETY: the caller guarantees the stream.
        unsafe { self.free_waiting(&mut state, device, stream) };
    }

    /// Allocates memory that is not part of the pool. If the device is out of memory, gives unused
    /// memory of the pool back and tries again.
    ///
    /// # Safety
    /// The stream must be null or belong to the device.
    pub(crate) unsafe fn allocate_unpooled<D: PoolDriver>(
        &self,
        device: &D,
        bytes: usize,
        stream: Handle,
    ) -> Allocation {
        let allocated = device.allocate_unpooled(bytes);
        // SAFETY: the caller guarantees the stream.
        if allocated.result == Err(D::OUT_OF_MEMORY) && unsafe { self.trim(device, stream) } {
            return device.allocate_unpooled(bytes);
        }
        allocated
    }

    /// Gives unused memory back to the driver. Returns `true` if there is a pool.
    ///
    /// # Safety
    /// The stream must be null or belong to the device.
    pub(crate) unsafe fn trim(&self, device: &impl PoolDriver, stream: Handle) -> bool {
        let mut state = self.state();
        let DriverPool::Ready(pool) = state.driver else { return false };
        // SAFETY: the caller guarantees the stream; the pool is never destroyed.
        unsafe {
            self.free_waiting(&mut state, device, stream);
            trim_pool(device, pool);
        }
        true
    }

    /// Frees the waiting blocks, unless commands on the stream are being recorded.
    ///
    /// # Safety
    /// The stream must be null or belong to the device.
    unsafe fn free_waiting(&self, state: &mut PoolState, device: &impl PoolDriver, stream: Handle) {
        // SAFETY: the caller guarantees the stream; the blocks have no owner any more.
        unsafe {
            if state.waiting.is_empty()
                || device.is_recording(stream)
                || self.streams.barrier(device, stream).is_err()
            {
                return;
            }
            for memory in state.waiting.iter() {
                device.free_pooled(*memory, stream);
            }
        }
        state.waiting.clear();
    }
}

impl PoolState {
    /// Returns the driver's pool. The first call creates it, unless the user turned pools off or
    /// the device has none.
    fn driver_pool(&mut self, device: &impl PoolDriver) -> Result<DriverPool> {
        if matches!(self.driver, DriverPool::Unknown) {
            let created = match variable::pool_limit() {
                Some(0) => None,
                limit => device.create_pool(limit.unwrap_or(u64::MAX))?,
            };
            self.driver = created.map_or(DriverPool::Unavailable, DriverPool::Ready);
        }
        Ok(self.driver)
    }
}

/// Waits for the device, so that freed memory is unused, and gives unused memory back to the
/// driver. Errors are ignored: then the memory stays in the pool.
///
/// # Safety
/// The pool must come from the driver.
unsafe fn trim_pool(device: &impl PoolDriver, pool: Handle) {
    if device.finish().is_ok() {
        // SAFETY: the caller's promise.
        unsafe { device.trim_pool(pool) };
    }
}

/// `CUmemPoolProps` or `hipMemPoolProps`.
#[repr(C)]
pub(crate) struct PoolProperties {
    allocation_type: c_int,
    handle_types: c_int,
    location_type: c_int,
    location_id: c_int,
    security_attributes: *mut c_void,
    reserved: [u64; 8],
}

const _: () = assert!(
    size_of::<PoolProperties>() == 88 && core::mem::offset_of!(PoolProperties, reserved) == 24
);

impl PoolProperties {
    /// Returns the properties of a pool of device memory without an upper limit.
    pub(crate) const fn of_device(number: c_int) -> PoolProperties {
        const PINNED: c_int = 1;
        const DEVICE: c_int = 1;
        PoolProperties {
            allocation_type: PINNED,
            handle_types: 0,
            location_type: DEVICE,
            location_id: number,
            security_attributes: core::ptr::null_mut(),
            reserved: [0; 8],
        }
    }
}

/// Pool attribute: the number of bytes above which waits give unused memory back to the system.
pub(crate) const POOL_RELEASE_THRESHOLD: c_int = 4;
