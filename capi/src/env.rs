//! Symbols of the header section "Environment": streams, tensor allocation, signals, functions of
//! the host language.

use core::ffi::{c_char, c_int, c_void};

use ferrite_alloc_ext::env::stream::{self, DeviceKey};
use ferrite_alloc_ext::env::{context, tensor_alloc};
use ferrite_core::abi::{DLPackManagedTensorAllocator, DLTensor, TVMFFIObjectHandle};

use crate::boundary::{self, arg};

/// A stream handle of the device's runtime, such as `cudaStream_t`.
pub type TVMFFIStreamHandle = *mut c_void;

/// Sets the calling thread's current stream for a device.
///
/// The library neither uses nor owns the stream. If `opt_out_original_stream` is not null, the
/// previous stream is stored there, or null if none was set. Returns 0, or -1 with an error raised:
/// ValueError for a device type or id out of range, MemoryError, or RuntimeError if the thread is
/// terminating. On bare metal, all threads share one current stream per device.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvSetStream(
    device_type: i32,
    device_id: i32,
    stream: TVMFFIStreamHandle,
    opt_out_original_stream: *mut TVMFFIStreamHandle,
) -> c_int {
    let device = DeviceKey::new(device_type, device_id);
    if boundary::FAST_PATHS
        // SAFETY: the caller's promise.
        && let Some(original) = unsafe { stream::set_inline(device, stream) }
    {
        // SAFETY: contract of the crate.
        unsafe { boundary::write_optional(opt_out_original_stream, original) };
        return boundary::SUCCESS;
    }
    // SAFETY: the caller's promise. In tail position, so that this is a jump.
    unsafe { set_stream_slow(device, stream, opt_out_original_stream) }
}

/// Slow path of [`TVMFFIEnvSetStream`], for all devices that the thread's inline slot does not
/// cover.
///
/// # Safety
/// See the crate.
#[cold]
#[inline(never)]
unsafe extern "C" fn set_stream_slow(
    device: DeviceKey,
    stream: TVMFFIStreamHandle,
    opt_out_original_stream: *mut TVMFFIStreamHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: the caller's promise.
        let original = unsafe { stream::set(device, stream)? };
        // SAFETY: contract of the crate.
        unsafe { boundary::write_optional(opt_out_original_stream, original) };
        Ok(())
    })
}

/// Returns the calling thread's current stream for a device, or null if none is set.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIEnvGetStream(device_type: i32, device_id: i32) -> TVMFFIStreamHandle {
    stream::get(DeviceKey::new(device_type, device_id))
}

/// Sets the tensor allocator that `TVMFFIEnvTensorAlloc` uses on this thread; null unsets it.
///
/// If `write_to_global_context` is not 0, threads without their own allocator use it, too. If
/// `opt_out_original_allocator` is not null, the thread's previous allocator is stored there, or
/// null if none was set. Always returns 0. On bare metal, all threads share one allocator.
///
/// # Safety
/// `allocator` must meet the contract of `DLPackManagedTensorAllocator`, and must stay callable
/// while it is set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvSetDLPackManagedTensorAllocator(
    allocator: DLPackManagedTensorAllocator,
    write_to_global_context: c_int,
    opt_out_original_allocator: *mut DLPackManagedTensorAllocator,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of this function.
        let original = unsafe { tensor_alloc::set(allocator, write_to_global_context != 0) };
        // SAFETY: contract of the crate.
        unsafe { boundary::write_optional(opt_out_original_allocator, original) };
        Ok(())
    })
}

/// Returns the tensor allocator that `TVMFFIEnvTensorAlloc` uses on this thread: the thread's own,
/// or else the global one. Returns null if neither is set.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIEnvGetDLPackManagedTensorAllocator() -> DLPackManagedTensorAllocator {
    tensor_alloc::get()
}

/// Allocates a tensor with the data type, shape and device of a prototype. Uses the allocator set
/// by `TVMFFIEnvSetDLPackManagedTensorAllocator`; if none is set, the library allocates the memory
/// itself, on the devices that the build supports.
///
/// Only dtype, ndim, shape and device of `prototype` are read. Returns 0 and stores the tensor,
/// owned by the caller, in `out`. On failure, returns -1 with an error raised: RuntimeError if the
/// device has no allocator, or the error raised by the allocator.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvTensorAlloc(
    prototype: *mut DLTensor,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    boundary::status(|| {
        let prototype = boundary::non_null(prototype, arg(1, "prototype"))?;
        // SAFETY: contract of the crate.
        let out = unsafe { boundary::out(out, arg(2, "out"))? };
        // SAFETY: the prototype is valid, and the setter of the allocator guaranteed it.
        out.write_object(Some(unsafe { tensor_alloc::allocate(prototype.as_ptr())? }));
        Ok(())
    })
}

/// Checks whether the host language has a pending signal, such as an interrupt from the keyboard.
/// Long-running functions should call this regularly.
///
/// Returns 0 if no signal is pending or no host language is registered. Otherwise returns -1 with
/// an error raised, such as KeyboardInterrupt.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIEnvCheckSignals() -> c_int {
    boundary::status(context::check_signals)
}

/// Registers a function of the host language, such as `PyErr_CheckSignals`.
///
/// A null `symbol` removes it. Returns 0, or -1 with ValueError raised if the name is null or not
/// known to the library.
///
/// # Safety
/// `symbol` must be a function of the type implied by its name, callable while it is registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvRegisterCAPI(name: *const c_char, symbol: *mut c_void) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        // SAFETY: contract of this function.
        unsafe { context::register(name, symbol) }
    })
}
