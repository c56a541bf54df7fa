//! The global functions that front ends look up, grouped by the generation of their names.
//!
//! They are [defaults](ferrite_core::names::defaults): a function that is registered under one of
//! these names replaces the default.

mod array_bytes;
mod containers;
pub(super) mod data_types;
mod device;
mod graph;
mod modules;
mod nodes;
mod parameters;
mod timing;
mod values;

use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::defaults::Group;

const fn group(prefix: &'static str, functions: &'static [StaticFunction]) -> Group {
    Group { prefix, functions, wrap: None }
}

/// The groups of functions that every library has, each with the common prefix of its names.
pub const GROUPS: &[Group] = &[
    group("module.", modules::OLD),
    group("runtime.", modules::RUNTIME),
    group("_", containers::OLD),
    group("runtime.", containers::RUNTIME),
    group("_", values::OLD),
    group("runtime.", values::RUNTIME),
    group("_", nodes::OLD),
    group("runtime.", nodes::RUNTIME),
    group("node.", nodes::NODE),
    group("node.", values::NODE),
    group("_", device::OLD),
    group("runtime.", device::RUNTIME),
    group("_", data_types::OLD),
    group("runtime.", data_types::RUNTIME),
    group("dtype.", data_types::CURRENT),
    group("module.", timing::OLD),
    group("runtime.", parameters::RUNTIME),
];

/// The groups for libraries without device back ends. In other libraries, `ferrite-ffi-gpu`
/// provides these functions.
pub const WITHOUT_BACK_ENDS: &[Group] = &[
    group("runtime.", modules::RUNTIME_WITHOUT_BACK_ENDS),
    group("runtime.", device::RUNTIME_WITHOUT_BACK_ENDS),
];

/// The group for libraries without clients of remote calls. In other libraries, `ferrite-ffi-rpc`
/// provides the function, for local and remote modules.
pub const WITHOUT_REMOTE_CALLS: &[Group] = &[group("runtime.", timing::RUNTIME)];

/// The group for libraries without whole models. In other libraries, `ferrite-ffi-relax` provides
/// these functions.
pub const WITHOUT_MODELS: &[Group] = &[group("runtime.", parameters::RUNTIME_WITHOUT_MODELS)];
