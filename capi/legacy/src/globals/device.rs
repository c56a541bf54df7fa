//! Global functions for devices: attributes, tensor allocation and views.

use core::ffi::c_void;

use ferrite_alloc_ext::device::{self, Attribute};
use ferrite_core::abi::{DLDevice, DLTensor};
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::value::device::kind;
use ferrite_core::{
    Any, AnyView, ObjectClass, Shape, String, Tensor, plain_bail, plain_ensure, static_function,
};

use crate::{array, crossing, dtype};

/// Device functions of TVM 0.7 and later.
pub const RUNTIME: &[StaticFunction] = &[
    static_function!(packed "runtime.TVMArrayAllocWithScope", allocate_array),
    static_function!(packed "runtime.TVMArrayCreateView", create_view),
];

/// Functions for libraries without device back ends.
pub const RUNTIME_WITHOUT_BACK_ENDS: &[StaticFunction] =
    &[static_function!("runtime.GetDeviceAttr", attribute)];

/// Device functions of TVM 0.5 and 0.6.
pub const OLD: &[StaticFunction] = &[static_function!("_GetDeviceAttr", attribute)];

/// Returns a device attribute. Attribute 0 is whether the device exists; the CPU has no others.
fn attribute(device_type: i64, id: i64, number: i64) -> Result<Any> {
    let Some(wanted) = Attribute::from_number(number) else {
        plain_bail!(VALUE_ERROR, "There is no device attribute {}", &number);
    };
    let (Ok(device_type), Ok(id)) = (i32::try_from(device_type), i32::try_from(id)) else {
        plain_bail!(VALUE_ERROR, "There is no device {}:{}", &device_type, &id);
    };
    match (device::find(device_type), wanted) {
        (Some(backend), _) => backend.attribute(id, wanted),
        (None, Attribute::Exists) => Ok(Any::from(i64::from(device_type == kind::CPU))),
        (None, _) if device_type == kind::CPU => Ok(Any::NONE),
        (None, _) => device::get(device_type).map(|_| Any::NONE),
    }
}

/// Allocates an array. Takes `(shape, dtype, device, scope)`, or up to 0.13
/// `(extents, ndim, dtype, device, scope)`.
fn allocate_array(args: &[AnyView<'_>]) -> Result<Any> {
    let (shape, rest) = match args {
        [extents, ndim, rest @ ..] if extents.try_get::<Shape>()?.is_none() => {
            // SAFETY: the caller guarantees `ndim` extents at the pointer.
            (unsafe { shape_at(extents.get()?, ndim.get()?)? }, rest)
        }
        [shape, rest @ ..] => (shape.get()?, rest),
        [] => plain_bail!(TYPE_ERROR, "A shape was expected"),
    };
    let [dtype, device, scope @ ..] = rest else {
        plain_bail!(TYPE_ERROR, "A data type and a device were expected");
    };
    if let Some(scope) = scope.first().filter(|scope| !scope.is_none()) {
        let scope = scope.get::<String>()?;
        let is_global = matches!(scope.as_bytes(), b"" | b"global");
        plain_ensure!(is_global, RUNTIME_ERROR, "There is no memory of scope {}", scope.as_bytes());
    }
    let array =
        array::empty(shape.as_slice(), dtype::of_argument(*dtype)?, device.get::<DLDevice>()?)?;
    current(array)
}

/// Creates a shape from an array of extents.
///
/// # Safety
/// The address must be null or point to `ndim` extents.
unsafe fn shape_at(extents: *mut c_void, ndim: i64) -> Result<Shape> {
    let count = usize::try_from(ndim).ok().filter(|count| *count == 0 || !extents.is_null());
    let Some(count) = count else {
        plain_bail!(VALUE_ERROR, "There is no shape of {} dimensions", &ndim)
    };
    if count == 0 {
        return Shape::from_slice(&[]);
    }
    // SAFETY: the caller guarantees the extents.
    Shape::from_slice(unsafe { core::slice::from_raw_parts(extents.cast::<i64>(), count) })
}

/// Creates a view of an array with another shape. Takes `(array, shape[, dtype[, byte_offset]])`;
/// 0.14 passes two arguments, 0.18 all four.
fn create_view(args: &[AnyView<'_>]) -> Result<Any> {
    let [tensor, shape, rest @ ..] = args else {
        plain_bail!(TYPE_ERROR, "An array and a shape were expected")
    };
    let (tensor, shape) = (tensor.get::<Tensor>()?, shape.get::<Shape>()?);
    let array = crossing::to_former(&tensor)?.unwrap_or(tensor);
    let wanted = match rest.first().filter(|dtype| !dtype.is_none()) {
        Some(name) => dtype::of_argument(*name)?,
        None => array.dl_tensor().dtype,
    };
    let offset = rest.get(1).map_or(Ok(0), |offset| offset.get::<i64>())?;
    let offset = usize::try_from(offset).ok();
    plain_ensure!(array.is_contiguous(), VALUE_ERROR, "A view needs a contiguous array");
    let size = dtype::array_bytes(array.shape(), array.dl_tensor().dtype).unwrap_or(0);
    let end =
        dtype::array_bytes(shape.as_slice(), wanted).and_then(|bytes| offset?.checked_add(bytes));
    plain_ensure!(
        end.is_some_and(|end| end <= size),
        VALUE_ERROR,
        "The view does not lie in the {} bytes of the array",
        size
    );
    let prototype = DLTensor {
        dtype: dtype::storage_of(wanted),
        ndim: shape.as_slice().len() as i32,
        shape: shape.as_slice().as_ptr().cast_mut(),
        strides: core::ptr::null_mut(),
        byte_offset: array.dl_tensor().byte_offset + offset.unwrap_or(0) as u64,
        ..*array.dl_tensor()
    };
    // SAFETY: the check above ensures that the view lies in the array, which the view keeps alive.
    let bytes = unsafe { Tensor::from_owner(array.as_object(), &prototype) }?;
    current(crossing::array_over(bytes, wanted)?)
}

/// Returns an array as a result of a tvm-ffi function.
fn current(array: Tensor) -> Result<Any> {
    Ok(Any::from(crossing::to_current(&array)?.unwrap_or(array)))
}
