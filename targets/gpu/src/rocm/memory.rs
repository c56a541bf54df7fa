//! ROCm device memory, pinned host memory, and copies.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::Region;
use ferrite_core::error::Result;
use ferrite_core::value::device::kind;
use ferrite_core::{plain_bail, plain_ensure, plain_error};

use super::api::{self, Handle};
use super::platform::{OnDevice, current_stream, on, on_to_release, platform};
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
pub(super) fn allocate(id: i32, bytes: usize, alignment: usize) -> Result<*mut c_void> {
    let device = on(id)?;
    check_alignment(alignment)?;
    if bytes == 0 {
        return Ok(ptr::null_mut());
    }
    // SAFETY: the code that set the stream guarantees it.
    let allocated = unsafe { device.pool().allocate(&device, bytes, current_stream(id))? };
    to_pointer(&device, bytes, allocated)
}

/// Converts the outcome of an allocation.
///
/// # Errors
/// MemoryError if the device is out of memory; errors of the driver.
fn to_pointer(device: &OnDevice, bytes: usize, allocated: Allocation) -> Result<*mut c_void> {
    allocated.result.map_err(|status| match status {
        api::OUT_OF_MEMORY => plain_error!(
            MEMORY_ERROR,
            "The ROCm device {} has no {} bytes: {}",
            device.id,
            bytes,
            device.api().text(status)
        ),
        _ => device.api().error(allocated.call, status),
    })
}

fn check_alignment(alignment: usize) -> Result<()> {
    plain_ensure!(
        alignment <= ALIGNMENT,
        VALUE_ERROR,
        "ROCm memory is aligned to {} bytes, not {}",
        ALIGNMENT,
        alignment
    );
    Ok(())
}

/// Frees memory from [`allocate`]. Commands that are queued may still use it.
///
/// # Safety
/// `memory` must be null or come from `allocate` for this device, and must not be used afterwards.
pub(super) unsafe fn free(id: i32, memory: *mut c_void) {
    if memory.is_null() {
        return;
    }
    if let Some(device) = on_to_release(id) {
        // SAFETY: the caller's promise; the code that set the stream guarantees it.
        unsafe { device.pool().free(&device, memory, current_stream(id)) };
    }
}

/// Gives unused memory of the pool back to the driver.
///
/// # Errors
/// Errors of the driver.
pub(super) fn trim(id: i32) -> Result<()> {
    let device = on(id)?;
    // SAFETY: the code that set the stream guarantees it.
    unsafe { device.pool().trim(&device, current_stream(id)) };
    Ok(())
}

/// Allocates pinned host memory, which devices copy from and to directly.
///
/// # Errors
/// Same errors as [`allocate`].
pub(super) fn allocate_pinned(id: i32, bytes: usize, alignment: usize) -> Result<*mut c_void> {
    let device = on(id)?;
    check_alignment(alignment)?;
    if bytes == 0 {
        return Ok(ptr::null_mut());
    }
    let mut memory = ptr::null_mut();
    // SAFETY: the driver writes the address; no flags are passed.
    let status = unsafe { (device.api().hipHostMalloc)(&mut memory, bytes, 0) };
    device.api().check("hipHostMalloc", status)?;
    Ok(memory)
}

/// Frees memory from [`allocate_pinned`]; the driver waits for commands that use it.
///
/// # Safety
/// `memory` must be null or come from `allocate_pinned`, and must not be used afterwards.
pub(super) unsafe fn free_pinned(memory: *mut c_void) {
    if let (Ok(platform), false) = (platform(), memory.is_null()) {
        // SAFETY: the caller's promise. Errors are ignored.
        unsafe { (platform.api.hipHostFree)(memory) };
    }
}

/// Queues a copy on a stream: within a device, between two devices, or between a device and main
/// memory.
///
/// # Errors
/// ValueError for a null pointer; InternalError if neither region is on a device; errors of the
/// driver.
///
/// # Safety
/// Both regions must have `bytes` bytes until the copy is complete; `stream` must belong to the
/// device, or to the source's device if both regions are on devices.
pub(super) unsafe fn copy(from: Region, to: Region, bytes: usize, stream: Handle) -> Result<()> {
    let is_device = |region: &Region| region.device.device_type == kind::ROCM;
    let (direction, id) = match (is_device(&from), is_device(&to)) {
        (true, true) => (api::ON_DEVICE, from.device.device_id),
        (true, false) => (api::TO_HOST, from.device.device_id),
        (false, true) => (api::TO_DEVICE, to.device.device_id),
        (false, false) => plain_bail!(INTERNAL_ERROR, "A copy of ROCm needs memory of its devices"),
    };
    let device = on(id)?;
    if bytes == 0 {
        return Ok(());
    }
    if from.data.is_null() || to.data.is_null() {
        return Err(plain_error!(VALUE_ERROR, "A copy needs memory, not null"));
    }
    device.pool().streams.note(stream);
    let api = device.api();
    let (source, target) =
        (from.data.wrapping_byte_add(from.offset), to.data.wrapping_byte_add(to.offset));
    if direction == api::ON_DEVICE && to.device.device_id != id {
        let other = to.device.device_id;
        device.platform.device(other)?;
        // SAFETY: the caller guarantees regions and stream.
        let status = unsafe { (api.hipMemcpyPeerAsync)(target, other, source, id, bytes, stream) };
        return api.check_done("hipMemcpyPeerAsync", status);
    }
    // SAFETY: as above.
    let status = unsafe { (api.hipMemcpyAsync)(target, source, bytes, direction, stream) };
    api.check_done("hipMemcpyAsync", status)
}

/// Allocator of device memory.
pub(super) struct Memory {
    pub(super) id: i32,
}

impl DeviceMemory for Memory {
    const NAME: &'static str = "ROCm";

    /// Allocates memory that is not part of the pool: workspaces have a pool of their own, and
    /// recorded commands keep using them.
    fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>> {
        let device = on(self.id)?;
        // SAFETY: the code that set the stream guarantees it.
        let allocated =
            unsafe { device.pool().allocate_unpooled(&device, bytes, current_stream(self.id)) };
        not_null(to_pointer(&device, bytes, allocated)?)
    }

    unsafe fn free(&self, memory: NonNull<c_void>) {
        if let Some(device) = on_to_release(self.id) {
            // SAFETY: the caller's promise.
            unsafe { device.free_unpooled(memory.as_ptr()) };
        }
    }
}

/// Allocator of pinned host memory.
pub(super) struct Pinned {
    pub(super) id: i32,
}

impl DeviceMemory for Pinned {
    const NAME: &'static str = "ROCm host";

    fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>> {
        not_null(allocate_pinned(self.id, bytes, 1)?)
    }

    unsafe fn free(&self, memory: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        unsafe { free_pinned(memory.as_ptr()) };
    }
}

fn not_null(memory: *mut c_void) -> Result<NonNull<c_void>> {
    NonNull::new(memory)
        .ok_or_else(|| plain_error!(INTERNAL_ERROR, "The ROCm device gave null for memory"))
}
