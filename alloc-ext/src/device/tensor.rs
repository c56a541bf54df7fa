//! Tensor objects whose data a device back end allocates.

use core::ffi::c_void;

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::plain_bail;
use ferrite_core::tensor::{Tensor, TensorRef, check_shape};
use ferrite_core::value::device;

use super::backend::Backend;
use super::table::{find, get};

/// Minimum alignment of tensor data, in bytes. Larger elements are aligned to their size.
const DATA_ALIGNMENT: usize = 64;

/// Tensor object with data from a back end. The record is followed by `ndim` extents and `ndim`
/// strides.
#[repr(C)]
struct BackendTensorRecord {
    header: TVMFFIObject,
    tensor: DLTensor,
    backend: &'static dyn Backend,
    data: *mut c_void,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for BackendTensorRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and has no other reference; the back end allocated the
        // data for this device.
        unsafe {
            let record = this.cast::<BackendTensorRecord>();
            (*record).backend.free((*record).tensor.device.device_id, (*record).data);
        }
    }
}

/// Creates a compact row-major tensor on any device. The elements are zeros on the CPU, and
/// unspecified elsewhere.
///
/// # Errors
/// ValueError for an invalid shape; InternalError if the build has no back end for the device;
/// MemoryError; errors of the driver.
pub fn empty(shape: &[i64], dtype: DLDataType, device: DLDevice) -> Result<Tensor> {
    let Ok(ndim) = i32::try_from(shape.len()) else {
        plain_bail!(VALUE_ERROR, "A tensor cannot have {} dimensions", shape.len());
    };
    let prototype = DLTensor {
        data: core::ptr::null_mut(),
        device,
        ndim,
        dtype,
        shape: shape.as_ptr().cast_mut(),
        strides: core::ptr::null_mut(),
        byte_offset: 0,
    };
    // SAFETY: the prototype has the shape of the slice.
    unsafe { allocate_tensor(&prototype) }
}

/// Creates a compact row-major tensor like [`empty`], with the dtype, ndim, shape and device of a
/// prototype.
///
/// # Errors
/// Errors of [`empty`].
///
/// # Safety
/// The prototype must be valid.
pub unsafe fn allocate_tensor(prototype: &DLTensor) -> Result<Tensor> {
    // SAFETY: the caller guarantees a valid prototype.
    let view = unsafe {
        check_shape(prototype)?;
        TensorRef::from_raw(prototype)
    };
    if prototype.device.device_type == device::kind::CPU {
        return Tensor::empty(view.shape(), prototype.dtype, prototype.device);
    }
    let backend = get(prototype.device.device_type)?;
    let Some(bytes) = view.size_bytes() else {
        plain_bail!(VALUE_ERROR, "A tensor has more elements than memory");
    };
    let element_bytes =
        (usize::from(prototype.dtype.bits) * usize::from(prototype.dtype.lanes)).div_ceil(8);
    let alignment = element_bytes.next_power_of_two().max(DATA_ALIGNMENT);
    let data = backend.allocate(prototype.device.device_id, bytes, alignment)?;
    let made = allocate_record(prototype, view.shape(), backend, data);
    if made.is_err() {
        // SAFETY: the data was just allocated and has no owner.
        unsafe { backend.free(prototype.device.device_id, data) };
    }
    made
}

/// Fallback allocator of `TVMFFIEnvTensorAlloc`. Returns `None` for devices without a back end.
///
/// # Safety
/// The prototype must be valid.
pub(super) unsafe fn allocate_by_default(prototype: &DLTensor) -> Option<Result<Tensor>> {
    find(prototype.device.device_type)?;
    // SAFETY: the caller guarantees a valid prototype.
    Some(unsafe { allocate_tensor(prototype) })
}

fn allocate_record(
    prototype: &DLTensor,
    shape: &[i64],
    backend: &'static dyn Backend,
    data: *mut c_void,
) -> Result<Tensor> {
    // Cannot overflow: the slice of extents already takes half of it.
    let trailing_bytes = 2 * size_of_val(shape);
    let init = |record: *mut BackendTensorRecord| {
        // SAFETY: `record` is a fresh object, followed by memory for both lists, which the record's
        // alignment suits.
        unsafe {
            let extents = record.add(1).cast::<i64>();
            extents.copy_from_nonoverlapping(shape.as_ptr(), shape.len());
            let strides = extents.add(shape.len());
            let mut stride = 1i64;
            for (index, extent) in shape.iter().enumerate().rev() {
                strides.add(index).write(stride);
                // The product can overflow if the tensor is empty.
                stride = stride.wrapping_mul(*extent);
            }
            (*record).tensor =
                DLTensor { data, shape: extents, strides, byte_offset: 0, ..*prototype };
            (&raw mut (*record).backend).write(backend);
            (&raw mut (*record).data).write(data);
        }
    };
    // SAFETY: `init` writes all fields after the header, and the record begins like a tensor.
    unsafe {
        let object = object_alloc::allocate::<BackendTensorRecord>(
            type_index::TENSOR,
            trailing_bytes,
            init,
        )?;
        Ok(Tensor::from_object_unchecked(object))
    }
}
