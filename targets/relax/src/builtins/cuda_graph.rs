//! Builtins of models for CUDA graphs. They call the functions that a graph would capture, on any device and each time anew,
//! with the same results.

use ferrite_alloc_ext::containers::Array;
use ferrite_core::error::Result;
use ferrite_core::memory::Buffer;
use ferrite_core::{Any, AnyView, Shape, plain_bail};

use super::Builtin;
use crate::builtin;
use crate::machine::Context;

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.cuda_graph.run_or_capture", run),
    builtin!(packed "vm.builtin.cuda_graph.get_cached_alloc", allocate),
];

/// Calls a function. The arguments are (machine, function, tuple of its arguments, number of the function[, shape of the
/// symbolic values that it depends on]).
fn run(args: &[AnyView<'_>]) -> Result<Any> {
    let ([machine, function, passed, number] | [machine, function, passed, number, _]) = args else {
        plain_bail!(INTERNAL_ERROR, "Check failed: (args.size() == 5 || args.size() == 4) is false: ");
    };
    number.get::<i64>()?;
    if let Some(shape) = args.get(4) {
        shape.get::<Shape>()?;
    }
    let passed = passed.get::<Array<Any>>()?;
    let mut views = Buffer::try_with_capacity(passed.as_slice().len())?;
    for value in passed.as_slice() {
        views.try_push(value.view())?;
    }
    machine.get::<Context>()?.invoke(function, &views)
}

/// Calls a function that allocates storages. The arguments are (machine, function, number of the function).
fn allocate(args: &[AnyView<'_>]) -> Result<Any> {
    let [machine, function, number] = args else {
        plain_bail!(INTERNAL_ERROR, "Check failed: args.size() == 3 ({} vs. 3) : ", args.len());
    };
    number.get::<i64>()?;
    machine.get::<Context>()?.invoke(function, &[])
}

#[cfg(test)]
mod tests {
    use crate::builtins::testing::failure;

    #[test]
    fn the_number_of_arguments_is_checked() {
        let text = "Check failed: (args.size() == 5 || args.size() == 4) is false: ";
        failure("vm.builtin.cuda_graph.run_or_capture", &[1i64.into()], "InternalError", text);
        let text = "Check failed: args.size() == 3 (1 vs. 3) : ";
        failure("vm.builtin.cuda_graph.get_cached_alloc", &[1i64.into()], "InternalError", text);
    }
}
