//! Debugging builtins: calls of the user's functions, such as `relax.op.print` and assertions.

use ferrite_core::error::Result;
use ferrite_core::names::global_table;
use ferrite_core::platform::memory::Buffer;
use ferrite_core::{Any, AnyView, ObjectRef, String, plain_bail, plain_ensure};

use super::Builtin;
use crate::builtin;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] =
    &[builtin!(packed "vm.builtin.invoke_debug_func", invoke_debug_func)];

/// Calls a global function for debugging. The arguments are (None, name, source line, arguments…);
/// the function receives (source line, arguments…). Its result is dropped.
fn invoke_debug_func(args: &[AnyView<'_>]) -> Result<Any> {
    let [effect, name, passed @ ..] = args else { return Err(too_few(args.len())) };
    let [line, ..] = passed else { return Err(too_few(args.len())) };
    let effect = effect.get::<Option<ObjectRef>>()?;
    plain_ensure!(
        effect.is_none(),
        VALUE_ERROR,
        "Check failed: (!io_effect.defined()) is false: IOEffect is expected to be lowered to None."
    );
    let name = name.get::<String>()?;
    let Some(function) = global_table::get(name.as_bytes())? else {
        plain_bail!(
            VALUE_ERROR,
            "Check failed: (debug_func.has_value()) is false: {} is not found. Use the decorator \
             `@tvm.register_global_func(\"{}\")` to register it.",
            &name,
            &name;
            "{} is not found",
            &name
        );
    };
    let line = line.get::<String>()?;
    let mut call = Buffer::try_with_capacity(passed.len())?;
    call.try_push(AnyView::from(&line))?;
    call.try_extend_from_slice(passed.get(1..).unwrap_or_default())?;
    function.call_packed(&call)?;
    Ok(Any::NONE)
}

#[cold]
fn too_few(count: usize) -> ferrite_core::Error {
    ferrite_core::plain_error!(
        INTERNAL_ERROR,
        "Check failed: args.size() >= 3 ({} vs. 3) : ",
        count
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtins::testing::{call, failure};
    use ferrite_core::{Function, Shape};

    const NAME: &str = "vm.builtin.invoke_debug_func";

    #[test]
    fn the_function_gets_line_and_arguments_and_its_result_is_dropped() {
        let debug = |args: &[AnyView<'_>]| {
            assert_eq!(args[0].bytes_of_string(), Some(&b"model.py:1"[..]));
            assert_eq!(args[1].get::<i64>()?, 3);
            Ok(Any::from(args.len() as i64))
        };
        let name = "ferrite.test.debug";
        Function::set_global(name, &Function::from_packed(debug).unwrap(), true).unwrap();
        let name = String::new(name).unwrap();
        let args = [AnyView::NONE, AnyView::from(&name), AnyView::from(c"model.py:1"), 3i64.into()];
        assert!(call(NAME, &args).is_none());
    }

    #[test]
    fn mistakes_have_the_texts_of_tvm() {
        let (name, line) = (AnyView::from(c"nope"), AnyView::from(c"l"));
        let text = "Check failed: (debug_func.has_value()) is false: nope is not found. Use the decorator \
                    `@tvm.register_global_func(\"nope\")` to register it.";
        failure(NAME, &[AnyView::NONE, name, line], "ValueError", text);
        let shape = Shape::from_slice(&[]).unwrap();
        let text = "Check failed: (!io_effect.defined()) is false: IOEffect is expected to be lowered to None.";
        failure(NAME, &[AnyView::from(&shape), name, line], "ValueError", text);
        let text = "Cannot convert from type `int` to `Optional<ffi.Object>`";
        failure(NAME, &[3i64.into(), name, line], "TypeError", text);
        for count in 0..3 {
            let text = std::format!("Check failed: args.size() >= 3 ({count} vs. 3) : ");
            failure(NAME, &[AnyView::NONE, name, line][..count], "InternalError", &text);
        }
    }
}
