//! Table of all builtins of the build.

use ferrite_core::names::builtins::StaticFunction;

use super::*;

/// All groups of builtins.
pub static GROUPS: &[&[Builtin]] = &[
    memory::BUILTINS,
    tensor::BUILTINS,
    shape::BUILTINS,
    tuple::BUILTINS,
    control::BUILTINS,
    dynamic::BUILTINS,
    prim_value::BUILTINS,
    cuda_graph::BUILTINS,
    debug::BUILTINS,
    device::BUILTINS,
    kv_cache::BUILTINS,
    kv_state::BUILTINS,
    paged_kv_cache::BUILTINS,
    python::BUILTINS,
    random::BUILTINS,
    rnn_state::BUILTINS,
    sampling::BUILTINS,
    sort::BUILTINS,
    tensor_cache::BUILTINS,
];

/// Returns the builtin with this name.
pub fn find(name: &[u8]) -> Option<&'static Builtin> {
    GROUPS.iter().copied().flatten().find(|builtin| builtin.name().as_bytes() == name)
}

/// Returns the table entries that register a group as global functions.
pub const fn functions_of<const N: usize>(group: &[Builtin]) -> [StaticFunction; N] {
    assert!(group.len() == N && N > 0);
    let mut functions = [group[0].function; N];
    let mut at = 1;
    while at < N {
        functions[at] = group[at].function;
        at += 1;
    }
    functions
}

#[cfg(test)]
mod tests;
