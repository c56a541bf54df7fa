//! Symbols of the header section "DLPack support": import and export of tensors.

use core::ffi::{c_int, c_void};

use ferrite_core::abi::{DLManagedTensor, DLManagedTensorVersioned, DLTensor, TVMFFIObjectHandle};
use ferrite_core::error::Result;
use ferrite_core::tensor::{self, DLPackForm, Tensor};

use crate::boundary::{self, arg};

/// Creates a tensor object from an unversioned managed tensor (before DLPack 1.0), and takes
/// ownership of it.
///
/// The data is not copied. The managed tensor's deleter runs when the tensor object is destroyed.
/// On failure, the caller still owns `from`. `require_alignment` is the required alignment of the
/// first element in bytes, a power of two or 0 for any; `require_contiguous` other than 0 requires
/// compact row-major order.
///
/// Returns 0 and stores the tensor, owned by the caller, in `out`. On failure, returns -1 with an
/// error raised: RuntimeError for a tensor that is not aligned or not contiguous, ValueError for an
/// invalid one, or MemoryError.
///
/// # Safety
/// `from` must describe valid memory until its deleter runs, which may happen on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITensorFromDLPack(
    from: *mut DLManagedTensor,
    require_alignment: i32,
    require_contiguous: i32,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        import(from.cast(), require_alignment, require_contiguous, out, DLPackForm::Legacy)
    })
}

/// Exports a tensor object as an unversioned managed tensor (before DLPack 1.0). The data is not
/// copied.
///
/// The managed tensor keeps the tensor object alive until its deleter is called. Returns 0 and
/// stores the managed tensor, owned by the caller, in `out`. On failure, returns -1 with TypeError,
/// ValueError or MemoryError raised.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITensorToDLPack(
    from: TVMFFIObjectHandle,
    out: *mut *mut DLManagedTensor,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe { export(from, out.cast(), DLPackForm::Legacy) })
}

/// Creates a tensor object from a versioned managed tensor (DLPack 1.0 or later), and takes
/// ownership of it.
///
/// Arguments, ownership and errors are the same as for `TVMFFITensorFromDLPack`. A different major
/// version of DLPack is an error, too.
///
/// # Safety
/// `from` must describe valid memory until its deleter runs, which may happen on any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITensorFromDLPackVersioned(
    from: *mut DLManagedTensorVersioned,
    require_alignment: i32,
    require_contiguous: i32,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe {
        import(from.cast(), require_alignment, require_contiguous, out, DLPackForm::Versioned)
    })
}

/// Exports a tensor object as a versioned managed tensor (DLPack 1.0 or later). The data is not
/// copied.
///
/// Ownership and errors are the same as for `TVMFFITensorToDLPack`.
///
/// # Safety
/// See the crate.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITensorToDLPackVersioned(
    from: TVMFFIObjectHandle,
    out: *mut *mut DLManagedTensorVersioned,
) -> c_int {
    // SAFETY: the caller's promise.
    boundary::status(|| unsafe { export(from, out.cast(), DLPackForm::Versioned) })
}

/// Creates a view: a tensor that shares the memory of another one, with the data pointer, shape,
/// strides, data type and byte offset of a prototype.
///
/// Shape and strides are copied. The new tensor keeps `source` alive. Returns 0 and stores the
/// tensor, owned by the caller, in `out`. On failure, returns -1 with TypeError, ValueError or
/// MemoryError raised.
///
/// # Safety
/// The data of `prototype` must lie in memory that `source` keeps alive; this is not checked.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn TVMFFITensorCreateUnsafeView(
    source: TVMFFIObjectHandle,
    prototype: *const DLTensor,
    out: *mut TVMFFIObjectHandle,
) -> c_int {
    boundary::status(|| {
        // SAFETY: contract of the crate; the caller guarantees the prototype.
        unsafe {
            let source = boundary::object_of::<Tensor>(source, arg(1, "source"))?;
            let prototype = boundary::reference(prototype, arg(2, "prototype"))?;
            let out = boundary::out(out, arg(3, "out"))?;
            out.write_object(Some(Tensor::create_unsafe_view(&source, prototype)?));
        }
        Ok(())
    })
}

/// Imports a managed tensor, versioned or unversioned.
///
/// # Safety
/// Same requirements as the C symbols. `from` must be a managed tensor of the given kind.
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
unsafe fn import(
    from: *mut c_void,
    require_alignment: i32,
    require_contiguous: i32,
    out: *mut TVMFFIObjectHandle,
    form: DLPackForm,
) -> Result<()> {
    let from = boundary::non_null(from, arg(1, "from"))?;
    // SAFETY: contract of the crate.
    let out = unsafe { boundary::out(out, arg(4, "out"))? };
    // SAFETY: the caller transfers a valid managed tensor.
    let tensor =
        unsafe { tensor::import(from.as_ptr(), require_alignment, require_contiguous != 0, form)? };
    out.write_object(Some(tensor));
    Ok(())
}

/// Exports a tensor as a managed tensor, versioned or unversioned.
///
/// # Safety
/// Same requirements as the C symbols. `out` must be valid for a managed tensor of the given kind.
#[cfg_attr(feature = "speed", inline(always))]
#[cfg_attr(not(feature = "speed"), inline(never))]
unsafe fn export(from: TVMFFIObjectHandle, out: *mut *mut c_void, form: DLPackForm) -> Result<()> {
    // SAFETY: contract of the crate.
    let (from, out) = unsafe {
        (boundary::object_of::<Tensor>(from, arg(1, "from"))?, boundary::out(out, arg(2, "out"))?)
    };
    out.write(tensor::export(&from, form)?.as_ptr());
    Ok(())
}
