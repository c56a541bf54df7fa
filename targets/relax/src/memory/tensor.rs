//! Tensors over memory that another object owns. They keep that object alive.

use core::mem::ManuallyDrop;

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord, Recycled};
use ferrite_core::tensor::{KEEPER_OFFSET, share_borrows_of_owner};
use ferrite_core::{Any, ObjectRef, Tensor, plain_bail};

/// A tensor whose data another object owns. Its shape and strides follow the record, `ndim` values
/// each. Unlike other tensors, it has no space for a DLPack export, since models create and drop
/// one for each operation.
#[repr(C)]
struct PlacedTensor {
    header: TVMFFIObject,
    tensor: DLTensor,
    /// Owner of the data, which has the borrows of the elements. `None` for a spare tensor, and for
    /// memory that the caller of the model keeps, or that is never freed.
    owner: ManuallyDrop<Option<ObjectRef>>,
}

const _: () = assert!(core::mem::offset_of!(PlacedTensor, owner) == KEEPER_OFFSET);

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for PlacedTensor {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone.
        unsafe { ManuallyDrop::drop(&mut (*this.cast::<PlacedTensor>()).owner) };
    }
}

/// Location and element type of a tensor's data.
pub(crate) struct Placement {
    pub data: *mut core::ffi::c_void,
    pub byte_offset: u64,
    pub device: DLDevice,
    pub dtype: DLDataType,
}

/// Creates a compact row-major tensor over memory that `owner` owns. All tensors over one owner
/// share their borrows.
///
/// # Errors
/// MemoryError; ValueError for a shape with more dimensions than `i32` can represent.
///
/// # Safety
/// The memory must have as many bytes as the tensor needs for as long as `owner` lives, or as the
/// tensor is used if there is none; no extent may be negative. The borrow state of an owner that is
/// not a tensor has no other use.
#[inline]
pub(crate) unsafe fn tensor_over(
    owner: Option<&ObjectRef>,
    placement: &Placement,
    shape: &[i64],
) -> Result<Tensor> {
    let Ok(ndim) = i32::try_from(shape.len()) else {
        plain_bail!(VALUE_ERROR, "A tensor cannot have {} dimensions", shape.len());
    };
    // SAFETY: `record` is a fresh object with room for both lists behind it, aligned as the record
    // is.
    let init = |record: *mut PlacedTensor| unsafe {
        (&raw mut (*record).owner).write(ManuallyDrop::new(None));
        fill(record, owner, placement, shape, ndim);
    };
    // SAFETY: `init` fills the record, whose layout is that of tensors.
    unsafe {
        let lists = 2 * size_of_val(shape);
        let object = object_alloc::allocate_in(&mut Recycled, type_index::TENSOR, lists, init)?;
        Ok(Tensor::from_object_unchecked(object))
    }
}

/// Initialises the tensor over memory that `owner` owns. It must not have an owner yet.
///
/// # Safety
/// The record must have space for the shape and strides, and no other code may use it; otherwise as
/// for [`tensor_over`].
#[inline(always)]
unsafe fn fill(
    record: *mut PlacedTensor,
    owner: Option<&ObjectRef>,
    placement: &Placement,
    shape: &[i64],
    ndim: i32,
) {
    // SAFETY: the caller guarantees the record and its lists.
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
        if let Some(owner) = owner {
            (&raw mut (*record).owner).write(ManuallyDrop::new(Some(owner.clone())));
            share_borrows_of_owner(record.cast());
        }
    }
}

/// A tensor object without an owner, which no code uses: it can be reused for another tensor.
pub(crate) struct SpareTensor(ObjectRef);

impl SpareTensor {
    /// Converts a value to a spare tensor, and releases the tensor's owner. The value must be the
    /// only reference to a tensor made by [`tensor_over`].
    ///
    /// # Errors
    /// Returns any other value unchanged.
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

    /// Returns the number of dimensions for which the object has space.
    #[inline(always)]
    pub(super) fn ndim(&self) -> usize {
        // SAFETY: the tensor is one of this file.
        unsafe { (*self.0.as_ptr().cast::<PlacedTensor>()).tensor.ndim as usize }
    }

    /// Reuses the object for a tensor over memory that `owner` owns.
    ///
    /// # Safety
    /// Same requirements as [`tensor_over`]; the shape must have as many dimensions as this object.
    #[inline(always)]
    pub(super) unsafe fn place(
        self,
        owner: &ObjectRef,
        placement: &Placement,
        shape: &[i64],
    ) -> Tensor {
        // SAFETY: the tensor is one of this file that nobody else has; the caller guarantees the
        // rest.
        unsafe {
            fill(self.0.as_ptr().cast(), Some(owner), placement, shape, shape.len() as i32);
            Tensor::from_object_unchecked(self.0)
        }
    }
}

/// Returns a compact row-major tensor over memory that `owner` owns, as [`tensor_over`] does.
/// Reuses the object of `old` if it was made here, nobody else has it, and it has as many
/// dimensions.
///
/// # Errors
/// Same errors as [`tensor_over`].
///
/// # Safety
/// The caller must meet the requirements of [`tensor_over`].
#[cfg(feature = "kv-cache")]
pub(crate) unsafe fn renew_view(
    old: Option<Tensor>,
    owner: &ObjectRef,
    placement: &Placement,
    shape: &[i64],
) -> Result<Tensor> {
    if let Some(old) = old
        && let Ok(spare) = SpareTensor::of(old.into())
        && spare.ndim() == shape.len()
    {
        // SAFETY: the caller guarantees the memory; the dimensions are as many.
        return Ok(unsafe { spare.place(owner, placement, shape) });
    }
    // SAFETY: the caller guarantees the memory.
    unsafe { tensor_over(Some(owner), placement, shape) }
}

/// Returns `true` if a tensor was made by [`tensor_over`]. May also return `false` for one if the
/// compiler duplicated the deleter.
#[inline(always)]
pub(crate) fn is_placed(object: &ObjectRef) -> bool {
    // SAFETY: the object is alive, and its deleter does not change.
    let deleter = unsafe { (*object.as_ptr()).deleter.deleter };
    deleter.is_some_and(|deleter| {
        core::ptr::fn_addr_eq(deleter, <PlacedTensor as ObjectRecord>::DELETER)
    })
}
