//! Registry of Python functions that compiled functions of the same module call.

use ferrite_core::error::Result;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, Function, String, plain_bail, plain_error};

use ferrite_alloc_ext::containers::Array;

use super::Builtin;
use super::named_values::NamedValues;
use crate::builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.call_py_func", call_py_func),
    builtin!("vm.builtin.register_py_func", register_py_func),
    builtin!("vm.builtin.get_py_func", get_py_func),
    builtin!("vm.builtin.clear_py_func_registry", clear_py_func_registry),
];

static TABLE: NamedValues<Function> = NamedValues::new();

/// Calls a registered function. The argument is a tuple (name, (arguments…)).
fn call_py_func(args: &[AnyView<'_>]) -> Result<Any> {
    let [call] = args else {
        plain_bail!(INTERNAL_ERROR, "vm.builtin.call_py_func expects exactly 1 argument (tuple)");
    };
    let call = call.get::<Array<Any>>()?;
    let [name, passed] = call.as_slice() else {
        plain_bail!(
            INTERNAL_ERROR,
            "vm.builtin.call_py_func tuple should contain (func_name, args)"
        );
    };
    let name = name.get::<String>()?;
    let passed = passed.get::<Array<Any>>()?;
    let function = get_py_func(name)?;
    let mut views = Buffer::try_with_capacity(passed.len())?;
    for value in passed.as_slice() {
        views.try_push(value.view())?;
    }
    function.call_packed(&views)
}

/// Registers a function, replacing an earlier one of the same name.
fn register_py_func(name: String, function: Function) -> Result<()> {
    TABLE.set(name, function)
}

/// Returns the function registered under a name.
fn get_py_func(name: String) -> Result<Function> {
    TABLE.get(name.as_bytes()).ok_or_else(|| {
        plain_error!(INTERNAL_ERROR, "Python function '{}' not found in registry", &name)
    })
}

/// Removes all registered functions.
fn clear_py_func_registry() {
    TABLE.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::testing::{call, failure};
    use ferrite_alloc_ext::containers::ArrayObject;

    fn tuple(values: &[Any]) -> ArrayObject {
        ArrayObject::from_slice(values).unwrap()
    }

    fn name(text: &str) -> String {
        String::new(text).unwrap()
    }

    #[test]
    fn functions_are_called_by_name_replaced_and_removed() {
        let sum = Function::from_typed(|a: i64, b: i64| a + b).unwrap();
        let product = Function::from_typed(|a: i64, b: i64| a * b).unwrap();
        let (called, passed) = (name("python.test"), tuple(&[Any::from(3i64), Any::from(4i64)]));
        let request = tuple(&[Any::from(called.clone()), Any::from(passed)]);
        for (function, expected) in [(&sum, 7), (&product, 12)] {
            call("vm.builtin.register_py_func", &[AnyView::from(&called), AnyView::from(function)]);
            let result = call("vm.builtin.call_py_func", &[AnyView::from(&request)]);
            assert_eq!(result.get::<i64>().unwrap(), expected);
        }
        assert!(
            call("vm.builtin.get_py_func", &[AnyView::from(&called)]).get::<Function>().is_ok()
        );
        call("vm.builtin.clear_py_func_registry", &[]);
        let text = "Python function 'python.test' not found in registry";
        failure("vm.builtin.get_py_func", &[AnyView::from(&called)], "InternalError", text);
        failure("vm.builtin.call_py_func", &[AnyView::from(&request)], "InternalError", text);
    }

    #[test]
    fn a_call_names_a_function_and_arguments() {
        let function = "vm.builtin.call_py_func";
        let text = "vm.builtin.call_py_func expects exactly 1 argument (tuple)";
        failure(function, &[], "InternalError", text);
        failure(function, &[1i64.into(), 2i64.into()], "InternalError", text);
        let text = "Cannot convert from type `int` to `Array<Any>`";
        failure(function, &[1i64.into()], "TypeError", text);
        let request = tuple(&[Any::from(name("f"))]);
        let text = "vm.builtin.call_py_func tuple should contain (func_name, args)";
        failure(function, &[AnyView::from(&request)], "InternalError", text);
        let request = tuple(&[Any::from(name("f")), Any::from(3i64)]);
        let text = "Cannot convert from type `int` to `Array<Any>`";
        failure(function, &[AnyView::from(&request)], "TypeError", text);
        let request = tuple(&[Any::from(1i64), Any::from(tuple(&[]))]);
        failure(
            function,
            &[AnyView::from(&request)],
            "TypeError",
            "Cannot convert from type `int` to `str`",
        );
    }
}
