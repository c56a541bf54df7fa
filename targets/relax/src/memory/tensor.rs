//! Tensors over the memory of another object, which they keep alive.

use core::mem::ManuallyDrop;

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object_alloc::{self, ObjectRecord};
use ferrite_core::{ObjectRef, Tensor, plain_bail, type_index};

/// A tensor whose data another object owns; shape and strides follow in place, `ndim` values each. Models make and drop one for each
/// operation, so it has no space for a DLPack export, as other tensors have.
#[repr(C)]
struct PlacedTensor {
    header: TVMFFIObject,
    tensor: DLTensor,
    owner: ManuallyDrop<ObjectRef>,
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
    let init = |record: *mut PlacedTensor| {
        // SAFETY: `record` is a fresh object with room for both lists behind it, aligned as the record is.
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
            (&raw mut (*record).owner).write(ManuallyDrop::new(owner.clone()));
        }
    };
    // SAFETY: `init` fills the record, whose layout is that of tensors.
    unsafe {
        let object = object_alloc::allocate(type_index::TENSOR, 2 * size_of_val(shape), init)?;
        Ok(Tensor::from_object_unchecked(object))
    }
}
