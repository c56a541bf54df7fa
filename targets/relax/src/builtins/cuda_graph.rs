//! Builtins of models whose parts may be recorded: on a device with graphs, such as CUDA, the first
//! call of a part records its commands, and later ones repeat them. On other devices, and while the
//! current stream is being recorded by others, each call calls the part's function, with the same
//! results.

use ferrite_alloc_ext::containers::Array;
use ferrite_core::error::Result;
use ferrite_core::{Any, AnyView, Shape, plain_bail};

use super::Builtin;
use crate::builtin;
use crate::machine::{Context, Part};

/// The builtins of this file.
pub const BUILTINS: &[Builtin] = &[
    builtin!(packed "vm.builtin.cuda_graph.run_or_capture", run),
    builtin!(packed "vm.builtin.cuda_graph.get_cached_alloc", allocate),
];

/// Calls a part of the model. The arguments are (machine, function, tuple of its arguments, number
/// of the part[, shape of the symbolic values that it depends on]).
fn run(args: &[AnyView<'_>]) -> Result<Any> {
    let ([machine, function, passed, number] | [machine, function, passed, number, _]) = args
    else {
        plain_bail!(
            INTERNAL_ERROR,
            "Check failed: (args.size() == 5 || args.size() == 4) is false: "
        );
    };
    let values = match args.get(4) {
        Some(shape) => Some(shape.get::<Shape>()?),
        None => None,
    };
    let part = Part { number: number.get()?, values };
    let passed = passed.get::<Array<Any>>()?;
    Context::with_argument(machine, |context| {
        context.machine().record_or_repeat(function, passed, part)
    })
}

/// Calls a function that allocates the storages of parts. The arguments are (machine, function,
/// number of the function).
fn allocate(args: &[AnyView<'_>]) -> Result<Any> {
    let [machine, function, number] = args else {
        plain_bail!(INTERNAL_ERROR, "Check failed: args.size() == 3 ({} vs. 3) : ", args.len());
    };
    let number = number.get()?;
    Context::with_argument(machine, |context| context.machine().allocate_once(function, number))
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
