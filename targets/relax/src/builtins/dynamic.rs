//! Builtins for shapes that are known only at run time.

use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::tensor::TensorRef;
use ferrite_core::{Any, AnyView, Function, Shape, plain_bail};

use super::Builtin;
use super::arguments::expect;
use crate::builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.shape_of", shape_of),
    builtin!(packed "vm.builtin.call_tir_dyn", call_tir_dyn),
];

/// Returns the shape of a tensor.
fn shape_of(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 1, "vm.builtin.shape_of")?;
    let [value, ..] = args else { return Ok(Any::NONE) };
    match TensorRef::from_view(value) {
        Some(tensor) => Shape::from_slice(tensor.shape()).map(Any::from),
        None => plain_bail!(
            TYPE_ERROR,
            "vm.builtin.shape_of expects a Tensor or DLTensor*, but get {}",
            type_table::type_key_of(value.type_index());
            "{} not a tensor",
            type_table::type_key_of(value.type_index())
        ),
    }
}

/// Calls a kernel with symbolic shapes. The arguments are (function, tensors…, shape); the extents
/// of the shape become the kernel's last arguments.
fn call_tir_dyn(args: &[AnyView<'_>]) -> Result<Any> {
    expect(args, 2, "vm.builtin.call_tir_dyn")?;
    let [function, tensors @ .., shape] = args else { return Ok(Any::NONE) };
    let (function, shape) = (function.get::<Function>()?, shape.get::<Shape>()?);
    let extents = shape.as_slice();
    let mut unpacked = Buffer::try_with_capacity(tensors.len() + extents.len())?;
    unpacked.try_extend_from_slice(tensors)?;
    for extent in extents {
        unpacked.try_push(AnyView::from(*extent))?;
    }
    function.call_packed(&unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::testing::{call, failure};
    use ferrite_core::Tensor;
    use ferrite_core::tensor::TensorView;

    #[test]
    fn the_shape_of_a_tensor_is_told() {
        let tensor = Tensor::from_slice(&[0u8; 6], &[2, 3]).unwrap();
        // SAFETY: the tensor outlives the view, and nobody writes its elements.
        let pointer = unsafe { TensorView::new(tensor.dl_tensor().into()) };
        for view in [AnyView::from(&tensor), AnyView::from(pointer)] {
            let shape = call("vm.builtin.shape_of", &[view]).get::<Shape>().unwrap();
            assert_eq!(shape.as_slice(), [2, 3]);
        }
        let expected = "vm.builtin.shape_of expects a Tensor or DLTensor*, but get ";
        for (view, key) in
            [(3i64.into(), "int"), (AnyView::NONE, "None"), (AnyView::from(c"s"), "const char*")]
        {
            failure("vm.builtin.shape_of", &[view], "TypeError", &std::format!("{expected}{key}"));
        }
        let text = "`vm.builtin.shape_of` expects at least 1 arguments, but got 0";
        failure("vm.builtin.shape_of", &[], "TypeError", text);
    }

    #[test]
    fn a_kernel_gets_the_extents_behind_its_tensors() {
        let join = |args: &[AnyView<'_>]| {
            let digits = args.iter().try_fold(0, |sum, arg| Ok(sum * 10 + arg.get::<i64>()?));
            digits.map(Any::from)
        };
        let join = Function::from_packed(join).unwrap();
        let shape = Shape::from_slice(&[7, 8]).unwrap();
        let (function, extents) = (AnyView::from(&join), AnyView::from(&shape));
        let result =
            call("vm.builtin.call_tir_dyn", &[function, 1i64.into(), 2i64.into(), extents]);
        assert_eq!(result.get::<i64>().unwrap(), 1278);
        assert_eq!(call("vm.builtin.call_tir_dyn", &[function, extents]).get::<i64>().unwrap(), 78);
    }

    #[test]
    fn a_kernel_and_a_shape_are_needed() {
        let name = "vm.builtin.call_tir_dyn";
        let shape = Shape::from_slice(&[]).unwrap();
        let (one, function) =
            (AnyView::from(1i64), Function::from_packed(|_| Ok(Any::NONE)).unwrap());
        let text = "Cannot convert from type `int` to `ffi.Function`";
        failure(name, &[one, AnyView::from(&shape)], "TypeError", text);
        let text = "Cannot convert from type `int` to `ffi.Shape`";
        failure(name, &[AnyView::from(&function), one], "TypeError", text);
        failure(
            name,
            &[one],
            "TypeError",
            "`vm.builtin.call_tir_dyn` expects at least 2 arguments, but got 1",
        );
        let fails = Function::from_packed(|_| ferrite_core::bail!(KeyError, "kernel")).unwrap();
        failure(name, &[AnyView::from(&fails), AnyView::from(&shape)], "KeyError", "kernel");
    }
}
