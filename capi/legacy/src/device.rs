//! Streams and device memory of the legacy API. The CPU has a single stream, null, which is
//! synchronous.

use core::alloc::Layout;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::NonNull;

use ferrite_alloc_ext::env::stream;
use ferrite_core::abi::{DLDataType, DLDevice, DLTensor};
use ferrite_core::error::{self, Result};
use ferrite_core::platform::memory;
use ferrite_core::{plain_bail, plain_ensure};

use super::back_end::{backend_of, synchronize};
use ferrite_boundary::{self as boundary, arg};
use ferrite_core::abi::packed::TVMStreamHandle;

/// Waits until all work queued on a stream is complete. Null is the default stream. Returns 0, or
/// -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMSynchronize(
    device_type: c_int,
    device_id: c_int,
    stream: TVMStreamHandle,
) -> c_int {
    // SAFETY: contract of the crate.
    boundary::status(|| unsafe { synchronize(DLDevice { device_type, device_id }, stream) })
}

/// Sets the calling thread's current stream for a device. Returns 0, or -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMSetStream(
    device_type: c_int,
    device_id: c_int,
    handle: TVMStreamHandle,
) -> c_int {
    boundary::status(|| match backend_of(device_type)? {
        // SAFETY: contract of the crate.
        Some(backend) => unsafe {
            stream::set(stream::DeviceKey::new(device_type, device_id), handle)?;
            backend.set_stream(device_id, handle)
        },
        None => Ok(()),
    })
}

/// Creates a stream.
///
/// Returns 0 and stores the stream in `out`, or null for devices with a single stream. On failure,
/// returns -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMStreamCreate(
    device_type: c_int,
    device_id: c_int,
    out: *mut TVMStreamHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let out = unsafe { boundary::out(out, arg(3, "out"))? };
        out.write(match backend_of(device_type)? {
            Some(backend) => backend.create_stream(device_id)?,
            None => core::ptr::null_mut(),
        });
        Ok(())
    })
}

/// Frees a stream. Returns 0, or -1 with an error raised.
///
/// # Safety
/// The stream must not be used afterwards. See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMStreamFree(
    device_type: c_int,
    device_id: c_int,
    stream: TVMStreamHandle,
) -> c_int {
    boundary::status(|| match backend_of(device_type)? {
        // SAFETY: contract of this function.
        Some(backend) => unsafe { backend.free_stream(device_id, stream) },
        None => Ok(()),
    })
}

/// Makes work queued later on `dst` wait for the work already queued on `src`. Returns 0, or -1
/// with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMStreamStreamSynchronize(
    device_type: c_int,
    device_id: c_int,
    src: TVMStreamHandle,
    dst: TVMStreamHandle,
) -> c_int {
    boundary::status(|| match backend_of(device_type)? {
        // SAFETY: contract of the crate.
        Some(backend) => unsafe { backend.order_streams(device_id, src, dst) },
        None => Ok(()),
    })
}

/// Allocates device memory. `type_hint` is ignored.
///
/// Returns 0 and stores the memory, owned by the caller, in `out_data`. For zero bytes, the pointer
/// may be null on some devices. On failure, returns -1 with an error raised: ValueError for an
/// invalid alignment, MemoryError, or an error of the device.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMDeviceAllocDataSpace(
    dev: DLDevice,
    nbytes: usize,
    alignment: usize,
    type_hint: DLDataType,
    out_data: *mut *mut c_void,
) -> c_int {
    let _ = type_hint;
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let out = unsafe { boundary::out(out_data, arg(5, "out_data"))? };
        out.write(allocate(dev, nbytes, alignment)?);
        Ok(())
    })
}

/// Allocates device memory for a tensor, in a memory scope. The only scope is `global`, which null
/// also selects.
///
/// Returns 0 and stores the memory, owned by the caller, in `out_data`. On failure, returns -1 with
/// an error raised: ValueError for an invalid shape, RuntimeError for another scope, MemoryError,
/// or an error of the device.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMDeviceAllocDataSpaceWithScope(
    dev: DLDevice,
    ndim: c_int,
    shape: *const i64,
    dtype: DLDataType,
    mem_scope: *const c_char,
    out_data: *mut *mut c_void,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let (shape, scope, out) = unsafe {
            (
                boundary::slice(shape, ndim, arg(3, "shape"))?,
                boundary::c_str_or_empty(mem_scope),
                boundary::out(out_data, arg(6, "out_data"))?,
            )
        };
        plain_ensure!(
            matches!(scope, b"" | b"global"),
            RUNTIME_ERROR,
            "There is no memory of scope {}",
            scope
        );
        out.write(allocate(dev, bytes_of(shape, dtype)?, DATA_ALIGNMENT)?);
        Ok(())
    })
}

/// Frees device memory. Null is ignored. Returns 0, or -1 with an error raised.
///
/// # Safety
/// The memory must not be used afterwards. See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMDeviceFreeDataSpace(dev: DLDevice, ptr: *mut c_void) -> c_int {
    boundary::status(|| {
        let Some(block) = NonNull::new(ptr) else { return Ok(()) };
        match backend_of(dev.device_type)? {
            // SAFETY: contract of this function.
            Some(backend) => unsafe { backend.free(dev.device_id, block.as_ptr()) },
            // SAFETY: as above; on hosts, `free` takes blocks of any layout.
            None => unsafe { memory::release(block.cast(), Layout::new::<u8>()) },
        }
        Ok(())
    })
}

/// Alignment in bytes of memory that is allocated for a tensor.
const DATA_ALIGNMENT: usize = 64;

fn allocate(device: DLDevice, bytes: usize, alignment: usize) -> Result<*mut c_void> {
    if let Some(backend) = backend_of(device.device_type)? {
        return backend.allocate(device.device_id, bytes, alignment);
    }
    let Ok(layout) = Layout::from_size_align(bytes.max(1), alignment.max(1)) else {
        plain_bail!(VALUE_ERROR, "There is no memory of {} bytes aligned to {}", bytes, alignment);
    };
    match memory::allocate(layout) {
        Some(block) => Ok(block.as_ptr().cast()),
        None => Err(error::out_of_memory(bytes)),
    }
}

/// Computes the size of a compact tensor in bytes.
///
/// # Errors
/// ValueError for a negative extent or a size that overflows.
fn bytes_of(shape: &[i64], dtype: DLDataType) -> Result<usize> {
    let element = (usize::from(dtype.bits) * usize::from(dtype.lanes)).div_ceil(8);
    let mut extents = shape.iter().map(|extent| usize::try_from(*extent).ok());
    match extents.try_fold(element, |bytes, extent| bytes.checked_mul(extent?)) {
        Some(bytes) => Ok(bytes),
        None => plain_bail!(
            VALUE_ERROR,
            "The shape has a negative extent, or more elements than memory"
        ),
    }
}

/// Copies one tensor to another of the same size in bytes. The tensors may be views. The copy is
/// queued on `stream`; null is the default stream. Returns 0, or -1 with an error raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMDeviceCopyDataFromTo(
    from: *mut DLTensor,
    to: *mut DLTensor,
    stream: TVMStreamHandle,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { super::array::TVMArrayCopyFromTo(from, to, stream) }
}
