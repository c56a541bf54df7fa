//! Tensors over managed DLPack tensors of other libraries, in both forms.

use core::ffi::{c_int, c_void};

use super::{Tensor, TensorRef};
use crate::abi::{
    DLManagedTensor, DLManagedTensorVersioned, DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED,
    DLPACK_MAJOR_VERSION, DLTensor, TVMFFIObject,
};
use crate::error::{Error, Result};
use crate::object_alloc::{self, ObjectRecord, allocate};
use crate::shape::{has_possible_size, row_major_strides_reversed};
use crate::{fresh, plain_bail, plain_ensure, plain_error, type_index};

/// A managed tensor of either form.
///
/// # Safety
/// The record must be plain data of C.
unsafe trait Managed: Copy {
    /// Gives the tensor back to its producer.
    ///
    /// # Safety
    /// `this` must be a live managed tensor, not used any more afterwards.
    unsafe fn release(this: *mut Self);
}

// SAFETY: a record of C.
unsafe impl Managed for DLManagedTensor {
    unsafe fn release(this: *mut Self) {
        // SAFETY: the caller hands over a live managed tensor, and its producer vouches for the deleter.
        unsafe {
            if let Some(deleter) = (*this).deleter {
                deleter(this);
            }
        }
    }
}

// SAFETY: a record of C.
unsafe impl Managed for DLManagedTensorVersioned {
    unsafe fn release(this: *mut Self) {
        // SAFETY: the caller hands over a live managed tensor, and its producer vouches for the deleter.
        unsafe {
            if let Some(deleter) = (*this).deleter {
                deleter(this);
            }
        }
    }
}

/// A tensor over a managed one. When the producer gave no strides, `ndim` of them follow in place.
#[repr(C)]
struct ImportedTensor<M> {
    header: TVMFFIObject,
    tensor: DLTensor,
    managed: *mut M,
}

type Imported = ImportedTensor<DLManagedTensor>;

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Imported>() == 80 && core::mem::offset_of!(Imported, managed) == 72);
#[cfg(all(target_pointer_width = "32", not(target_arch = "x86")))]
const _: () = assert!(size_of::<Imported>() == 72 && core::mem::offset_of!(Imported, managed) == 64);

// SAFETY: the header comes first; the managed tensor is given back once, when the object dies.
unsafe impl<M: Managed> ObjectRecord for ImportedTensor<M> {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is alive until its destruction ends, and owns the managed tensor.
        unsafe { M::release((*this.cast::<ImportedTensor<M>>()).managed) };
    }
}

// Never inlined, so that it has one address.
#[inline(never)]
unsafe extern "C" fn delete_legacy(object: *mut c_void, flags: c_int) {
    // SAFETY: only set as the deleter of such records.
    unsafe { object_alloc::delete::<ImportedTensor<DLManagedTensor>>(object, flags) };
}

// Never inlined, so that it has one address.
#[inline(never)]
unsafe extern "C" fn delete_versioned(object: *mut c_void, flags: c_int) {
    // SAFETY: only set as the deleter of such records.
    unsafe { object_alloc::delete::<ImportedTensor<DLManagedTensorVersioned>>(object, flags) };
}

/// The managed tensor under a tensor object that this library imported from the versioned form; None for
/// other objects.
///
/// # Safety
/// `object` must be a live object.
pub(super) unsafe fn versioned_source(object: *mut TVMFFIObject) -> Option<*mut DLManagedTensorVersioned> {
    // SAFETY: the header of a live object is readable.
    let deleter = unsafe { (*object).deleter.deleter }?;
    if !core::ptr::fn_addr_eq(deleter, delete_versioned as unsafe extern "C" fn(*mut c_void, c_int)) {
        return None;
    }
    // SAFETY: only records of this type have that deleter.
    Some(unsafe { (*object.cast::<ImportedTensor<DLManagedTensorVersioned>>()).managed })
}

impl Tensor {
    /// Makes a tensor over a managed tensor of the legacy form, taking it over; its deleter runs with the
    /// last reference.
    ///
    /// `require_alignment` is in bytes, a power of two or 0 for any; it counts for the first element. Without
    /// strides the tensor gets those of a compact one. On failure the managed tensor stays with the caller.
    ///
    /// Errors: RuntimeError when the data is not as aligned or contiguous as required; ValueError when
    /// `managed` is null, its shape is broken (negative number of dimensions, no extents, negative extents,
    /// more elements than memory can hold) or the alignment is no power of two; MemoryError when no memory is
    /// left.
    ///
    /// # Safety
    /// `managed` must be null or a managed tensor that the caller owns, valid until its deleter is called,
    /// which may happen on any thread. Its elements must be as [`TensorRef::from_raw`] demands.
    ///
    /// # Upstream
    /// `TVMFFITensorFromDLPack`, which checks neither shapes nor alignments.
    pub unsafe fn from_dlpack(
        managed: *mut DLManagedTensor,
        require_alignment: i32,
        require_contiguous: bool,
    ) -> Result<Tensor> {
        plain_ensure!(!managed.is_null(), VALUE_ERROR, "FromDLPack: the managed tensor must not be null");
        // SAFETY: the managed tensor is not null, so the caller vouches for it.
        unsafe {
            check(&(*managed).dl_tensor, require_alignment, require_contiguous)?;
            import(managed.cast(), &(*managed).dl_tensor, delete_legacy)
        }
    }

    /// Makes a tensor over a managed tensor of the versioned form, as [`Tensor::from_dlpack`] does.
    ///
    /// An export of the tensor shows the same flags.
    ///
    /// Errors: as [`Tensor::from_dlpack`]; RuntimeError when the record is of another major version, whose
    /// deleter is all that the caller may still use, or when the flags say that elements narrower than a byte
    /// are padded.
    ///
    /// # Safety
    /// As [`Tensor::from_dlpack`].
    ///
    /// # Upstream
    /// `TVMFFITensorFromDLPackVersioned`, which does not look at the version.
    pub unsafe fn from_dlpack_versioned(
        managed: *mut DLManagedTensorVersioned,
        require_alignment: i32,
        require_contiguous: bool,
    ) -> Result<Tensor> {
        plain_ensure!(!managed.is_null(), VALUE_ERROR, "FromDLPack: the managed tensor must not be null");
        // SAFETY: the managed tensor is not null, so the caller vouches for it; the layout beyond the version
        // is known only when the major version is ours.
        unsafe {
            let version = (*managed).version;
            if version.major != DLPACK_MAJOR_VERSION {
                let (major, minor) = (version.major, version.minor);
                plain_bail!(
                    RUNTIME_ERROR,
                    "FromDLPack: DLPack version {}.{} is not supported, only {}.x is",
                    major,
                    minor,
                    DLPACK_MAJOR_VERSION
                );
            }
            check(&(*managed).dl_tensor, require_alignment, require_contiguous)?;
            if (*managed).flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED != 0 {
                plain_bail!(RUNTIME_ERROR, "Subbyte type padded is not yet supported");
            }
            import(managed.cast(), &(*managed).dl_tensor, delete_versioned)
        }
    }
}

/// Checks what a producer handed over against what the consumer asks for.
///
/// # Safety
/// `shape` and `strides` of `tensor` must each be null or hold as many values as a positive `ndim` says.
unsafe fn check(tensor: &DLTensor, require_alignment: i32, require_contiguous: bool) -> Result<()> {
    // SAFETY: the caller gives the same guarantee.
    unsafe { check_shape(tensor)? };
    // SAFETY: the shape is sound now, and only its geometry is looked at.
    let reader = unsafe { TensorRef::from_raw(tensor) };
    let is_sound = require_alignment >= 0 && require_alignment & require_alignment.wrapping_sub(1) == 0;
    plain_ensure!(
        is_sound,
        VALUE_ERROR,
        "FromDLPack: the required alignment must be 0 or a power of two, not {}",
        require_alignment
    );
    plain_ensure!(
        reader.is_aligned_to_power(require_alignment as u64),
        RUNTIME_ERROR,
        "FromDLPack: Data is not aligned to {} bytes.",
        require_alignment
    );
    let contiguous = !require_contiguous || reader.is_contiguous();
    plain_ensure!(contiguous, RUNTIME_ERROR, "FromDLPack: Tensor is not contiguous.");
    Ok(())
}

/// Checks that `tensor` has a shape, and elements that an address space can hold.
///
/// # Errors
/// ValueError that says what is wrong.
///
/// # Safety
/// The shape must be null or as many extents as the number of dimensions says.
pub unsafe fn check_shape(tensor: &DLTensor) -> Result<()> {
    let ndim = tensor.ndim;
    plain_ensure!(ndim >= 0, VALUE_ERROR, "a DLTensor must not have {} dimensions", ndim);
    if ndim > 0 && tensor.shape.is_null() {
        plain_bail!(VALUE_ERROR, "a DLTensor of {} dimensions must have a shape", ndim);
    }
    // SAFETY: the caller vouches for `ndim` extents.
    let shape = unsafe { TensorRef::from_raw(tensor) }.shape();
    if has_possible_size(shape, tensor.dtype) { Ok(()) } else { Err(impossible_size(shape)) }
}

#[cold]
fn impossible_size(shape: &[i64]) -> Error {
    match shape.iter().find(|&&extent| extent < 0) {
        Some(extent) => plain_error!(VALUE_ERROR, "a DLTensor must not have the negative extent {}", extent),
        None => plain_error!(VALUE_ERROR, "a DLTensor must not have more elements than memory can hold"),
    }
}

/// Makes the object, which takes over `managed`. `deleter` is that of tensor objects over such a record; its address tells
/// them from other tensors.
///
/// # Safety
/// `tensor` must be the checked DLTensor in `managed`, which the caller owns.
#[inline(never)]
unsafe fn import(
    managed: *mut DLManagedTensor,
    tensor: &DLTensor,
    deleter: unsafe extern "C" fn(*mut c_void, c_int),
) -> Result<Tensor> {
    // SAFETY: the caller vouches for the record, and its shape is checked.
    let shape = unsafe { TensorRef::from_raw(tensor).shape() };
    let fill_strides = tensor.strides.is_null();
    let trailing_bytes = if fill_strides { size_of_val(shape) } else { 0 };
    let init = |record: *mut Imported| {
        // SAFETY: `record` is a fresh object with room for the strides behind it, if there are any to fill.
        unsafe {
            (*record).header.deleter.deleter = Some(deleter);
            (*record).tensor = fresh::dl_tensor(tensor);
            // Both forms have one layout here, a pointer.
            (*record).managed = managed;
            if fill_strides && !shape.is_empty() {
                let strides = record.add(1).cast::<i64>();
                for (index, stride) in row_major_strides_reversed(shape).enumerate() {
                    strides.add(shape.len() - 1 - index).write(stride);
                }
                (*record).tensor.strides = strides;
            }
        }
    };
    // SAFETY: `init` writes every field beside the header, and index 70 is that of tensors.
    let object = unsafe { allocate::<Imported>(type_index::TENSOR, trailing_bytes, init) }?;
    Ok(Tensor(object))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{DLDataType, DLDevice, DLPackVersion};
    use crate::device::kind;
    use crate::object::ObjectClass;
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
        // SAFETY: the tests keep a counter as the context.
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
        assert_eq!(tensor.data::<f32>().unwrap(), [1.0, 2.0, 3.0, 4.0]);
        let offset = tensor.strides().unwrap().as_ptr().addr() - tensor.as_object().as_ptr().addr();
        assert_eq!(offset, size_of::<Imported>());
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
        assert_eq!(error.kind(), b"RuntimeError");
        assert_eq!(error.message(), b"FromDLPack: Tensor is not contiguous.");
    }

    #[test]
    fn a_scalar_needs_no_shape() {
        let mut data = [1.0];
        let mut source = versioned(dl_tensor(&mut data, &mut []), 1, 0);
        source.dl_tensor.shape = core::ptr::null_mut();
        // SAFETY: the array outlives the tensor.
        let tensor = unsafe { Tensor::from_dlpack_versioned(&mut source, 0, true) }.unwrap();
        assert!(tensor.shape().is_empty());
        assert_eq!(tensor.data::<f32>().unwrap(), [1.0]);
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
            assert_eq!(error.kind(), b"ValueError");
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
        // SAFETY: the arrays outlive the call.
        let mut refusal =
            |alignment| unsafe { Tensor::from_dlpack_versioned(&mut source, alignment, false) }.unwrap_err();
        assert_eq!(refusal(2).message(), b"FromDLPack: Data is not aligned to 2 bytes.");
        assert_eq!(refusal(2).kind(), b"RuntimeError");
        assert_eq!(refusal(-1).kind(), b"ValueError");
        assert_eq!(refusal(3).kind(), b"ValueError");
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
        assert_eq!(refusal(2, 0).kind(), b"RuntimeError");
        assert_eq!(
            refusal(1, DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED).message(),
            b"Subbyte type padded is not yet supported"
        );
    }
}
