//! DLPack import: tensors, from managed tensors of both forms, over data of other libraries.

use core::ffi::c_void;
use core::slice;

use super::borrowing::{self, Owner};
use super::{Tensor, TensorRef};
use crate::abi::{
    DLManagedTensor, DLManagedTensorVersioned, DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED,
    DLPACK_MAJOR_VERSION, DLPackVersion, DLTensor,
};
use crate::error::{Error, Result};
use crate::value::shape::{has_possible_size, is_small};
use crate::{plain_ensure, plain_error};

/// The two representations of managed tensors in DLPack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DLPackForm {
    /// [`DLManagedTensor`], without a version, as before DLPack 1.0.
    Legacy,
    /// [`DLManagedTensorVersioned`], as since DLPack 1.0.
    Versioned,
}

impl Tensor {
    /// Creates a tensor over a managed tensor in legacy representation and takes ownership of the
    /// latter. Its deleter runs when the last reference is dropped.
    ///
    /// `require_alignment` is the required alignment of the first element in bytes: a power of two,
    /// or 0 for any. Missing strides become those of a compact tensor. On failure the caller still
    /// owns the managed tensor.
    ///
    /// # Errors
    /// RuntimeError if the data is not aligned or contiguous as required. ValueError if `managed`
    /// is null, its shape is invalid (negative number of dimensions, missing extents, negative
    /// extents, more elements than memory can hold) or the required alignment is not a power of
    /// two. MemoryError.
    ///
    /// # Safety
    /// `managed` must be null or a managed tensor owned by the caller, valid until its deleter is
    /// called, which may happen on any thread. Its elements must be as [`TensorRef::from_raw`]
    /// requires.
    ///
    /// # Upstream
    /// `TVMFFITensorFromDLPack`, which checks neither shapes nor alignments.
    pub unsafe fn from_dlpack(
        managed: *mut DLManagedTensor,
        require_alignment: i32,
        require_contiguous: bool,
    ) -> Result<Tensor> {
        // SAFETY: the caller's promise.
        unsafe { import(managed.cast(), require_alignment, require_contiguous, DLPackForm::Legacy) }
    }

    /// Creates a tensor over a managed tensor in versioned representation, like
    /// [`Tensor::from_dlpack`].
    ///
    /// Exports of the tensor have the same flags.
    ///
    /// # Errors
    /// Same errors as [`Tensor::from_dlpack`]. RuntimeError if the major version is not supported,
    /// in which case the caller may only call the deleter, or if the flags say that elements
    /// narrower than a byte are padded.
    ///
    /// # Safety
    /// Same requirements as [`Tensor::from_dlpack`].
    ///
    /// # Upstream
    /// `TVMFFITensorFromDLPackVersioned`, which does not check the version.
    pub unsafe fn from_dlpack_versioned(
        managed: *mut DLManagedTensorVersioned,
        require_alignment: i32,
        require_contiguous: bool,
    ) -> Result<Tensor> {
        // SAFETY: the caller's promise.
        unsafe {
            import(managed.cast(), require_alignment, require_contiguous, DLPackForm::Versioned)
        }
    }
}

/// Creates a tensor over a managed tensor of either representation, like [`Tensor::from_dlpack`]
/// and [`Tensor::from_dlpack_versioned`].
///
/// # Errors
/// Same errors as the function for this representation.
///
/// # Safety
/// Same requirements as the function for this representation.
#[inline(always)]
pub unsafe fn import(
    managed: *mut c_void,
    require_alignment: i32,
    require_contiguous: bool,
    form: DLPackForm,
) -> Result<Tensor> {
    let has_requirements = require_alignment != 0 || require_contiguous;
    // SAFETY: the caller's promise.
    unsafe {
        if !managed.is_null() && !has_requirements && needs_no_checks(managed, form) {
            let (tensor, owner) = described(managed, form);
            return borrowing::make_without_lists(&*tensor, managed, owner);
        }
        import_checked(managed, require_alignment, require_contiguous, form)
    }
}

/// Returns `true` if a managed tensor has strides and can be imported without further checks. Fast
/// path of speed builds.
///
/// # Safety
/// Same requirements as [`import`]; `managed` is not null.
#[inline(always)]
unsafe fn needs_no_checks(managed: *mut c_void, form: DLPackForm) -> bool {
    // SAFETY: the caller guarantees the record, whose layout is known if its major version is
    // supported, and for `ndim` extents.
    unsafe {
        if form == DLPackForm::Versioned {
            let versioned = managed.cast::<DLManagedTensorVersioned>();
            if (*versioned).version.major != DLPACK_MAJOR_VERSION
                || (*versioned).flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED != 0
            {
                return false;
            }
        }
        has_small_lists(&*described(managed, form).0)
    }
}

/// Returns `true` if a tensor has strides, and a shape that [`check_shape`] accepts without further
/// checks. Size-optimised builds always return `false`.
///
/// # Safety
/// The shape must be null or have `ndim` extents if `ndim` is positive.
#[inline(always)]
pub(super) unsafe fn has_small_lists(tensor: &DLTensor) -> bool {
    // SAFETY: the caller's promise.
    !tensor.strides.is_null() && unsafe { has_small_shape(tensor) }
}

/// Returns `true` if a tensor has dimensions, and its elements certainly fit the address space.
///
/// # Safety
/// Same requirements as [`has_small_lists`].
#[inline(always)]
unsafe fn has_small_shape(tensor: &DLTensor) -> bool {
    let DLTensor { ndim, shape, .. } = *tensor;
    // SAFETY: the caller guarantees the extents.
    ndim > 0 && !shape.is_null() && is_small(unsafe { slice::from_raw_parts(shape, ndim as usize) })
}

/// Returns the DLTensor in a managed tensor of either representation, and the matching kind of
/// owner.
///
/// # Safety
/// The record must have this representation.
#[inline(always)]
unsafe fn described(managed: *mut c_void, form: DLPackForm) -> (*const DLTensor, Owner) {
    // SAFETY: the address of a field of a live record.
    unsafe {
        match form {
            DLPackForm::Legacy => {
                (&raw const (*managed.cast::<DLManagedTensor>()).dl_tensor, Owner::Managed)
            }
            DLPackForm::Versioned => (
                &raw const (*managed.cast::<DLManagedTensorVersioned>()).dl_tensor,
                Owner::Versioned,
            ),
        }
    }
}

/// The slow path of [`import`], with all checks.
///
/// # Safety
/// Same requirements as [`import`].
#[inline(never)]
unsafe fn import_checked(
    managed: *mut c_void,
    require_alignment: i32,
    require_contiguous: bool,
    form: DLPackForm,
) -> Result<Tensor> {
    plain_ensure!(
        !managed.is_null(),
        VALUE_ERROR,
        "FromDLPack: the managed tensor must not be null"
    );
    let versioned = managed.cast::<DLManagedTensorVersioned>();
    // SAFETY: the managed tensor is not null, so the caller guarantees it; the layout beyond the
    // version is known only if the major version is supported.
    unsafe {
        if form == DLPackForm::Versioned {
            let DLPackVersion { major, minor } = (*versioned).version;
            plain_ensure!(
                major == DLPACK_MAJOR_VERSION,
                RUNTIME_ERROR,
                "FromDLPack: DLPack version {}.{} is not supported",
                major,
                minor;
                "wrong DLPack version"
            );
        }
        let (tensor, owner) = described(managed, form);
        check(&*tensor, require_alignment, require_contiguous)?;
        plain_ensure!(
            form == DLPackForm::Legacy
                || (*versioned).flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED == 0,
            RUNTIME_ERROR,
            "Subbyte type padded is not yet supported";
            "padded elements"
        );
        borrowing::make(&*tensor, managed, owner)
    }
}

/// Checks a producer's tensor against the consumer's requirements.
///
/// # Safety
/// `shape` and `strides` of `tensor` must each be null or have `ndim` values if `ndim` is positive.
unsafe fn check(tensor: &DLTensor, require_alignment: i32, require_contiguous: bool) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe { check_shape(tensor)? };
    // SAFETY: the shape is valid now, and only the geometry is read.
    let reader = unsafe { TensorRef::from_raw(tensor) };
    let mask = require_alignment.max(1) - 1;
    plain_ensure!(
        require_alignment >= 0 && require_alignment & mask == 0,
        VALUE_ERROR,
        "FromDLPack: the alignment {} is not a power of two",
        require_alignment;
        "bad alignment"
    );
    plain_ensure!(
        reader.start() as i32 & mask == 0,
        RUNTIME_ERROR,
        "FromDLPack: Data is not aligned to {} bytes.",
        require_alignment;
        "not aligned"
    );
    let contiguous = !require_contiguous || reader.is_contiguous();
    plain_ensure!(contiguous, RUNTIME_ERROR, "FromDLPack: Tensor is not contiguous."; "not contiguous");
    Ok(())
}

/// Checks that the shape of `tensor` is valid and its elements fit the address space.
///
/// # Errors
/// ValueError that names the defect.
///
/// # Safety
/// The shape must be null or have `ndim` extents.
#[cfg_attr(feature = "speed", inline(always))]
pub unsafe fn check_shape(tensor: &DLTensor) -> Result<()> {
    // SAFETY: the caller guarantees `ndim` extents.
    if unsafe { has_small_shape(tensor) } {
        return Ok(());
    }
    // SAFETY: as above.
    unsafe { check_any_shape(tensor) }
}

/// The slow path of [`check_shape`], for shapes that are not small.
///
/// # Errors
/// Same errors as [`check_shape`].
///
/// # Safety
/// Same requirements as [`check_shape`].
#[cfg_attr(feature = "speed", inline(never))]
unsafe fn check_any_shape(tensor: &DLTensor) -> Result<()> {
    let ndim = tensor.ndim;
    let has_shape = ndim == 0 || (ndim > 0 && !tensor.shape.is_null());
    // SAFETY: the caller guarantees `ndim` extents.
    if has_shape && has_possible_size(unsafe { TensorRef::from_raw(tensor) }.shape(), tensor.dtype)
    {
        return Ok(());
    }
    Err(refusal(ndim, has_shape))
}

#[cold]
#[inline(never)]
fn refusal(ndim: i32, has_shape: bool) -> Error {
    if has_shape {
        return plain_error!(
            VALUE_ERROR,
            "a DLTensor has a negative extent, or more elements than memory";
            "bad shape"
        );
    }
    plain_error!(VALUE_ERROR, "a DLTensor of {} dimensions must have a shape", ndim; "bad shape")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{DLDataType, DLDevice};
    use crate::value::device::kind;
    use core::sync::atomic::{AtomicUsize, Ordering};

    fn dl_tensor(data: &mut [f32], shape: &mut [i64]) -> DLTensor {
        DLTensor {
            data: data.as_mut_ptr().cast(),
            device: DLDevice { device_type: kind::CPU, device_id: 0 },
            ndim: shape.len() as i32,
            dtype: DLDataType { code: 2, bits: 32, lanes: 1 },
            shape: shape.as_mut_ptr(),
            strides: core::ptr::null_mut(),
            byte_offset: 0,
        }
    }

    unsafe extern "C" fn count(managed: *mut DLManagedTensor) {
        // SAFETY: the context of the tests is a counter.
        unsafe { &*(*managed).manager_ctx.cast::<AtomicUsize>() }.fetch_add(1, Ordering::Relaxed);
    }

    fn managed(tensor: DLTensor, deleted: &AtomicUsize) -> DLManagedTensor {
        let context = (&raw const *deleted).cast_mut().cast();
        DLManagedTensor { dl_tensor: tensor, manager_ctx: context, deleter: Some(count) }
    }

    fn versioned(tensor: DLTensor, major: u32, flags: u64) -> DLManagedTensorVersioned {
        DLManagedTensorVersioned {
            version: DLPackVersion { major, minor: 3 },
            manager_ctx: core::ptr::null_mut(),
            deleter: None,
            flags,
            dl_tensor: tensor,
        }
    }

    #[test]
    fn the_deleter_runs_with_the_last_reference() {
        let (mut data, mut shape, deleted) = ([1.0, 2.0, 3.0, 4.0], [2, 2], AtomicUsize::new(0));
        let mut source = managed(dl_tensor(&mut data, &mut shape), &deleted);
        // SAFETY: the arrays outlive the tensor.
        let tensor = unsafe { Tensor::from_dlpack(&mut source, 4, true) }.unwrap();
        assert_eq!(tensor.strides(), Some(&[2, 1][..]));
        assert_eq!(tensor.as_slice::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
        drop(tensor.clone());
        assert_eq!(deleted.load(Ordering::Relaxed), 0);
        drop(tensor);
        assert_eq!(deleted.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn strides_of_the_producer_are_kept() {
        let (mut data, mut shape, mut strides) = ([1.0, 2.0, 3.0, 4.0], [2, 2], [1, 2]);
        let tensor = DLTensor { strides: strides.as_mut_ptr(), ..dl_tensor(&mut data, &mut shape) };
        let mut source = versioned(tensor, 1, 0);
        let source = &raw mut source;
        // SAFETY: the arrays outlive the tensor.
        let tensor = unsafe { Tensor::from_dlpack_versioned(source, 0, false) }.unwrap();
        assert_eq!(tensor.strides().unwrap().as_ptr(), strides.as_ptr());
        // SAFETY: as above.
        let error = unsafe { Tensor::from_dlpack_versioned(source, 0, true) }.unwrap_err();
        assert_eq!(error.kind_bytes(), b"RuntimeError");
        assert_eq!(error.message_bytes(), b"FromDLPack: Tensor is not contiguous.");
    }

    #[test]
    fn a_scalar_needs_no_shape() {
        let mut data = [1.0];
        let mut source = versioned(dl_tensor(&mut data, &mut []), 1, 0);
        source.dl_tensor.shape = core::ptr::null_mut();
        // SAFETY: the array outlives the tensor.
        let tensor = unsafe { Tensor::from_dlpack_versioned(&mut source, 0, true) }.unwrap();
        assert!(tensor.shape().is_empty());
        assert_eq!(tensor.as_slice::<f32>().unwrap(), [1.0]);
    }

    #[test]
    fn broken_records_are_refused_and_not_consumed() {
        let (mut data, mut shape, deleted) = ([1.0; 4], [2, 2], AtomicUsize::new(0));
        let good = dl_tensor(&mut data, &mut shape);
        let (mut negative, mut huge) = ([-1, 2], [i64::MAX, 2]);
        let broken = [
            DLTensor { ndim: -1, ..good },
            DLTensor { shape: core::ptr::null_mut(), ..good },
            DLTensor { shape: negative.as_mut_ptr(), ..good },
            DLTensor { shape: huge.as_mut_ptr(), ..good },
        ];
        for tensor in broken {
            let mut source = managed(tensor, &deleted);
            // SAFETY: the record is broken only in ways that are checked.
            let error = unsafe { Tensor::from_dlpack(&mut source, 0, false) }.unwrap_err();
            assert_eq!(error.kind_bytes(), b"ValueError");
        }
        // SAFETY: null is allowed.
        assert!(unsafe { Tensor::from_dlpack(core::ptr::null_mut(), 0, false) }.is_err());
        assert_eq!(deleted.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn alignment_is_checked() {
        let (mut data, mut shape) = ([1.0, 2.0], [1]);
        let tensor = DLTensor { byte_offset: 1, ..dl_tensor(&mut data, &mut shape) };
        let mut source = versioned(tensor, 1, 0);
        let mut refusal = |alignment| {
            // SAFETY: the arrays outlive the call.
            unsafe { Tensor::from_dlpack_versioned(&mut source, alignment, false) }.unwrap_err()
        };
        assert_eq!(refusal(2).message_bytes(), b"FromDLPack: Data is not aligned to 2 bytes.");
        assert_eq!(refusal(2).kind_bytes(), b"RuntimeError");
        assert_eq!(refusal(-1).kind_bytes(), b"ValueError");
        assert_eq!(refusal(3).kind_bytes(), b"ValueError");
    }

    #[test]
    fn versions_and_flags_are_checked() {
        let (mut data, mut shape) = ([1.0], [1]);
        let tensor = dl_tensor(&mut data, &mut shape);
        let refusal = |major, flags| {
            let mut source = versioned(tensor, major, flags);
            // SAFETY: the arrays outlive the call.
            unsafe { Tensor::from_dlpack_versioned(&mut source, 0, false) }.unwrap_err()
        };
        assert_eq!(refusal(2, 0).kind_bytes(), b"RuntimeError");
        assert_eq!(
            refusal(1, DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED).message_bytes(),
            b"Subbyte type padded is not yet supported"
        );
    }
}
