//! The global functions of this build: loaders of executables, and the builtins of compiled models. On hosts they are defaults, which
//! yield to the functions that TVM's own runtime registers.

#[cfg(feature = "std")]
mod defaults {
    use ferrite_core::defaults::Group;

    use crate::builtins::{self, functions_of};

    /// A group of builtins whose names have a prefix in common.
    macro_rules! group {
        ($prefix:literal, $($file:ident)::+) => {
            Group {
                prefix: $prefix,
                functions: &functions_of::<{ $($file)::+::BUILTINS.len() }>($($file)::+::BUILTINS),
                wrap: None,
            }
        };
    }

    /// All groups: one for each file of builtins.
    pub const GROUPS: &[Group] = &[
        group!("vm.builtin.", builtins::memory),
        group!("vm.builtin.", builtins::dynamic),
        group!("vm.builtin.", builtins::prim_value),
        group!("vm.builtin.", builtins::debug),
        group!("vm.builtin.", builtins::device),
        group!("vm.builtin.", builtins::kv_cache),
        group!("vm.builtin.", builtins::python),
        group!("vm.builtin.", builtins::sampling),
        group!("tvm.contrib.sort.", builtins::sort),
    ];
}

#[cfg(feature = "std")]
pub use defaults::GROUPS;
