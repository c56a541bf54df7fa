//! Builtins for control flow and closures.

use ferrite_core::abi::DLDataType;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::tensor::TensorView;
use ferrite_core::value::dtype;
use ferrite_core::{Any, AnyView, Function, ObjectRef, String, Tensor, plain_bail, plain_ensure};

use super::Builtin;
use super::arguments::context;
use super::tensor::in_main_memory;
use crate::builtin;
use crate::machine::{Closure, Context, bind_last_arguments, to_owned_values};

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.copy", copy),
    builtin!(packed "vm.builtin.read_if_cond", read_if_cond),
    builtin!(packed "vm.builtin.make_closure", make_closure),
    builtin!(packed "vm.builtin.invoke_closure", invoke_closure),
    builtin!("vm.builtin.check_func_info", check_func_info),
];

/// Implements `vm.builtin.copy`: returns its argument.
fn copy(args: &[AnyView<'_>]) -> Result<Any> {
    match args {
        // SAFETY: registers end before the arguments of the model do; other callers get results by
        // `Any::from_result`, which refuses a pointer.
        [value] => unsafe { (*value).to_owned_or_pointer() },
        _ => plain_bail!(TYPE_ERROR, "vm.builtin.copy takes 1 argument, but got {}", args.len()),
    }
}

/// Implements `vm.builtin.read_if_cond`: returns the truth value of an integer or a scalar tensor.
fn read_if_cond(args: &[AnyView<'_>]) -> Result<Any> {
    let [condition] = args else {
        plain_bail!(TYPE_ERROR, "vm.builtin.read_if_cond takes 1 argument, but got {}", args.len());
    };
    if let Some(truth) = condition.try_get::<bool>()? {
        return Ok(truth.into());
    }
    let tensor: Tensor = condition.get()?;
    let tensor = in_main_memory(&tensor)?;
    let DLDataType { code, bits, lanes } = tensor.dtype();
    let is_integer = matches!(code, dtype::code::INT | dtype::code::UINT | dtype::code::BOOL);
    plain_ensure!(
        is_integer && lanes == 1,
        INTERNAL_ERROR,
        "A condition must be an integer or a boolean"
    );
    plain_ensure!(
        matches!(bits, 1 | 8 | 16 | 32 | 64),
        INTERNAL_ERROR,
        "Unknown scalar int type: a condition has 1, 8, 16, 32 or 64 bits, not {}",
        usize::from(bits)
    );
    let bytes = usize::from(bits).div_ceil(8);
    let held = tensor.as_tensor_ref().size_bytes();
    plain_ensure!(
        held.is_some_and(|held| held >= bytes),
        INTERNAL_ERROR,
        "A condition must have an element"
    );
    let record = tensor.dl_tensor();
    let _guard = TensorView::from(&tensor).read_guard()?;
    // SAFETY: the tensor has an element of that many bytes in main memory, which nobody writes
    // while they are borrowed.
    let element = unsafe {
        core::slice::from_raw_parts(
            record.data.cast::<u8>().add(record.byte_offset as usize),
            bytes,
        )
    };
    Ok(element.iter().any(|byte| *byte != 0).into())
}

/// Checks that a value is a function or a closure.
fn check_func_info(value: ObjectRef, error_context: Option<String>) -> Result<()> {
    let is_callable =
        value.as_class::<Function>().is_some() || value.as_class::<Closure>().is_some();
    plain_ensure!(
        is_callable,
        TYPE_ERROR,
        "Check failed: (is_func) is false: {} expect a Function but get {}",
        context(&error_context),
        type_table::type_key_of(value.type_index())
    );
    Ok(())
}

/// Binds the last arguments of a closure. The arguments are (closure, bound arguments…). Returns
/// the new closure.
fn make_closure(args: &[AnyView<'_>]) -> Result<Any> {
    let Some((closure, last)) = args.split_first() else {
        plain_bail!(TYPE_ERROR, "vm.builtin.make_closure takes 1 or more arguments, but got none");
    };
    let closure: Closure = closure.get()?;
    let function = bind_last_arguments(closure.function().clone(), to_owned_values(last)?)?;
    Ok(Closure::new(closure.name().clone(), function)?.into())
}

/// Calls a closure or a function. The arguments are (machine, callee, arguments…).
fn invoke_closure(args: &[AnyView<'_>]) -> Result<Any> {
    let [machine, callee, args @ ..] = args else {
        plain_bail!(
            TYPE_ERROR,
            "vm.builtin.invoke_closure takes 2 or more arguments, but got {}",
            args.len()
        );
    };
    Context::with_argument(machine, |context| context.invoke(callee, args))
}

#[cfg(test)]
mod check_tests {
    use super::*;
    use crate::builtins::testing::{call, failure};

    #[test]
    fn functions_pass_and_other_objects_do_not() {
        let (name, text) = ("vm.builtin.check_func_info", String::new("ctx").unwrap());
        let function = Function::from_packed(|_| Ok(Any::NONE)).unwrap();
        call(name, &[AnyView::from(&function), AnyView::from(&text)]);
        let shape = ferrite_core::Shape::from_slice(&[]).unwrap();
        let expected = "Check failed: (is_func) is false: ctx expect a Function but get ffi.Shape";
        failure(name, &[AnyView::from(&shape), AnyView::from(&text)], "TypeError", expected);
    }
}
