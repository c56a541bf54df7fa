//! Tensors in the memory of a device.

use core::ffi::c_void;

use ferrite_core::abi::{DLDataType, DLDevice, DLTensor, TVMFFIObject};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object_alloc::{self, ObjectRecord};
use ferrite_core::tensor::{Tensor, TensorRef, check_shape};
use ferrite_core::{device, plain_bail, type_index};

use super::backend::Backend;
use super::table::{find, get};

/// The alignment of data in bytes, unless an element is larger.
const DATA_ALIGNMENT: usize = 64;

/// A tensor whose data a back end allocated; shape and strides follow the record, `ndim` values each.
#[repr(C)]
struct TensorRecord {
    header: TVMFFIObject,
    tensor: DLTensor,
    backend: &'static dyn Backend,
    data: *mut c_void,
}

// SAFETY: repr(C), header first.
unsafe impl ObjectRecord for TensorRecord {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        // SAFETY: the record is initialised and ours alone; the data came from the back end for this device.
        unsafe {
            let record = this.cast::<TensorRecord>();
            (*record).backend.free((*record).tensor.device.device_id, (*record).data);
        }
    }
}

/// Makes a compact row-major tensor on any device. On the CPU it has zeros, elsewhere any content.
///
/// # Errors
/// ValueError for an impossible shape; InternalError when the build has no back end for the device; MemoryError; errors of the
/// driver.
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

/// Makes a compact row-major tensor like a prototype, of which dtype, ndim, shape and device count, as [`empty`] does.
///
/// # Errors
/// As [`empty`].
///
/// # Safety
/// The prototype must be valid.
pub unsafe fn allocate_tensor(prototype: &DLTensor) -> Result<Tensor> {
    // SAFETY: the caller vouches for the prototype.
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
    let element_bytes = (usize::from(prototype.dtype.bits) * usize::from(prototype.dtype.lanes)).div_ceil(8);
    let alignment = element_bytes.next_power_of_two().max(DATA_ALIGNMENT);
    let data = backend.allocate(prototype.device.device_id, bytes, alignment)?;
    let made = allocate_record(prototype, view.shape(), backend, data);
    if made.is_err() {
        // SAFETY: the data was just allocated, and has no owner.
        unsafe { backend.free(prototype.device.device_id, data) };
    }
    made
}

/// The default allocator of `TVMFFIEnvTensorAlloc`: serves devices that have a back end.
///
/// # Safety
/// The prototype must be valid.
pub(super) unsafe fn allocate_by_default(prototype: &DLTensor) -> Option<Result<Tensor>> {
    find(prototype.device.device_type)?;
    // SAFETY: the caller vouches for the prototype.
    Some(unsafe { allocate_tensor(prototype) })
}

fn allocate_record(
    prototype: &DLTensor,
    shape: &[i64],
    backend: &'static dyn Backend,
    data: *mut c_void,
) -> Result<Tensor> {
    // Shape and strides fit: the slice of extents already takes half of it.
    let trailing_bytes = 2 * size_of_val(shape);
    let init = |record: *mut TensorRecord| {
        // SAFETY: `record` is a fresh object with room for both lists behind it, aligned as the record is.
        unsafe {
            let extents = record.add(1).cast::<i64>();
            extents.copy_from_nonoverlapping(shape.as_ptr(), shape.len());
            let strides = extents.add(shape.len());
            let mut stride = 1i64;
            for (index, extent) in shape.iter().enumerate().rev() {
                strides.add(index).write(stride);
                // An empty tensor may have other extents whose product overflows.
                stride = stride.wrapping_mul(*extent);
            }
            (*record).tensor = DLTensor { data, shape: extents, strides, byte_offset: 0, ..*prototype };
            (&raw mut (*record).backend).write(backend);
            (&raw mut (*record).data).write(data);
        }
    };
    // SAFETY: `init` writes every field beside the header, and the record begins as tensors do.
    unsafe {
        let object = object_alloc::allocate::<TensorRecord>(type_index::TENSOR, trailing_bytes, init)?;
        Ok(Tensor::from_object_unchecked(object))
    }
}
