//! Memory pools: a block is freed when the stream reaches that command, so commands of streams that
//! are not ordered before it run on memory that was freed.

use std::ffi::c_int;

use crate::faults::{Fault, Outcome, complain};
use crate::machine::{Machine, unknown};
use crate::queue::Work;

/// `CUmemPoolProps` and `hipMemPoolProps`.
#[repr(C)]
pub struct PoolProperties {
    allocation_type: c_int,
    handle_types: c_int,
    location_type: c_int,
    location_id: c_int,
    rest: [u64; 9],
}

impl PoolProperties {
    /// Returns the device of a pool, which has no other property.
    pub fn device(&self) -> Outcome<c_int> {
        let types = [self.allocation_type, self.handle_types, self.location_type];
        if types != [1, 0, 1] || self.rest != [0; 9] {
            return Err(complain(Fault::InvalidValue, "invalid properties of a pool".into()));
        }
        Ok(self.location_id)
    }
}

/// `CU_MEMPOOL_ATTR_RELEASE_THRESHOLD`, and `hipMemPoolAttrReleaseThreshold`.
const RELEASE_THRESHOLD: c_int = 4;

impl Machine {
    /// Creates a pool. Each device has at most one.
    pub fn create_pool(&mut self, device: usize) -> Outcome<u64> {
        if self.pools.values().any(|owner| *owner == device) {
            return Err(complain(
                Fault::InvalidValue,
                format!("a second pool of the device {device}"),
            ));
        }
        let handle = self.new_handle();
        self.pools.insert(handle, device);
        Ok(handle)
    }

    pub fn destroy_pool(&mut self, pool: u64) -> Outcome<()> {
        self.pools.remove(&pool).map(drop).ok_or_else(|| unknown("pool", pool))
    }

    /// Sets the release threshold, which has no effect here.
    pub fn set_pool_attribute(
        &self,
        pool: u64,
        attribute: c_int,
        value: *const u64,
    ) -> Outcome<()> {
        self.pool(pool)?;
        if attribute != RELEASE_THRESHOLD || value.is_null() {
            return Err(complain(Fault::InvalidValue, format!("the pool attribute {attribute}")));
        }
        Ok(())
    }

    /// Returns the device of a pool.
    pub fn pool(&self, pool: u64) -> Outcome<usize> {
        self.pools.get(&pool).copied().ok_or_else(|| unknown("pool", pool))
    }

    /// Allocates memory. The pool must belong to the context's device.
    pub fn allocate_pooled(
        &mut self,
        context: u64,
        pool: u64,
        stream: u64,
        bytes: u64,
    ) -> Outcome<u64> {
        let device = self.pool(pool)?;
        self.refuse_pools_in_recording(context, stream)?;
        if self.context(context)?.device != device {
            return Err(complain(Fault::InvalidValue, "a pool of another device".into()));
        }
        self.memory.allocate_pooled(device, bytes)
    }

    /// Queues a command that frees memory.
    pub fn free_pooled(&mut self, context: u64, address: u64, stream: u64) -> Outcome<()> {
        self.refuse_pools_in_recording(context, stream)?;
        let stream = self.stream(context, stream)?;
        self.memory.begin_free(address)?;
        self.enqueue(stream, Vec::new(), Work::Free(address));
        Ok(())
    }

    /// Gives the unused bytes of a pool above a limit back to the device.
    pub fn trim_pool(&mut self, pool: u64, limit: u64) -> Outcome<()> {
        let device = self.pool(pool)?;
        self.memory.trim(device, limit);
        Ok(())
    }

    /// Complains about memory that would belong to a graph.
    fn refuse_pools_in_recording(&self, context: u64, stream: u64) -> Outcome<()> {
        if self.is_recording(context, stream)? {
            let text = "memory of a pool is allocated or freed during a recording";
            return Err(complain(Fault::NotRecordable, text.into()));
        }
        Ok(())
    }
}
