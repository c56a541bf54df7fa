//! OpenCL buffers and copies.

use core::ffi::c_void;
use core::ptr::{self, NonNull};

use ferrite_alloc_ext::device::Region;
use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::value::device::kind;
use ferrite_core::{plain_bail, plain_ensure};

use super::api::{self, Handle, Status};
use super::device::Device;
use super::{failure, platform};
use crate::owned::Owned;
use crate::workspace::DeviceMemory;

/// Memory descriptor, to which the `data` pointer of a tensor points. Its first field is the
/// `cl_mem`, as TVM's kernels expect.
#[repr(C)]
pub(super) struct Descriptor {
    memory: Handle,
    /// Size of the buffer in bytes.
    bytes: usize,
}

/// Allocates memory and its descriptor, or reuses memory that was freed. A size of zero is rounded
/// up to one byte. If the device is out of memory, releases unused memory and tries again.
///
/// # Errors
/// MemoryError if the device is out of memory; errors of the driver.
pub(super) fn allocate(device: &Device, bytes: usize) -> Result<NonNull<c_void>> {
    let bytes = bytes.max(1);
    if let Some(reused) = device.unused.take(bytes as u64) {
        return Ok(reused);
    }
    // Some drivers create buffers of any size, and fail when they are used.
    if bytes as u64 > device.memory {
        plain_bail!(
            MEMORY_ERROR,
            "The OpenCL device has no {} bytes: its memory has {}",
            bytes,
            &device.memory
        );
    }
    let (mut memory, mut status) = create_buffer(device, bytes);
    if is_out_of_memory(status) && trim(device)? {
        (memory, status) = create_buffer(device, bytes);
    }
    if is_out_of_memory(status) {
        plain_bail!(
            MEMORY_ERROR,
            "The OpenCL device has no {} bytes: {}",
            bytes,
            failure::name(status)
        );
    }
    failure::check(status)?;
    match Owned::new(Descriptor { memory, bytes }) {
        Ok(descriptor) => Ok(descriptor.into_raw().cast()),
        Err(error) => {
            // SAFETY: the buffer is owned.
            unsafe { (device.api.clReleaseMemObject)(memory) };
            Err(error)
        }
    }
}

/// Calls the driver to create a buffer. The buffer is null if that fails.
fn create_buffer(device: &Device, bytes: usize) -> (Handle, Status) {
    let (flags, no_memory, mut status) = (api::MEM_READ_WRITE, ptr::null_mut(), api::SUCCESS);
    // SAFETY: no main memory is passed.
    let buffer = unsafe {
        (device.api.clCreateBuffer)(device.context, flags, bytes, no_memory, &mut status)
    };
    (buffer, status)
}

fn is_out_of_memory(status: Status) -> bool {
    matches!(
        status,
        api::MEM_OBJECT_ALLOCATION_FAILURE
            | api::OUT_OF_RESOURCES
            | api::OUT_OF_HOST_MEMORY
            | api::INVALID_BUFFER_SIZE
    )
}

/// Frees memory from [`allocate`], which is kept for reuse. Queued commands may still use it.
///
/// # Safety
/// `data` must come from `allocate` for this device, and must not be used afterwards.
pub(super) unsafe fn free(device: &Device, data: NonNull<c_void>) {
    // SAFETY: the caller guarantees the descriptor.
    let bytes = unsafe { data.cast::<Descriptor>().as_ref() }.bytes;
    // SAFETY: the caller's promise, for this memory and for that in the list.
    device.unused.put(data, bytes as u64, |data| unsafe { release(device, data) });
}

/// Releases memory that is kept for reuse, and waits for the commands that use it. Returns `false`
/// if there is none.
///
/// # Errors
/// Errors of the driver.
pub(super) fn trim(device: &Device) -> Result<bool> {
    // SAFETY: the list owns its memory.
    let is_trimmed = device.unused.clear(|data| unsafe { release(device, data) });
    if is_trimmed {
        device.finish()?;
    }
    Ok(is_trimmed)
}

/// Releases a buffer and its descriptor. Queued commands retain the buffer.
///
/// # Safety
/// `data` must come from [`allocate`] for this device, and must not be used afterwards.
unsafe fn release(device: &Device, data: NonNull<c_void>) {
    // SAFETY: the caller's promise. Errors are ignored.
    unsafe {
        let descriptor = Owned::<Descriptor>::from_raw(data.cast());
        (device.api.clReleaseMemObject)(descriptor.memory);
    }
}

impl DeviceMemory for Device {
    const NAME: &'static str = "OpenCL";

    fn allocate(&self, bytes: usize) -> Result<NonNull<c_void>> {
        allocate(self, bytes)
    }

    unsafe fn free(&self, memory: NonNull<c_void>) {
        // SAFETY: the caller's promise.
        unsafe { free(self, memory) };
    }
}

/// Returns the device and the buffer of a region; `None` if the region is in main memory.
///
/// # Safety
/// The `data` of a region on a device must be a descriptor.
unsafe fn buffer(region: &Region) -> Result<Option<(&'static Device, Handle)>> {
    if region.device.device_type != kind::OPENCL {
        return Ok(None);
    }
    plain_ensure!(
        !region.data.is_null(),
        VALUE_ERROR,
        "A copy needs memory of the device, not null"
    );
    let device = platform::device(region.device.device_id)?;
    // SAFETY: the caller guarantees the descriptor.
    Ok(Some((device, unsafe { (*region.data.cast::<Descriptor>()).memory })))
}

/// Copies bytes. Copies from and to main memory are complete on return; others are queued.
///
/// # Errors
/// Errors of the driver; InternalError if neither region is on a device; MemoryError for a copy
/// between two devices, which goes through main memory.
///
/// # Safety
/// Both regions must have `bytes` bytes.
pub(super) unsafe fn copy(from: Region, to: Region, bytes: usize) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the caller guarantees the regions.
    unsafe {
        match (buffer(&from)?, buffer(&to)?) {
            (None, None) => {
                plain_bail!(INTERNAL_ERROR, "A copy of OpenCL needs memory of its devices")
            }
            (Some(source), None) => read(source, from.offset, to.data.byte_add(to.offset), bytes),
            (None, Some(target)) => {
                write(from.data.byte_add(from.offset), target, to.offset, bytes)
            }
            (Some((device, source)), Some((other, target))) if ptr::eq(device, other) => {
                let status = (device.api.clEnqueueCopyBuffer)(
                    device.queue,
                    source,
                    target,
                    from.offset,
                    to.offset,
                    bytes,
                    0,
                    ptr::null(),
                    ptr::null_mut(),
                );
                failure::check(status)
            }
            (Some(source), Some(target)) => {
                let mut staging = Buffer::new();
                staging.try_resize(bytes, 0u8)?;
                let buffer = staging.as_mut_slice().as_mut_ptr().cast::<c_void>();
                read(source, from.offset, buffer, bytes)?;
                write(buffer, target, to.offset, bytes)
            }
        }
    }
}

/// Copies from a buffer to main memory, and waits for the copy.
///
/// # Safety
/// Both sides must have `bytes` bytes.
unsafe fn read(
    (device, memory): (&Device, Handle),
    at: usize,
    to: *mut c_void,
    bytes: usize,
) -> Result<()> {
    // SAFETY: the caller guarantees the memory; the call returns after it is written.
    failure::check(unsafe {
        let (queue, none) = (device.queue, ptr::null());
        (device.api.clEnqueueReadBuffer)(
            queue,
            memory,
            api::TRUE,
            at,
            bytes,
            to,
            0,
            none,
            ptr::null_mut(),
        )
    })
}

/// Copies from main memory to a buffer, and waits for the copy.
///
/// # Safety
/// Both sides must have `bytes` bytes.
unsafe fn write(
    from: *mut c_void,
    (device, memory): (&Device, Handle),
    at: usize,
    bytes: usize,
) -> Result<()> {
    // SAFETY: the caller guarantees the memory; the call returns after it is read.
    failure::check(unsafe {
        let (queue, none) = (device.queue, ptr::null());
        (device.api.clEnqueueWriteBuffer)(
            queue,
            memory,
            api::TRUE,
            at,
            bytes,
            from,
            0,
            none,
            ptr::null_mut(),
        )
    })
}
