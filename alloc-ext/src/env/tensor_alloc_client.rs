//! Tensor allocation through the environment's allocator, in the loaded `libtvm_ffi`.

use core::ptr;

use ferrite_core::abi::{DLPackManagedTensorAllocator, DLTensor, client};
use ferrite_core::call::function::check_status;
use ferrite_core::error::Result;
use ferrite_core::object::{ObjectClass, ObjectRef};
use ferrite_core::plain_error;
use ferrite_core::tensor::Tensor;

/// Sets the allocator of this thread and, with `write_to_global`, also the global allocator, for
/// threads without their own. `None` removes it.
///
/// Returns the previous allocator of this thread, not the previous global one.
///
/// # Safety
/// The allocator must fulfil the contract of its type, and stay callable while it is set.
///
/// # Upstream
/// `TVMFFIEnvSetDLPackManagedTensorAllocator`.
pub unsafe fn set(
    allocator: DLPackManagedTensorAllocator,
    write_to_global: bool,
) -> DLPackManagedTensorAllocator {
    let mut original = None;
    // SAFETY: the result is writable; the caller guarantees the allocator. The status is always 0.
    unsafe {
        client::TVMFFIEnvSetDLPackManagedTensorAllocator(
            allocator,
            write_to_global.into(),
            &mut original,
        )
    };
    original
}

/// Returns the allocator that [`allocate`] uses on this thread: its own, or else the global one.
///
/// # Upstream
/// `TVMFFIEnvGetDLPackManagedTensorAllocator`.
pub fn get() -> DLPackManagedTensorAllocator {
    // SAFETY: takes no arguments.
    unsafe { client::TVMFFIEnvGetDLPackManagedTensorAllocator() }
}

/// Creates a tensor with the dtype, ndim, shape and device of a prototype.
///
/// # Errors
/// ValueError for an invalid shape; RuntimeError if no allocator is set or it returns null; errors
/// raised by the allocator.
///
/// # Safety
/// The prototype must be valid during the call.
///
/// # Upstream
/// `TVMFFIEnvTensorAlloc`.
pub unsafe fn allocate(prototype: *mut DLTensor) -> Result<Tensor> {
    let mut tensor = ptr::null_mut();
    // SAFETY: the caller guarantees the prototype; the result is writable.
    check_status(unsafe { client::TVMFFIEnvTensorAlloc(prototype, &mut tensor) })?;
    let tensor = ptr::NonNull::new(tensor.cast())
        .ok_or_else(|| plain_error!(RUNTIME_ERROR, "TVMFFIEnvTensorAlloc returned no tensor"))?;
    // SAFETY: the function returns an owned reference to a tensor.
    Ok(unsafe { Tensor::from_object_unchecked(ObjectRef::from_raw(tensor)) })
}
