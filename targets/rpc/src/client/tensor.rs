//! Tensors that the server owns: results of remote calls.

use core::ffi::c_void;
use core::mem::ManuallyDrop;
use std::sync::Arc;

use ferrite_core::abi::{DLDevice, DLTensor, TVMFFIObject, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::object::object_alloc::{self, ObjectRecord};
use ferrite_core::tensor::{Tensor, check_shape};

use super::decode::TensorAnswer;
use super::session::Connected;
use super::{errors, mask};

/// Tensor object over data of the server. Extents and strides follow the record.
#[repr(C)]
struct RemoteTensor {
    header: TVMFFIObject,
    tensor: DLTensor,
    session: ManuallyDrop<Arc<Connected>>,
    /// Handle of the tensor object on the server, which this one owns.
    handle: u64,
}

// SAFETY: the type is `repr(C)`, and begins with the header.
unsafe impl ObjectRecord for RemoteTensor {
    unsafe fn destroy(this: *mut TVMFFIObject) {
        let record = this.cast::<RemoteTensor>();
        // SAFETY: the record is initialised, and this is its only reference.
        unsafe {
            (*record).session.release((*record).handle);
            ManuallyDrop::drop(&mut (*record).session);
        }
    }
}

/// Creates the tensor object of an answer, which owns the handle of the tensor on the server.
///
/// # Errors
/// RPCError for a shape or device that no tensor has, MemoryError; the handle is released.
pub(super) fn create(
    session: &Arc<Connected>,
    answer: &TensorAnswer,
    handle: u64,
) -> Result<Tensor> {
    let device = mask::add(session.number(), answer.head.device);
    let created = match device {
        Some(device) => allocate(session, answer, device, handle),
        None => Err(errors::malformed(format_args!(
            "a tensor of device type {}",
            answer.head.device.device_type
        ))),
    };
    created.inspect_err(|_| session.release(handle))
}

/// Creates a tensor object over data of the server that `handle` keeps alive.
///
/// # Errors
/// RPCError for a shape that no tensor has; MemoryError.
fn allocate(
    session: &Arc<Connected>,
    answer: &TensorAnswer,
    device: DLDevice,
    handle: u64,
) -> Result<Tensor> {
    let mut prototype = DLTensor {
        data: core::ptr::without_provenance_mut::<c_void>(answer.head.data as usize),
        device,
        ndim: answer.shape.len() as i32,
        dtype: answer.head.dtype,
        shape: answer.shape.as_ptr().cast_mut(),
        strides: core::ptr::null_mut(),
        byte_offset: answer.byte_offset,
    };
    // SAFETY: the prototype has the shape of the answer.
    unsafe { check_shape(&prototype) }
        .map_err(|error| errors::malformed(format_args!("{}", error.message())))?;
    let shape: &[i64] = &answer.shape;
    let owner = session.clone();
    let init = |record: *mut RemoteTensor| {
        // SAFETY: the record is large enough for every field, and followed by memory for both
        // lists, which its alignment suits; the header is not written.
        unsafe {
            let extents = record.add(1).cast::<i64>();
            extents.copy_from_nonoverlapping(shape.as_ptr(), shape.len());
            write_strides(extents.add(shape.len()), shape);
            prototype.shape = extents;
            prototype.strides = extents.add(shape.len());
            (&raw mut (*record).tensor).write(prototype);
            (&raw mut (*record).session).write(ManuallyDrop::new(owner));
            (&raw mut (*record).handle).write(handle);
        }
    };
    // SAFETY: `init` initialises the record, which begins like a tensor.
    unsafe {
        let object = object_alloc::allocate(type_index::TENSOR, 2 * size_of_val(shape), init)?;
        Ok(Tensor::from_object_unchecked(object))
    }
}

/// Writes the strides of a compact row-major tensor.
///
/// # Safety
/// There must be memory for as many strides as extents.
unsafe fn write_strides(strides: *mut i64, shape: &[i64]) {
    let mut stride = 1i64;
    for (index, extent) in shape.iter().enumerate().rev() {
        // SAFETY: the caller guarantees the memory.
        unsafe { strides.add(index).write(stride) };
        // The product can overflow if the tensor is empty.
        stride = stride.wrapping_mul(*extent);
    }
}

/// Creates a tensor over data of the server from parts: `tvm.rpc.TensorFromRemoteOpaqueHandle`.
///
/// # Errors
/// ValueError if the device does not belong to the session; errors of [`allocate`]. Then the caller
/// keeps the handle.
pub(super) fn from_parts(
    session: &Arc<Connected>,
    data: u64,
    template: ferrite_core::tensor::TensorRef<'_>,
    device: DLDevice,
    handle: u64,
) -> Result<Tensor> {
    let head = crate::wire::TensorHead {
        data,
        device: session.strip_mask(device)?,
        ndim: template.ndim() as u32,
        dtype: template.dtype(),
    };
    let mut shape = ferrite_core::platform::memory::Buffer::new();
    shape.try_extend_from_slice(template.shape())?;
    allocate(session, &TensorAnswer { head, shape, byte_offset: 0 }, device, handle)
}
