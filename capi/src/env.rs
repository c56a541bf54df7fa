//! Section "Environment": streams, tensor allocation, signals, functions of the host language.

use core::ffi::{c_char, c_int, c_void};

use ferrite_alloc_ext::env::stream::{self, DeviceKey};
use ferrite_alloc_ext::env::{context, tensor_alloc};
use ferrite_core::abi::{DLPackManagedTensorAllocator, DLTensor, TVMFFIObjectHandle};

use crate::boundary::{self, arg};

/// A stream of a device, as its runtime defines it.
pub type TVMFFIStreamHandle = *mut c_void;

/// Sets this thread's current stream of a device.
///
/// The stream is neither used nor owned. When `opt_out_original_stream` is not null, the previous stream, or null, is
/// stored there. Returns 0; or -1 with an error raised: ValueError (negative or impossibly large numbers), MemoryError,
/// or RuntimeError when the thread is ending. On bare metal all threads share one stream per device.
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
        && let Some(original) = stream::set_inline(device, stream)
    {
        // SAFETY: contract of the crate.
        unsafe { boundary::write_optional(opt_out_original_stream, original) };
        return boundary::SUCCESS;
    }
    // SAFETY: the caller's promise. In tail position, so that this is a jump.
    unsafe { set_stream_slow(device, stream, opt_out_original_stream) }
}

/// The slow path of [`TVMFFIEnvSetStream`], for any device.
///
/// # Safety
/// See the crate.
#[cfg_attr(feature = "speed", cold, inline(never))]
#[cfg_attr(not(feature = "speed"), inline(always))]
unsafe extern "C" fn set_stream_slow(
    device: DeviceKey,
    stream: TVMFFIStreamHandle,
    opt_out_original_stream: *mut TVMFFIStreamHandle,
) -> c_int {
    boundary::status(|| {
        let original = stream::set(device, stream)?;
        // SAFETY: contract of the crate.
        unsafe { boundary::write_optional(opt_out_original_stream, original) };
        Ok(())
    })
}

/// Returns this thread's current stream of a device; null if none is set.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIEnvGetStream(device_type: i32, device_id: i32) -> TVMFFIStreamHandle {
    stream::get(DeviceKey::new(device_type, device_id))
}

/// Sets the tensor allocator that `TVMFFIEnvTensorAlloc` uses on this thread; null unsets it.
///
/// With `write_to_global_context` other than 0, threads without an allocator of their own use it, too. When
/// `opt_out_original_allocator` is not null, the thread's previous allocator, or null, is stored there. Always returns
/// 0. On bare metal all threads share one.
///
/// # Safety
/// `allocator` obeys the contract of its type, and stays callable while it is set.
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

/// Returns the tensor allocator that `TVMFFIEnvTensorAlloc` uses on this thread: its own, otherwise the global one,
/// otherwise null.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIEnvGetDLPackManagedTensorAllocator() -> DLPackManagedTensorAllocator {
    tensor_alloc::get()
}

/// Allocates a tensor like a prototype, with the allocator of `TVMFFIEnvSetDLPackManagedTensorAllocator`. Without one,
/// the library allocates on the devices that the build supports.
///
/// Only dtype, ndim, shape and device of `prototype` are read. Returns 0 and the tensor, which the caller owns, in
/// `out`; or -1 with an error raised: RuntimeError when the device has no allocator, or the error of the allocator.
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
        // SAFETY: the prototype is valid, and the setter of the allocator vouched for it.
        out.write_object(Some(unsafe { tensor_alloc::allocate(prototype.as_ptr())? }));
        Ok(())
    })
}

/// Checks whether the host language has a signal to handle. Long-running functions should call this regularly.
///
/// Returns 0 when there is no signal or no host language; or -1 with an error raised, such as KeyboardInterrupt.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIEnvCheckSignals() -> c_int {
    boundary::status(context::check_signals)
}

/// Registers a function of the host language, such as `PyErr_CheckSignals`.
///
/// A null `symbol` removes it. Returns 0; or -1 with ValueError raised when the name is null or unknown to the library.
///
/// # Safety
/// `symbol` is a function of the type implied by its name, callable while it is registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvRegisterCAPI(name: *const c_char, symbol: *mut c_void) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        // SAFETY: contract of this function.
        unsafe { context::register(name, symbol) }
    })
}
