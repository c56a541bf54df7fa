//! Tensors over the memory of another object, which they keep alive.

use core::mem::ManuallyDrop;

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object_alloc::{self, ObjectRecord};
use ferrite_core::{Any, ObjectRef, Tensor, plain_bail, type_index};

/// A tensor whose data another object owns; shape and strides follow in place, `ndim` values each. Models make and drop one for each
/// operation, so it has no space for a DLPack export, as other tensors have.
#[repr(C)]
struct PlacedTensor {
    header: TVMFFIObject,
    tensor: DLTensor,
    /// None for a spare one.
    owner: ManuallyDrop<Option<ObjectRef>>,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for PlacedTensor {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<PlacedTensor>()).owner) };
    }
}

/// Where the data of a tensor is, and what its elements are.
pub(crate) struct Placement {
    pub data: *mut core::ffi::c_void,
    pub byte_offset: u64,
    pub device: DLDevice,
    pub dtype: DLDataType,
}

/// Makes a compact row-major tensor over memory that `owner` has.
///
/// # Errors
/// MemoryError; ValueError for a shape with more dimensions than `i32` counts.
///
/// # Safety
/// The memory has as many bytes as the tensor needs, while `owner` lives; no extent is negative.
#[inline]
pub(crate) unsafe fn tensor_over(owner: &ObjectRef, placement: &Placement, shape: &[i64]) -> Result<Tensor> {
    let Ok(ndim) = i32::try_from(shape.len()) else {
        plain_bail!(VALUE_ERROR, "A tensor cannot have {} dimensions", shape.len());
    };
    // SAFETY: `record` is a fresh object with room for both lists behind it, aligned as the record is.
    let init = |record: *mut PlacedTensor| unsafe {
        (&raw mut (*record).owner).write(ManuallyDrop::new(None));
        fill(record, owner, placement, shape, ndim);
    };
    // SAFETY: `init` fills the record, whose layout is that of tensors.
    unsafe {
        let object = object_alloc::allocate(type_index::TENSOR, 2 * size_of_val(shape), init)?;
        Ok(Tensor::from_object_unchecked(object))
    }
}

/// Makes the tensor one over memory that `owner` has. It has no owner yet.
///
/// # Safety
/// The record has lists of `ndim` values, as many as the shape has, and nobody else uses it; otherwise as [`tensor_over`].
#[inline(always)]
unsafe fn fill(
    record: *mut PlacedTensor,
    owner: &ObjectRef,
    placement: &Placement,
    shape: &[i64],
    ndim: i32,
) {
    // SAFETY: the caller vouches for the record and its lists.
    unsafe {
        let extents = record.add(1).cast::<i64>();
        let strides = extents.add(shape.len());
        let mut stride = 1i64;
        for (index, extent) in shape.iter().enumerate().rev() {
            extents.add(index).write(*extent);
            strides.add(index).write(stride);
            stride = stride.wrapping_mul(*extent);
        }
        (&raw mut (*record).tensor).write(DLTensor {
            data: placement.data,
            device: placement.device,
            ndim,
            dtype: placement.dtype,
            shape: extents,
            strides,
            byte_offset: placement.byte_offset,
        });
        (&raw mut (*record).owner).write(ManuallyDrop::new(Some(owner.clone())));
    }
}

/// A tensor that has no owner: nobody uses it, and it waits for being made again.
pub(crate) struct SpareTensor(ObjectRef);

impl SpareTensor {
    /// The tensor of a value, if this file made it and the value is the only reference to it. Its owner is released.
    ///
    /// # Errors
    /// Gives any other value back.
    #[inline(always)]
    pub(crate) fn of(value: Any) -> core::result::Result<SpareTensor, Any> {
        let is_spare = value.type_index() == type_index::TENSOR
            && value.as_object().is_some_and(|object| is_placed(object) && object.is_unique());
        if !is_spare {
            return Err(value);
        }
        let object = value.into_object()?;
        // SAFETY: the tensor is one of this file, and nobody else has it.
        drop(unsafe { (*(*object.as_ptr().cast::<PlacedTensor>()).owner).take() });
        Ok(SpareTensor(object))
    }

    /// The number of dimensions for which it has lists.
    #[inline(always)]
    pub(super) fn ndim(&self) -> usize {
        // SAFETY: the tensor is one of this file.
        unsafe { (*self.0.as_ptr().cast::<PlacedTensor>()).tensor.ndim as usize }
    }

    /// Makes it a tensor over memory that `owner` has.
    ///
    /// # Safety
    /// As [`tensor_over`]; the shape has as many dimensions as this tensor.
    #[inline(always)]
    pub(super) unsafe fn place(self, owner: &ObjectRef, placement: &Placement, shape: &[i64]) -> Tensor {
        // SAFETY: the tensor is one of this file that nobody else has; the caller vouches for the rest.
        unsafe {
            fill(self.0.as_ptr().cast(), owner, placement, shape, shape.len() as i32);
            Tensor::from_object_unchecked(self.0)
        }
    }
}

/// Returns `true` if this file made a tensor. May be `false` where the compiler made several copies of the deleter.
#[inline(always)]
fn is_placed(object: &ObjectRef) -> bool {
    // SAFETY: the object is alive, and its deleter does not change.
    let deleter = unsafe { (*object.as_ptr()).deleter.deleter };
    deleter.is_some_and(|deleter| core::ptr::fn_addr_eq(deleter, <PlacedTensor as ObjectRecord>::DELETER))
}
