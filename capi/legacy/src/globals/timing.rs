//! Global functions that measure how long a function of a module runs: `time_evaluator` of the
//! front ends.

use ferrite_alloc_ext::module::Module;
use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::global_table;
use ferrite_core::{Any, AnyView, Function, String, static_function};
use ferrite_rpc::functions::{self, HostTiming};

/// Functions of TVM 0.5 and 0.6.
pub const OLD: &[StaticFunction] =
    &[static_function!(packed "module._RPCTimeEvaluator", time_evaluator)];

/// Functions of TVM 0.7 and later.
pub const RUNTIME: &[StaticFunction] =
    &[static_function!(packed "runtime.RPCTimeEvaluator", time_evaluator)];

fn time_evaluator(args: &[AnyView<'_>]) -> Result<Any> {
    functions::time_evaluator(HostTiming::new(function), args)
}

fn function(module: AnyView<'_>, name: &String) -> Result<Option<Function>> {
    match module.is_none() {
        true => global_table::get(name.as_bytes()),
        false => module.get::<Module>()?.get_function(name, true),
    }
}
