//! Memory of tensors, from a memory pool of the driver that is ordered by streams.
//!
//! Tensors are allocated and freed on the current stream of the calling thread, without a wait.
//! Before memory is freed, the streams of the device are ordered, as `cuMemFree` orders them.
//! Recorded commands cannot free memory of the pool, so memory that is freed during a recording
//! waits for the next allocation or free that is not part of one.

use core::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;

use super::api::{self, Address, Api, DeviceNumber, Handle, PoolProperties, Status};
use super::failure::{self, made};
use crate::allocation::{StreamDriver, UsedStreams};
use crate::variable;

/// The pool of a device.
pub(super) struct Pool {
    api: &'static Api,
    /// The device.
    number: DeviceNumber,
    /// Streams whose commands may use memory of the pool.
    pub(super) streams: UsedStreams,
    state: Mutex<PoolState>,
}

struct PoolState {
    driver: DriverPool,
    /// Number of allocated blocks that will be freed to the pool.
    live: usize,
    /// Blocks that were freed during a recording, with capacity for all live ones.
    waiting: Buffer<Address>,
    /// Blocks that do not come from the driver's pool: they were allocated during a recording.
    unpooled: Buffer<Address>,
}

/// A `CUmemoryPool`.
#[derive(Clone, Copy)]
enum DriverPool {
    /// Not asked for yet.
    Unknown,
    /// Turned off by the user, or not supported by the device.
    Unavailable,
    Ready(Handle),
}

// SAFETY: the driver accepts the handle on any thread.
unsafe impl Send for DriverPool {}

impl Pool {
    /// Creates the state of a device whose pool does not exist yet.
    pub(super) const fn new(api: &'static Api, number: DeviceNumber) -> Pool {
        let state = PoolState {
            driver: DriverPool::Unknown,
            live: 0,
            waiting: Buffer::new(),
            unpooled: Buffer::new(),
        };
        Pool { api, number, streams: UsedStreams::new(), state: Mutex::new(state) }
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
    /// The context of the device must be current, and the stream must be null or belong to it.
    pub(super) unsafe fn allocate(
        &self,
        device: &impl StreamDriver,
        bytes: usize,
        stream: Handle,
    ) -> Result<Allocation> {
        let mut state = self.state();
        let DriverPool::Ready(pool) = self.driver_pool(&mut state)? else {
            return Ok(self.allocate_unpooled(bytes));
        };
        self.streams.note(stream);
        // SAFETY: the caller guarantees the stream.
        if unsafe { device.is_recording(stream) } {
            state.unpooled.try_reserve(1)?;
            let allocated = self.allocate_unpooled(bytes);
            if let Ok(address) = allocated.result {
                state.unpooled.try_push(address)?;
            }
            return Ok(allocated);
        }
        // So that freeing needs no memory.
        let capacity = state.live + 1;
        state.waiting.try_reserve(capacity)?;
        // SAFETY: the caller guarantees the stream.
        unsafe { self.free_waiting(&mut state, device, stream) };
        let mut allocated = self.allocate_from(pool, bytes, stream);
        if allocated.result == Err(api::OUT_OF_MEMORY) {
            self.trim_pool(device, pool);
            allocated = self.allocate_from(pool, bytes, stream);
        }
        state.live += usize::from(allocated.result.is_ok());
        Ok(allocated)
    }

    /// Frees memory from [`allocate`](Pool::allocate). Commands that are queued may still use it.
    /// Errors are ignored.
    ///
    /// # Safety
    /// The memory must come from `allocate` for this device, and must not be used afterwards; the
    /// context of the device must be current, and the stream must be null or belong to it.
    pub(super) unsafe fn free(&self, device: &impl StreamDriver, address: Address, stream: Handle) {
        let mut state = self.state();
        let unpooled = state.unpooled.iter().position(|block| *block == address);
        if let Some(index) = unpooled {
            state.unpooled.swap_remove(index);
        }
        if unpooled.is_some() || !matches!(state.driver, DriverPool::Ready(_)) {
            drop(state);
            // SAFETY: the caller guarantees the memory, which the driver allocated directly.
            unsafe { (self.api.cuMemFree_v2)(address) };
            return;
        }
        self.streams.note(stream);
        state.live -= 1;
        // The capacity was reserved with the memory.
        let _ = state.waiting.try_push(address);
        // SAFETY: the caller guarantees the stream.
        unsafe { self.free_waiting(&mut state, device, stream) };
    }

    /// Gives unused memory back to the driver. Returns `true` if there is a pool.
    ///
    /// # Safety
    /// The context of the device must be current, and the stream must be null or belong to it.
    pub(super) unsafe fn trim(&self, device: &impl StreamDriver, stream: Handle) -> bool {
        let mut state = self.state();
        let DriverPool::Ready(pool) = state.driver else { return false };
        // SAFETY: the caller guarantees the stream.
        unsafe { self.free_waiting(&mut state, device, stream) };
        self.trim_pool(device, pool);
        true
    }

    /// Allocates memory that is not part of the pool, which may wait for the device. The context of
    /// the device must be current.
    pub(super) fn allocate_unpooled(&self, bytes: usize) -> Allocation {
        let mut address = 0;
        // SAFETY: the driver writes the address.
        let status = unsafe { (self.api.cuMemAlloc_v2)(&mut address, bytes) };
        Allocation::new("cuMemAlloc_v2", status, address)
    }

    fn allocate_from(&self, pool: Handle, bytes: usize, stream: Handle) -> Allocation {
        let mut address = 0;
        // SAFETY: the driver writes the address; the pool is never destroyed.
        let status =
            unsafe { (self.api.cuMemAllocFromPoolAsync)(&mut address, bytes, pool, stream) };
        Allocation::new("cuMemAllocFromPoolAsync", status, address)
    }

    /// Frees the waiting blocks, unless commands on the stream are being recorded.
    ///
    /// # Safety
    /// The context of the device must be current, and the stream must be null or belong to it.
    unsafe fn free_waiting(
        &self,
        state: &mut PoolState,
        device: &impl StreamDriver,
        stream: Handle,
    ) {
        // SAFETY: the caller guarantees the stream; the blocks have no owner any more.
        unsafe {
            if state.waiting.is_empty()
                || device.is_recording(stream)
                || self.streams.barrier(device, stream).is_err()
            {
                return;
            }
            for address in state.waiting.iter() {
                (self.api.cuMemFreeAsync)(*address, stream);
            }
        }
        state.waiting.clear();
    }

    /// Waits for the device, so that freed memory is unused, and gives unused memory back to the
    /// driver. Errors are ignored: then the memory stays in the pool.
    fn trim_pool(&self, device: &impl StreamDriver, pool: Handle) {
        if device.finish().is_ok() {
            // SAFETY: the pool is never destroyed.
            unsafe { (self.api.cuMemPoolTrimTo)(pool, 0) };
        }
    }

    /// Returns the driver's pool; creates it on the first call.
    fn driver_pool(&self, state: &mut PoolState) -> Result<DriverPool> {
        if matches!(state.driver, DriverPool::Unknown) {
            state.driver = self.create()?;
        }
        Ok(state.driver)
    }

    /// Creates the pool, unless the user turned pools off or the device has none.
    fn create(&self) -> Result<DriverPool> {
        let (limit, mut is_supported) = (variable::pool_limit(), 0);
        // SAFETY: the driver writes the number.
        unsafe {
            let attribute = api::MEMORY_POOLS_SUPPORTED;
            made!(self.api, cuDeviceGetAttribute(&mut is_supported, attribute, self.number))?;
        }
        if limit == Some(0) || is_supported == 0 {
            return Ok(DriverPool::Unavailable);
        }
        let properties = PoolProperties::of_device(self.number);
        let mut pool = ptr::null_mut();
        // SAFETY: the record is complete; the driver writes the handle.
        unsafe { made!(self.api, cuMemPoolCreate(&mut pool, &properties))? };
        let threshold = limit.unwrap_or(u64::MAX);
        let value = (&raw const threshold).cast_mut().cast();
        // SAFETY: the attribute is a 64-bit number, which the driver reads.
        let status =
            unsafe { (self.api.cuMemPoolSetAttribute)(pool, api::POOL_RELEASE_THRESHOLD, value) };
        let set = failure::check_made(self.api, "cuMemPoolSetAttribute", status);
        if set.is_err() {
            // SAFETY: the pool is new.
            unsafe { (self.api.cuMemPoolDestroy)(pool) };
        }
        set.map(|()| DriverPool::Ready(pool))
    }
}

/// Outcome of a call that allocates.
pub(super) struct Allocation {
    pub(super) call: &'static str,
    pub(super) result: core::result::Result<Address, Status>,
}

impl Allocation {
    fn new(call: &'static str, status: Status, address: Address) -> Allocation {
        let result = if status == api::SUCCESS { Ok(address) } else { Err(status) };
        Allocation { call, result }
    }
}
