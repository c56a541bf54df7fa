//! Builtins that move tensors between devices and remove byte offsets.

use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::object::ObjectClass;
use ferrite_core::tensor::TensorView;
use ferrite_core::value::device::kind;
use ferrite_core::{Any, AnyView, String, Tensor};

use super::Builtin;
use super::arguments::expect;
use super::memory::check_scope;
use crate::builtin;
use crate::memory::{copy, empty};

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.to_device", to_device),
    builtin!("vm.builtin.ensure_zero_offset", ensure_zero_offset),
];

/// Alignment of tensor data in bytes that kernels compiled by TVM rely on.
const DATA_ALIGNMENT: u64 = 64;

/// Copies a tensor to a device. The arguments are (tensor, device type, device id[, memory scope]).
fn to_device(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 3, "vm.builtin.to_device")?;
    let [tensor, device_type, device_id, scope @ ..] = args else { return Ok(Any::NONE) };
    let (tensor, device) = (
        tensor.get::<Tensor>()?,
        DLDevice { device_type: device_type.get()?, device_id: device_id.get()? },
    );
    if let [scope, ..] = scope {
        check_scope(scope.get::<String>()?.as_bytes())?;
    }
    copy_to(&tensor, device).map(Any::from)
}

/// Returns a copy of a tensor on a device.
///
/// # Errors
/// ValueError for a tensor that is not compact; RuntimeError while its elements are borrowed for
/// writing; InternalError for a device without a back end; MemoryError; errors of the driver.
pub(crate) fn copy_to(tensor: &Tensor, device: DLDevice) -> Result<Tensor> {
    let target = empty(tensor.shape(), tensor.dtype(), device)?;
    let _guard = TensorView::from(tensor).read_guard()?;
    // SAFETY: both tensors are alive, and nobody writes the source or knows the target.
    unsafe { copy(tensor.dl_tensor(), target.dl_tensor()) }?;
    Ok(target)
}

/// Returns a tensor in main memory: the tensor itself, or a copy if it is on a device.
///
/// # Errors
/// Same errors as [`copy_to`].
pub(crate) fn on_host(tensor: Tensor) -> Result<Tensor> {
    match tensor.device().device_type {
        kind::CPU => Ok(tensor),
        _ => copy_to(&tensor, DLDevice { device_type: kind::CPU, device_id: 0 }),
    }
}

/// Returns the tensor with a byte offset of zero: the tensor itself, a view whose data pointer
/// includes the offset if the result is aligned, or a copy.
fn ensure_zero_offset(tensor: Tensor) -> Result<Tensor> {
    let prototype = *tensor.dl_tensor();
    if prototype.byte_offset == 0 {
        return Ok(tensor);
    }
    if !has_addresses(prototype.device.device_type)
        || !prototype.byte_offset.is_multiple_of(DATA_ALIGNMENT)
    {
        return copy_to(&tensor, prototype.device);
    }
    let data = prototype.data.wrapping_byte_add(prototype.byte_offset as usize);
    // SAFETY: the view has the shape and the elements of the tensor, which it keeps alive.
    unsafe {
        Tensor::from_owner(tensor.as_object(), &DLTensor { data, byte_offset: 0, ..prototype })
    }
}

/// Returns `true` if data pointers of a device type are addresses, to which the host can add an
/// offset.
const fn has_addresses(device_type: i32) -> bool {
    use kind::{CPU, CUDA, CUDA_HOST, CUDA_MANAGED, ROCM, ROCM_HOST};
    matches!(device_type, CPU | CUDA | CUDA_HOST | CUDA_MANAGED | ROCM | ROCM_HOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::testing::{call, failure};

    /// Returns a view of `len` elements of a tensor, from element `first`.
    fn tail(tensor: &Tensor, first: u64, len: i64) -> Tensor {
        let (mut shape, mut strides) = ([len], [1i64]);
        let prototype = DLTensor {
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            ndim: 1,
            byte_offset: first * 4,
            ..*tensor.dl_tensor()
        };
        // SAFETY: the tests stay within the data.
        unsafe { tensor.create_unsafe_view(&prototype) }.unwrap()
    }

    fn numbers() -> Tensor {
        Tensor::from_slice(&core::array::from_fn::<i32, 32, _>(|number| number as i32), &[32])
            .unwrap()
    }

    #[test]
    fn an_offset_moves_into_the_pointer_or_the_data_is_copied() {
        let tensor = numbers();
        let ensure = |tensor: &Tensor| {
            call("vm.builtin.ensure_zero_offset", &[AnyView::from(tensor)]).get::<Tensor>().unwrap()
        };
        assert!(ensure(&tensor).as_object().ptr_eq(tensor.as_object()));
        let aligned = ensure(&tail(&tensor, 16, 3));
        assert_eq!(aligned.dl_tensor().byte_offset, 0);
        assert_eq!(aligned.dl_tensor().data, tensor.dl_tensor().data.wrapping_byte_add(64));
        let copied = ensure(&tail(&tensor, 5, 3));
        assert_eq!(
            (copied.dl_tensor().byte_offset, &copied.as_slice::<i32>().unwrap()[..]),
            (0, &[5, 6, 7][..])
        );
        drop(tensor);
        assert_eq!(aligned.as_slice::<i32>().unwrap(), [16, 17, 18]);
    }

    #[test]
    fn a_tensor_is_copied_to_a_device() {
        let tensor = numbers();
        let args = [AnyView::from(&tensor), 1i64.into(), 0i64.into()];
        let copied = call("vm.builtin.to_device", &args).get::<Tensor>().unwrap();
        assert_ne!(copied.dl_tensor().data, tensor.dl_tensor().data);
        assert_eq!(copied.as_slice::<i32>().unwrap(), tensor.as_slice::<i32>().unwrap());
    }

    #[cfg(feature = "devices")]
    #[test]
    fn tensors_go_to_devices_with_a_back_end_and_back() {
        let device = crate::memory::testing::device();
        let tensor = numbers();
        let there = copy_to(&tensor, device).unwrap();
        assert_eq!(there.device().device_type, device.device_type);
        assert_eq!(
            on_host(there).unwrap().as_slice::<i32>().unwrap(),
            tensor.as_slice::<i32>().unwrap()
        );
    }

    #[cfg(feature = "devices")]
    #[test]
    fn mistakes_have_the_texts_of_tvm() {
        let (name, tensor) = ("vm.builtin.to_device", numbers());
        let (tensor, id) = (AnyView::from(&tensor), AnyView::from(0i64));
        let to = |device_type: i64| [tensor, device_type.into(), id];
        let text = "Check failed: (allow_missing) is false: Device API vulkan is not enabled.";
        failure(name, &to(7), "InternalError", text);
        let text =
            "Check failed: (allow_missing) is false: Device API of an unknown type is not enabled.";
        failure(name, &to(99), "InternalError", text);
        failure(name, &[id, id, id], "TypeError", "Cannot convert from type `int` to `ffi.Tensor`");
        let text = "Device does not support allocate data space with specified memory scope: foo";
        failure(name, &[tensor, 1i64.into(), id, AnyView::from(c"foo")], "InternalError", text);
        failure(
            name,
            &[tensor],
            "TypeError",
            "`vm.builtin.to_device` expects at least 3 arguments, but got 1",
        );
    }
}
