//! The driver's functions for the memory pool of a device.

use core::ffi::c_int;
use core::ptr;

use ferrite_core::error::Result;

use super::api::{self, Handle, PoolApi};
use super::platform::OnDevice;
use crate::allocation::{Allocation, POOL_RELEASE_THRESHOLD, PoolDriver, PoolProperties};

impl OnDevice {
    /// Returns the functions of pools if the device has them.
    ///
    /// # Errors
    /// Errors of the driver.
    fn pool_api(&self) -> Result<Option<&'static PoolApi>> {
        let mut is_supported = 0;
        let Some(pool_api) = &self.platform.pool_api else { return Ok(None) };
        let (api, attribute) = (self.api(), api::MEMORY_POOLS_SUPPORTED);
        // SAFETY: the driver writes the number.
        let status = unsafe { (api.hipDeviceGetAttribute)(&mut is_supported, attribute, self.id) };
        api.check("hipDeviceGetAttribute", status)?;
        Ok((is_supported != 0).then_some(pool_api))
    }
}

impl PoolDriver for OnDevice {
    const OUT_OF_MEMORY: c_int = api::OUT_OF_MEMORY;

    fn create_pool(&self, threshold: u64) -> Result<Option<Handle>> {
        let Some(pool_api) = self.pool_api()? else { return Ok(None) };
        let properties = PoolProperties::of_device(self.id);
        let mut pool = ptr::null_mut();
        // SAFETY: the record is complete; the driver writes the handle.
        let status = unsafe { (pool_api.hipMemPoolCreate)(&mut pool, &properties) };
        self.api().check("hipMemPoolCreate", status)?;
        let value = (&raw const threshold).cast_mut().cast();
        // SAFETY: the attribute is a 64-bit number, which the driver reads.
        let status =
            unsafe { (pool_api.hipMemPoolSetAttribute)(pool, POOL_RELEASE_THRESHOLD, value) };
        let set = self.api().check("hipMemPoolSetAttribute", status);
        if set.is_err() {
            // SAFETY: the pool is new.
            unsafe { (pool_api.hipMemPoolDestroy)(pool) };
        }
        set.map(|()| Some(pool))
    }

    unsafe fn trim_pool(&self, pool: Handle) {
        if let Some(pool_api) = &self.platform.pool_api {
            // SAFETY: the caller's promise.
            unsafe { (pool_api.hipMemPoolTrimTo)(pool, 0) };
        }
    }

    unsafe fn allocate_pooled(&self, pool: Handle, bytes: usize, stream: Handle) -> Allocation {
        let Some(pool_api) = &self.platform.pool_api else { return self.allocate_unpooled(bytes) };
        let mut memory = ptr::null_mut();
        // SAFETY: the driver writes the address; the caller guarantees the pool and the stream.
        let status = unsafe { (pool_api.hipMallocFromPoolAsync)(&mut memory, bytes, pool, stream) };
        Allocation::new("hipMallocFromPoolAsync", status, memory)
    }

    unsafe fn free_pooled(&self, memory: Handle, stream: Handle) {
        if let Some(pool_api) = &self.platform.pool_api {
            // SAFETY: the caller's promise.
            unsafe { (pool_api.hipFreeAsync)(memory, stream) };
        }
    }

    fn allocate_unpooled(&self, bytes: usize) -> Allocation {
        let mut memory = ptr::null_mut();
        // SAFETY: the driver writes the address.
        let status = unsafe { (self.api().hipMalloc)(&mut memory, bytes) };
        Allocation::new("hipMalloc", status, memory)
    }

    unsafe fn free_unpooled(&self, memory: Handle) {
        // SAFETY: the caller's promise.
        unsafe { (self.api().hipFree)(memory) };
    }
}
