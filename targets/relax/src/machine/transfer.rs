//! Copies of values to the model's device.

use ferrite_alloc_ext::containers::ArrayObject;
use ferrite_alloc_ext::device::{self, Device, is_main_memory, stream};
use ferrite_core::abi::{DLDevice, DLTensor, type_index};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::platform::stack;
use ferrite_core::tensor::{TensorRef, TensorView};
use ferrite_core::{Any, AnyView, Tensor, plain_bail};

use crate::memory::{Allocator, Placement, Storage, tensor_over};

/// Converts an argument to a value on a device. Tensors on other devices are copied, arrays are
/// converted element by element, and a `DLTensor*` is always copied.
pub(super) fn to_device(arg: &AnyView<'_>, allocator: Allocator) -> Result<Any> {
    if arg.type_index() == type_index::DL_TENSOR_PTR {
        let tensor: TensorView<'_> = arg.get_in_place()?;
        // SAFETY: an argument is valid until the call ends.
        return Ok(unsafe { copy(&*tensor.as_ptr(), allocator) }?.into());
    }
    object_to_device((*arg).to_owned()?, allocator)
}

fn object_to_device(value: Any, allocator: Allocator) -> Result<Any> {
    let Some(object) = value.as_object() else { return Ok(value) };
    if let Some(tensor) = object.as_class::<Tensor>() {
        let (from, to) = (tensor.device(), allocator.device());
        let is_there = (from.device_type, from.device_id) == (to.device_type, to.device_id);
        return if is_there { Ok(value) } else { Ok(copy_tensor_to(tensor, allocator)?.into()) };
    }
    let Some(array) = object.as_class::<ArrayObject>() else { return Ok(value) };
    let mut copied = Buffer::try_with_capacity(array.len())?;
    for element in array.as_slice() {
        copied.try_push(stack::nest(|| object_to_device(element.clone(), allocator))?)?;
    }
    Ok(ArrayObject::from_slice(&copied)?.into())
}

/// Copies a tensor to a device, and waits for the copy.
///
/// # Errors
/// ValueError for a tensor that is not contiguous; RuntimeError while its elements are borrowed for
/// writing; MemoryError; errors of the devices.
pub fn copy_tensor_to(tensor: &Tensor, allocator: Allocator) -> Result<Tensor> {
    let _guard = TensorView::from(tensor).read_guard()?;
    // SAFETY: the reference keeps the tensor, and nobody writes its elements.
    unsafe { copy(tensor.dl_tensor(), allocator) }
}

/// Copies a `DLTensor` to a device, and waits for the copy.
///
/// # Safety
/// The tensor must be valid.
unsafe fn copy(from: &DLTensor, allocator: Allocator) -> Result<Tensor> {
    // SAFETY: the caller guarantees the tensor.
    let reader = unsafe { TensorRef::from_raw(from) };
    let Some(bytes) = reader.size_bytes() else {
        plain_bail!(VALUE_ERROR, "The tensor has more elements than memory can hold");
    };
    let storage = Storage::new(allocator.allocate(bytes)?)?;
    let block = storage.block();
    let placement =
        Placement { data: block.data(), byte_offset: 0, device: block.device(), dtype: from.dtype };
    // SAFETY: the storage has as many bytes as the tensor.
    let copied = unsafe { tensor_over(Some(storage.as_object()), &placement, reader.shape())? };
    let device = device_of_copy(from.device, allocator.device());
    // SAFETY: both tensors are valid, and the stream is that of the device.
    unsafe { device::copy_tensor(from, copied.dl_tensor(), stream::current(device))? };
    device::finish_copy(device, TensorView::from(&copied))?;
    Ok(copied)
}

/// Returns the device whose stream performs a copy.
fn device_of_copy(from: DLDevice, to: DLDevice) -> Device {
    Device::from(if is_main_memory(from.device_type) { to } else { from })
}
