//! Builtins that check tensors and create views of them.

use ferrite_alloc_ext::device::is_main_memory;
use ferrite_core::abi::{DLDataType, type_index};
use ferrite_core::error::kind::{TYPE_ERROR, VALUE_ERROR};
use ferrite_core::error::message::SHORT;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::object::ObjectClass;
use ferrite_core::platform::text::Writer;
use ferrite_core::tensor::{Element, TensorRef};
use ferrite_core::value::dtype;
use ferrite_core::value::shape::data_size_bytes;
use ferrite_core::{Any, AnyView, ObjectRef, Shape, Tensor, plain_bail, plain_ensure};

use super::arguments::{borrowed, data_type, expect};
use super::{Builtin, Check, integer, refusal};
use crate::builtin;
use crate::machine::copy_tensor_to;
use crate::memory::{Allocator, Placement, tensor_over};

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.check_tensor_info", check_tensor_info),
    builtin!(packed "vm.builtin.reshape", reshape),
    builtin!("vm.builtin.tensor_to_shape", tensor_to_shape),
];

/// Returns a tensor argument (a tensor object or a `DLTensor*`), borrowed; `None` for any other
/// argument.
#[inline]
pub(super) fn tensor_of<'a>(arg: &'a AnyView<'_>) -> Option<TensorRef<'a>> {
    TensorRef::from_view(arg)
}

/// Checks that a value is a tensor. The arguments are (value, ndim or -1[, dtype or None], error
/// context).
fn check_tensor_info(args: &[AnyView<'_>]) -> Result<Any> {
    let (value, ndim, dtype, context) = match args {
        [value, ndim, context] => (value, ndim, AnyView::NONE, context),
        [value, ndim, dtype, context, ..] => (value, ndim, *dtype, context),
        _ => plain_bail!(
            TYPE_ERROR,
            "vm.builtin.check_tensor_info takes 3 or 4 arguments, but got {}",
            args.len()
        ),
    };
    let Some(tensor) = tensor_of(value) else {
        return Err(refusal(TYPE_ERROR, Check::That("opt_ptr.has_value()"), context, &|out| {
            out.put(b" expect a Tensor but get ");
            out.put_lossy(type_table::type_key_of(value.type_index()));
        }));
    };
    let ndim = integer(ndim)?;
    if ndim != -1 && ndim != tensor.ndim() as i64 {
        return Err(refusal(VALUE_ERROR, Check::That("ptr->ndim == ndim"), context, &|out| {
            out.put(b" expect Tensor with ndim ");
            out.put_number(ndim);
            out.put(b" but get ");
            out.put_word(tensor.ndim());
        }));
    }
    if dtype.is_none() {
        return Ok(Any::NONE);
    }
    let dtype = data_type(&dtype)?;
    if dtype != tensor.dtype() {
        return Err(wrong_dtype(context, dtype, tensor.dtype()));
    }
    Ok(Any::NONE)
}

#[cold]
fn wrong_dtype(context: &AnyView<'_>, expected: DLDataType, found: DLDataType) -> Error {
    let check = Check::That("ptr->dtype == dtype.value()");
    if SHORT {
        // The strings of dtypes would cost more flash than all other checks.
        return refusal(VALUE_ERROR, check, context, &|out| out.put(b" wrong dtype"));
    }
    refusal(VALUE_ERROR, check, context, &|out: &mut Writer<'_>| {
        out.put(b" expect Tensor with dtype ");
        let _ = dtype::write_dtype(expected, out);
        out.put(b" but get ");
        let _ = dtype::write_dtype(found, out);
    })
}

/// Returns a view of a compact tensor with another shape. The view keeps the tensor alive, unless
/// the tensor is a `DLTensor*`: then the caller of the model keeps its memory for as long as the
/// results of the call are used. The arguments are (tensor, shape).
fn reshape(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 2, "vm.builtin.reshape")?;
    let [value, shape, ..] = args else { return Ok(Any::NONE) };
    let shape = borrowed::<Shape>(shape)?;
    let Some(tensor) = tensor_of(value) else {
        plain_bail!(
            TYPE_ERROR,
            "vm.builtin.reshape expects a Tensor or DLTensor*, but get {}",
            type_table::type_key_of(value.type_index());
            "no tensor"
        );
    };
    let owner = match value.type_index() {
        type_index::TENSOR => Some(borrowed::<Tensor>(value)?.as_object()),
        _ => None,
    };
    view_as(tensor, owner, shape.as_slice()).map(Any::from)
}

/// Returns a compact view of the first elements of a compact tensor, whose memory `owner` keeps.
fn view_as(reader: TensorRef<'_>, owner: Option<&ObjectRef>, shape: &[i64]) -> Result<Tensor> {
    plain_ensure!(
        reader.is_contiguous(),
        VALUE_ERROR,
        "Can only create view for compact tensor, but found strides";
        "not compact"
    );
    let (held, needed) = (reader.size_bytes(), data_size_bytes(shape, reader.dtype()));
    if needed.is_none_or(|needed| held.is_none_or(|held| needed > held)) {
        plain_bail!(
            VALUE_ERROR,
            "Tries to create a view that has bigger memory than current one: {} vs {} bytes",
            needed.unwrap_or(usize::MAX),
            held.unwrap_or_default();
            "larger than the tensor"
        );
    }
    let placement = Placement {
        data: reader.data_ptr(),
        byte_offset: reader.byte_offset(),
        device: reader.device(),
        dtype: reader.dtype(),
    };
    // SAFETY: the tensor has as many bytes, which its owner keeps, or the caller of the model.
    unsafe { tensor_over(owner, &placement, shape) }
}

/// Returns a tensor in memory that the CPU can read: the tensor itself, or a copy.
///
/// # Errors
/// MemoryError; errors of the driver.
pub(super) fn in_main_memory(tensor: &Tensor) -> Result<Tensor> {
    if is_main_memory(tensor.device().device_type) {
        return Ok(tensor.clone());
    }
    copy_tensor_to(tensor, Allocator::host())
}

/// Returns the Shape whose extents are the elements of a vector of integers.
fn tensor_to_shape(tensor: Tensor) -> Result<Shape> {
    let tensor = in_main_memory(&tensor)?;
    plain_ensure!(
        tensor.shape().len() == 1,
        INTERNAL_ERROR,
        "A shape is made of a tensor with 1 dimension, not {}",
        tensor.shape().len()
    );
    match tensor.dtype() {
        i16::DTYPE => shape_of_elements(&tensor.as_slice::<i16>()?),
        i32::DTYPE => shape_of_elements(&tensor.as_slice::<i32>()?),
        i64::DTYPE => shape_of_elements(&tensor.as_slice::<i64>()?),
        _ => plain_bail!(
            INTERNAL_ERROR,
            "Unknown scalar int type: a shape is made of int16, int32 or int64"
        ),
    }
}

fn shape_of_elements<T: Copy + Into<i64>>(elements: &[T]) -> Result<Shape> {
    Shape::try_from_iter(elements.iter().map(|element| Ok((*element).into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::testing::{call, failure};
    use ferrite_core::abi::{DLDevice, DLTensor, TVMFFIAny};

    const NAME: &str = "vm.builtin.reshape";

    #[test]
    fn a_tensor_of_the_caller_is_reshaped_in_place() {
        let (mut data, mut extents) = ([1f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2i64, 3]);
        let tensor = DLTensor {
            data: data.as_mut_ptr().cast(),
            device: DLDevice { device_type: ferrite_core::value::device::kind::CPU, device_id: 0 },
            ndim: 2,
            dtype: f32::DTYPE,
            shape: extents.as_mut_ptr(),
            strides: core::ptr::null_mut(),
            byte_offset: 0,
        };
        let mut raw = TVMFFIAny::NONE;
        raw.type_index = type_index::DL_TENSOR_PTR;
        raw.payload.v_ptr = (&raw const tensor).cast_mut().cast();
        // SAFETY: the tensor outlives the view.
        let pointer = unsafe { AnyView::from_raw(raw) };
        let shape = Shape::from_slice(&[3, 2]).unwrap();
        let view = call(NAME, &[pointer, AnyView::from(&shape)]).get::<Tensor>().unwrap();
        assert_eq!((view.shape(), view.dl_tensor().data), (&[3, 2][..], tensor.data));
        let larger = Shape::from_slice(&[7]).unwrap();
        let text = "Tries to create a view that has bigger memory than current one: 28 vs 24 bytes";
        failure(NAME, &[pointer, AnyView::from(&larger)], "ValueError", text);
    }

    #[test]
    fn only_tensors_are_reshaped() {
        let shape = Shape::from_slice(&[1]).unwrap();
        let text = "vm.builtin.reshape expects a Tensor or DLTensor*, but get int";
        failure(NAME, &[AnyView::from(1i64), AnyView::from(&shape)], "TypeError", text);
    }
}
