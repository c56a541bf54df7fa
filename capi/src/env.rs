//! Section "Environment": streams, tensor allocation, signals, symbols of the surrounding language.

use core::ffi::{c_char, c_int, c_void};

use ferrite_alloc_ext::env::stream::{self, DeviceKey};
use ferrite_alloc_ext::env::{context, tensor_alloc};
use ferrite_core::abi::{DLPackManagedTensorAllocator, DLTensor, TVMFFIObjectHandle};

use crate::boundary::{self, arg};

/// A stream of a device, as its runtime defines it.
pub type TVMFFIStreamHandle = *mut c_void;

/// Sets the stream that this thread works on, for one device.
///
/// The stream is neither used nor owned. When `opt_out_original_stream` is not null, it gets the stream that was set
/// before, or null. Returns 0; or -1 with an error raised: ValueError (negative numbers, or absurdly large ones), MemoryError,
/// or RuntimeError when the thread is ending. On boards all threads share one stream for each device.
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
    if boundary::SHORT_CUTS
        && let Some(original) = stream::set_inline(device, stream)
    {
        // SAFETY: contract of the crate.
        unsafe { boundary::write_optional(opt_out_original_stream, original) };
        return boundary::SUCCESS;
    }
    // SAFETY: as the caller vouches. In tail position, so that this is a jump.
    unsafe { set_stream_carefully(device, stream, opt_out_original_stream) }
}

/// As [`TVMFFIEnvSetStream`], for any device.
///
/// # Safety
/// See the crate.
#[cfg_attr(feature = "speed", cold, inline(never))]
#[cfg_attr(not(feature = "speed"), inline(always))]
unsafe extern "C" fn set_stream_carefully(
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

/// Returns the stream that this thread works on, for one device; null when none is set.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIEnvGetStream(device_type: i32, device_id: i32) -> TVMFFIStreamHandle {
    stream::get(DeviceKey::new(device_type, device_id))
}

/// Sets the function that `TVMFFIEnvTensorAlloc` allocates with on this thread; null unsets it.
///
/// With `write_to_global_context` other than 0, threads that have set none use it too. When `opt_out_original_allocator` is not
/// null, it gets the function that this thread had set before, or null. Always returns 0. On boards all threads share one.
///
/// # Safety
/// `allocator` keeps the contract of its type, and stays callable while it is set.
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

/// Returns the function that `TVMFFIEnvTensorAlloc` allocates with on this thread: its own, otherwise the global one,
/// otherwise null.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIEnvGetDLPackManagedTensorAllocator() -> DLPackManagedTensorAllocator {
    tensor_alloc::get()
}

/// Makes a tensor like a prototype, with the function that `TVMFFIEnvSetDLPackManagedTensorAllocator` set. Without one, the
/// library allocates on the devices that the build serves.
///
/// Only dtype, ndim, shape and device of `prototype` count. Returns 0 and the tensor, which the caller owns, in `out`; or -1
/// with an error raised: RuntimeError when nobody allocates on the device, or what the allocator reports.
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
        // SAFETY: the prototype is valid, and whoever set the function vouched for it.
        out.write_object(Some(unsafe { tensor_alloc::allocate(prototype.as_ptr())? }));
        Ok(())
    })
}

/// Checks whether the surrounding language has a signal to handle. Long-running functions should call this now and
/// then.
///
/// Returns 0 when there is no signal or no such language; or -1 with an error raised, such as KeyboardInterrupt.
#[unsafe(no_mangle)]
pub extern "C" fn TVMFFIEnvCheckSignals() -> c_int {
    boundary::status(context::check_signals)
}

/// Registers a function of the surrounding language, such as `PyErr_CheckSignals`.
///
/// A null `symbol` removes it. Returns 0; or -1 with ValueError raised when the name is null or not one that the
/// library knows.
///
/// # Safety
/// `symbol` is a function of the type that its name implies, callable while it is registered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFIEnvRegisterCAPI(name: *const c_char, symbol: *mut c_void) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate.
        let name = unsafe { boundary::c_str(name, arg(1, "name"))? };
        // SAFETY: contract of this function.
        unsafe { context::register(name, symbol) }
    })
}
