//! CUDA device memory, pinned host memory, and copies.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::Region;
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;
use ferrite_core::{plain_bail, plain_ensure};

use super::api::{self, Address, Handle};
use super::device::Device;
use super::failure::{self, done};
use super::{platform, stream};
use crate::allocation::{Allocation, PoolDriver};
use crate::workspace::DeviceMemory;

/// Alignment of the driver's allocations, in bytes.
const ALIGNMENT: usize = 256;

/// Allocates device memory from the pool, for commands that are queued on the thread's stream from
/// now on. Returns null for zero bytes.
///
/// # Errors
/// MemoryError if the device is out of memory; ValueError for a larger alignment than the driver's;
/// errors of the driver.
pub(super) fn allocate(device: &Device, bytes: usize, alignment: usize) -> Result<*mut c_void> {
    plain_ensure!(
        alignment <= ALIGNMENT,
        VALUE_ERROR,
        "CUDA memory is aligned to {} bytes, not to {}",
        ALIGNMENT,
        alignment
    );
    if bytes == 0 {
        return Ok(ptr::null_mut());
    }
    let _entered = device.enter()?;
    // SAFETY: the context is current; the code that set the stream guarantees it.
    let allocated = unsafe { device.pool.allocate(device, bytes, stream::current(device.id))? };
    to_pointer(device, bytes, allocated)
}

/// Converts the outcome of an allocation.
///
/// # Errors
/// MemoryError if the device is out of memory; errors of the driver.
fn to_pointer(device: &Device, bytes: usize, allocated: Allocation) -> Result<*mut c_void> {
    match allocated.result {
        Ok(memory) => Ok(memory),
        Err(api::OUT_OF_MEMORY) => plain_bail!(
            MEMORY_ERROR,
            "The CUDA device {} has no {} bytes: {}",
            device.id,
            bytes,
            failure::name(device.api, api::OUT_OF_MEMORY)
        ),
        Err(status) => Err(failure::error(device.api, allocated.call, status)),
    }
}

/// Frees device memory. Commands that are queued may still use it.
///
/// # Safety
/// `data` must come from [`allocate`] for this device, and must not be used afterwards.
pub(super) unsafe fn free(device: &Device, data: *mut c_void) {
    if data.is_null() {
        return;
    }
    let _entered = device.enter_to_release();
    // SAFETY: the caller's promise; the code that set the stream guarantees it.
    unsafe { device.pool.free(device, data, stream::current(device.id)) };
}

/// Gives unused memory of the pool back to the driver.
///
/// # Errors
/// Errors of the driver.
pub(super) fn trim(device: &Device) -> Result<()> {
    let _entered = device.enter()?;
    // SAFETY: the context is current; the code that set the stream guarantees it.
    unsafe { device.pool.trim(device, stream::current(device.id)) };
    Ok(())
}

impl DeviceMemory for Device {
    const NAME: &'static str = "CUDA";

    /// Allocates memory that is not part of the pool: workspaces have a pool of their own, and
    /// recorded commands keep using them.
    fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>> {
        let _entered = self.enter()?;
        // SAFETY: the context is current; the code that set the stream guarantees it.
        let allocated =
            unsafe { self.pool.allocate_unpooled(self, bytes, stream::current(self.id)) };
        match NonNull::new(to_pointer(self, bytes, allocated)?) {
            Some(memory) => Ok(memory),
            None => plain_bail!(INTERNAL_ERROR, "The CUDA driver gave no memory"),
        }
    }

    unsafe fn free(&self, memory: NonNull<c_void>) {
        let _entered = self.enter_to_release();
        // SAFETY: the caller's promise.
        unsafe { self.free_unpooled(memory.as_ptr()) };
    }
}

/// Allocates pinned host memory, accessible to every device. Returns null for zero bytes.
///
/// # Errors
/// MemoryError; errors of the driver.
pub(super) fn allocate_pinned(device: &Device, bytes: usize) -> Result<*mut c_void> {
    let mut pointer = ptr::null_mut();
    if bytes == 0 {
        return Ok(pointer);
    }
    let _entered = device.enter()?;
    // SAFETY: the driver writes the pointer.
    unsafe { failure::made!(device.api, cuMemAllocHost_v2(&mut pointer, bytes))? };
    Ok(pointer)
}

/// Frees pinned host memory.
///
/// # Safety
/// `data` must come from [`allocate_pinned`], and must not be used afterwards.
pub(super) unsafe fn free_pinned(device: &Device, data: *mut c_void) {
    if data.is_null() {
        return;
    }
    let _entered = device.enter_to_release();
    // SAFETY: the caller's promise. Errors are ignored.
    unsafe { (device.api.cuMemFreeHost)(data) };
}

/// Source or destination of a copy.
enum Side {
    Main(*mut c_void),
    Device(&'static Device, Address),
}

fn side(region: &Region) -> Result<Side> {
    plain_ensure!(!region.data.is_null(), VALUE_ERROR, "A copy needs memory, not null");
    let start = region.data.wrapping_byte_add(region.offset);
    match region.device.device_type {
        kind::CUDA => {
            let device = platform::device(region.device.device_id)?;
            Ok(Side::Device(device, start.expose_provenance() as Address))
        }
        _ => Ok(Side::Main(start)),
    }
}

/// Queues a copy on a stream of the source's device, or of the destination's if the source is in
/// main memory.
///
/// # Errors
/// ValueError for null pointers; InternalError if neither region is on a device; errors of the
/// driver.
///
/// # Safety
/// Both regions must have `bytes` bytes, and stay valid until the copy is complete.
pub(super) unsafe fn copy(from: Region, to: Region, bytes: usize, stream: Handle) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let (from, to) = (side(&from)?, side(&to)?);
    let device = match (&from, &to) {
        (Side::Device(device, _), _) | (_, Side::Device(device, _)) => *device,
        _ => plain_bail!(INTERNAL_ERROR, "A copy of CUDA needs memory of its devices"),
    };
    let _entered = device.enter()?;
    device.pool.streams.note(stream);
    // SAFETY: the caller guarantees regions and stream.
    unsafe {
        match (&from, &to) {
            (Side::Main(from), Side::Device(_, to)) => {
                done!(device.api, cuMemcpyHtoDAsync_v2(*to, *from, bytes, stream))
            }
            (Side::Device(_, from), Side::Main(to)) => {
                done!(device.api, cuMemcpyDtoHAsync_v2(*to, *from, bytes, stream))
            }
            (Side::Device(source, from), Side::Device(target, to)) if ptr::eq(*source, *target) => {
                done!(device.api, cuMemcpyDtoDAsync_v2(*to, *from, bytes, stream))
            }
            (Side::Device(source, from), Side::Device(target, to)) => {
                let (source, target) = (source.context()?, target.context()?);
                done!(device.api, cuMemcpyPeerAsync(*to, target, *from, source, bytes, stream))
            }
            (Side::Main(_), Side::Main(_)) => Ok(()),
        }
    }
}
