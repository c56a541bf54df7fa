//! Builtins for primitive arguments of models, such as integers, and for the symbolic values that
//! they define.

use ferrite_core::abi::{DLDataType, type_index};
use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::tensor::TensorView;
use ferrite_core::value::dtype::{self, code};
use ferrite_core::{Any, String, plain_bail, plain_ensure, plain_error};

use super::Builtin;
use super::arguments::context;
use super::shape_heap::{self, ShapeHeap};
use crate::builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!("vm.builtin.make_prim_value", make_prim_value),
    builtin!("vm.builtin.match_prim_value", match_prim_value),
    builtin!("vm.builtin.check_prim_value_info", check_prim_value_info),
    builtin!("vm.builtin.check_string_info", check_string_info),
];

/// Returns `value` (code 0), or the value at index `value` of the shape heap (code 1).
fn make_prim_value(heap: TensorView<'_>, code: i64, value: i64) -> Result<i64> {
    let _guard = shape_heap::guard::<false>(&heap.into())?;
    let heap = ShapeHeap::from_argument(heap);
    match code {
        0 => Ok(value),
        1 => heap.get(value),
        _ => plain_bail!(INTERNAL_ERROR, "Invalid shape code: {}", &code),
    }
}

/// Matches an argument: compares it with `value` (code 0) or the value at index `value` of the
/// shape heap (code 3), stores it there (code 1), or accepts it (code 2).
fn match_prim_value(
    argument: i64,
    heap: TensorView<'_>,
    code: i64,
    value: i64,
    error_context: Option<String>,
) -> Result<()> {
    let _guard = shape_heap::guard::<true>(&heap.into())?;
    let heap = ShapeHeap::from_argument(heap);
    let context = context(&error_context);
    match code {
        0 => plain_ensure!(
            argument == value,
            RUNTIME_ERROR,
            "Check failed: input_value == reg ({} vs. {}) : {} match_cast error,  PrimExpr mismatch to specified constant.",
            &argument,
            &value,
            context;
            "{}: {}, not {}",
            context,
            &argument,
            &value
        ),
        1 => heap.set(value, argument)?,
        2 => {}
        3 => {
            let known = heap.get(value)?;
            plain_ensure!(
                argument == known,
                RUNTIME_ERROR,
                "Check failed: input_value == heap_data[reg] ({} vs. {}) : {} match_cast error,  PrimExpr mismatch to a previous populated value.",
                &argument,
                &known,
                context;
                "{}: {}, not {}",
                context,
                &argument,
                &known
            );
        }
        _ => plain_bail!(INTERNAL_ERROR, "Unknown match shape code: {}", &code),
    }
    Ok(())
}

/// Checks that a value can be converted to a dtype.
fn check_prim_value_info(
    argument: Any,
    dtype: DLDataType,
    error_context: Option<String>,
) -> Result<()> {
    let view = argument.view();
    if view.is_none() || view.type_index() >= type_index::STATIC_OBJECT_BEGIN {
        return Err(object_refusal(view.type_index(), dtype, context(&error_context)));
    }
    let has_no_size = dtype.bits == 0 && dtype.lanes == 0;
    match dtype.code {
        code::BOOL => view.get::<bool>().map(drop),
        code::INT | code::UINT => view.get::<i64>().map(drop),
        code::FLOAT => view.get::<f64>().map(drop),
        code::OPAQUE_HANDLE if !has_no_size => view.get::<*mut core::ffi::c_void>().map(drop),
        _ => Err(dtype_refusal(dtype, context(&error_context))),
    }
}

/// Checks that a value is a string.
fn check_string_info(argument: Any, error_context: Option<String>) -> Result<()> {
    plain_ensure!(
        argument.view().bytes_of_string().is_some(),
        TYPE_ERROR,
        "Check failed: (value.as<ffi::String>().has_value()) is false: {} expect a string",
        context(&error_context);
        "{}: no text",
        context(&error_context)
    );
    Ok(())
}

#[cold]
fn object_refusal(type_index: i32, dtype: DLDataType, context: &[u8]) -> Error {
    let key = type_table::type_key_of(type_index);
    match dtype::to_string(dtype) {
        Ok(dtype) => plain_error!(
            TYPE_ERROR,
            "{}, expected dtype {}, but received ObjectRef of type {}",
            context,
            dtype.as_bytes(),
            key;
            "{}: {}, not {}",
            context,
            key,
            dtype.as_bytes()
        ),
        Err(error) => error,
    }
}

#[cold]
fn dtype_refusal(dtype: DLDataType, context: &[u8]) -> Error {
    match dtype::to_string(dtype) {
        Ok(dtype) => {
            plain_error!(TYPE_ERROR, "{}, unsupported dtype {}", context, dtype.as_bytes())
        }
        Err(error) => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::testing::{call, failure};
    use ferrite_core::{AnyView, Shape, Tensor};

    fn heap() -> Tensor {
        Tensor::from_slice(&[10i64, 20, 30], &[3]).unwrap()
    }

    fn float(bits: u8) -> DLDataType {
        DLDataType { code: code::FLOAT, bits, lanes: 1 }
    }

    #[test]
    fn a_value_comes_from_the_instruction_or_the_heap() {
        let heap = heap();
        let make = |code: i64, value: i64| [AnyView::from(&heap), code.into(), value.into()];
        assert_eq!(call("vm.builtin.make_prim_value", &make(0, 7)).get::<i64>().unwrap(), 7);
        assert_eq!(call("vm.builtin.make_prim_value", &make(1, 2)).get::<i64>().unwrap(), 30);
        failure(
            "vm.builtin.make_prim_value",
            &make(7, 0),
            "InternalError",
            "Invalid shape code: 7",
        );
        for index in [3, -1, i64::MAX] {
            let text =
                std::format!("The shape heap has 3 values, but number {index} was asked for");
            failure("vm.builtin.make_prim_value", &make(1, index), "InternalError", &text);
        }
    }

    #[test]
    fn an_argument_is_stored_or_compared() {
        let (heap, context) = (heap(), String::new("ctx").unwrap());
        let matched = |argument: i64, code: i64, value: i64| {
            [
                argument.into(),
                AnyView::from(&heap),
                code.into(),
                value.into(),
                AnyView::from(&context),
            ]
        };
        let name = "vm.builtin.match_prim_value";
        call(name, &matched(5, 1, 2));
        assert_eq!(heap.as_slice::<i64>().unwrap(), [10, 20, 5]);
        call(name, &matched(5, 0, 5));
        call(name, &matched(5, 2, 99));
        call(name, &matched(20, 3, 1));
        let text = "Check failed: input_value == reg (5 vs. 2) : ctx match_cast error,  PrimExpr mismatch to specified constant.";
        failure(name, &matched(5, 0, 2), "RuntimeError", text);
        let text = "Check failed: input_value == heap_data[reg] (5 vs. 20) : ctx match_cast error,  PrimExpr mismatch to a \
                    previous populated value.";
        failure(name, &matched(5, 3, 1), "RuntimeError", text);
        failure(name, &matched(5, 9, 1), "InternalError", "Unknown match shape code: 9");
        let text = "The shape heap has 3 values, but number 4 was asked for";
        failure(name, &matched(5, 1, 4), "InternalError", text);
    }

    #[test]
    fn a_text_passes_and_other_values_do_not() {
        let (name, context) = ("vm.builtin.check_string_info", String::new("ctx").unwrap());
        let long = String::new("a text of many bytes").unwrap();
        for text in [AnyView::from(&context), AnyView::from(&long), AnyView::from(c"raw")] {
            assert!(call(name, &[text, AnyView::NONE]).is_none());
        }
        let expected =
            "Check failed: (value.as<ffi::String>().has_value()) is false: ctx expect a string";
        for value in [AnyView::NONE, 3i64.into()] {
            failure(name, &[value, AnyView::from(&context)], "TypeError", expected);
        }
    }

    #[test]
    fn a_value_must_convert_to_its_dtype() {
        let (name, context) = ("vm.builtin.check_prim_value_info", String::new("ctx").unwrap());
        let int = DLDataType { code: code::INT, bits: 32, lanes: 1 };
        let handle = DLDataType { code: code::OPAQUE_HANDLE, bits: 0, lanes: 0 };
        let check = |value: AnyView<'_>, dtype: &DLDataType, expected: Option<&str>| {
            let args = [value, AnyView::from(dtype), AnyView::from(&context)];
            match expected {
                None => assert!(call(name, &args).is_none()),
                Some(text) => failure(name, &args, "TypeError", text),
            }
        };
        check(3i64.into(), &int, None);
        check(3i64.into(), &float(32), None);
        check(2.5f64.into(), &float(16), None);
        check(2.5f64.into(), &int, Some("Cannot convert from type `float` to `int`"));
        check(3i64.into(), &handle, Some("ctx, unsupported dtype "));
        let shape = Shape::from_slice(&[1]).unwrap();
        let text = "ctx, expected dtype int32, but received ObjectRef of type ffi.Shape";
        check(AnyView::from(&shape), &int, Some(text));
        check(
            AnyView::NONE,
            &int,
            Some("ctx, expected dtype int32, but received ObjectRef of type None"),
        );
    }
}
