//! The driver's functions for the memory pool of a device.

use core::ffi::c_int;
use core::ptr;

use ferrite_core::error::Result;

use super::api::{self, Address, Handle};
use super::device::Device;
use super::failure::{self, made};
use crate::allocation::{Allocation, POOL_RELEASE_THRESHOLD, PoolDriver, PoolProperties};

impl PoolDriver for Device {
    const OUT_OF_MEMORY: c_int = api::OUT_OF_MEMORY;

    fn create_pool(&self, threshold: u64) -> Result<Option<Handle>> {
        if self.number_of(api::MEMORY_POOLS_SUPPORTED)? == 0 {
            return Ok(None);
        }
        let properties = PoolProperties::of_device(self.number);
        let mut pool = ptr::null_mut();
        // SAFETY: the record is complete; the driver writes the handle.
        unsafe { made!(self.api, cuMemPoolCreate(&mut pool, &properties))? };
        let value = (&raw const threshold).cast_mut().cast();
        // SAFETY: the attribute is a 64-bit number, which the driver reads.
        let status =
            unsafe { (self.api.cuMemPoolSetAttribute)(pool, POOL_RELEASE_THRESHOLD, value) };
        let set = failure::check_made(self.api, "cuMemPoolSetAttribute", status);
        if set.is_err() {
            // SAFETY: the pool is new.
            unsafe { (self.api.cuMemPoolDestroy)(pool) };
        }
        set.map(|()| Some(pool))
    }

    unsafe fn trim_pool(&self, pool: Handle) {
        // SAFETY: the caller's promise.
        unsafe { (self.api.cuMemPoolTrimTo)(pool, 0) };
    }

    unsafe fn allocate_pooled(&self, pool: Handle, bytes: usize, stream: Handle) -> Allocation {
        let mut address = 0;
        // SAFETY: the driver writes the address; the caller guarantees the pool and the stream.
        let status =
            unsafe { (self.api.cuMemAllocFromPoolAsync)(&mut address, bytes, pool, stream) };
        allocation("cuMemAllocFromPoolAsync", status, address)
    }

    unsafe fn free_pooled(&self, memory: Handle, stream: Handle) {
        // SAFETY: the caller's promise.
        unsafe { (self.api.cuMemFreeAsync)(memory.expose_provenance() as Address, stream) };
    }

    fn allocate_unpooled(&self, bytes: usize) -> Allocation {
        let mut address = 0;
        // SAFETY: the driver writes the address.
        let status = unsafe { (self.api.cuMemAlloc_v2)(&mut address, bytes) };
        allocation("cuMemAlloc_v2", status, address)
    }

    unsafe fn free_unpooled(&self, memory: Handle) {
        // SAFETY: the caller's promise.
        unsafe { (self.api.cuMemFree_v2)(memory.expose_provenance() as Address) };
    }
}

fn allocation(call: &'static str, status: c_int, address: Address) -> Allocation {
    Allocation::new(call, status, ptr::with_exposed_provenance_mut(address as usize))
}
