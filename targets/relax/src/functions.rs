//! Global functions of this build: loaders of executables, and the builtins of compiled models.
//! They are defaults, which yield to functions that TVM's own runtime registers.

#[cfg(feature = "all-builtins")]
mod defaults {
    use ferrite_core::names::defaults::Group;

    use ferrite_core::static_function;

    use crate::builtins::{self, functions_of};
    use crate::model::load_params;
    #[cfg(feature = "std")]
    use crate::model::load_params_from_file;
    #[cfg(feature = "std")]
    use crate::module::load_from_file;
    use crate::module::{builtins_module, load_from_bytes};

    /// Creates a group with a single function.
    macro_rules! single {
        ($prefix:literal, $function:expr) => {
            Group { prefix: $prefix, functions: &[$function], wrap: None }
        };
    }

    /// Creates a group of builtins whose names share a prefix.
    macro_rules! group {
        ($prefix:literal, $($file:ident)::+) => {
            Group {
                prefix: $prefix,
                functions: &functions_of::<{ $($file)::+::BUILTINS.len() }>($($file)::+::BUILTINS),
                wrap: None,
            }
        };
    }

    /// All groups: the loaders, and the builtins of each file.
    pub const GROUPS: &[Group] = &[
        single!(
            "ffi.Module.load_from_bytes.",
            static_function!(packed "ffi.Module.load_from_bytes.relax.VMExecutable", load_from_bytes)
        ),
        #[cfg(feature = "std")]
        single!(
            "ffi.Module.load_from_file.",
            static_function!("ffi.Module.load_from_file.relax.VMExecutable", load_from_file)
        ),
        single!("runtime.", static_function!("runtime.LoadParams", load_params)),
        #[cfg(feature = "std")]
        single!("runtime.", static_function!("runtime.LoadParamsFromFile", load_params_from_file)),
        #[cfg(feature = "std")]
        single!("relax.", static_function!("relax.ExecutableLoadFromFile", load_from_file)),
        // Names of this library alone, which find its machine and builtins after TVM has registered
        // its own.
        Group {
            prefix: "ferrite.relax.",
            functions: &[
                static_function!(packed "ferrite.relax.load_from_bytes", load_from_bytes),
                #[cfg(feature = "std")]
                static_function!("ferrite.relax.load_from_file", load_from_file),
                static_function!("ferrite.relax.builtins", builtins_module),
            ],
            wrap: None,
        },
        group!("vm.builtin.", builtins::memory),
        group!("vm.builtin.", builtins::tensor),
        group!("vm.builtin.", builtins::shape),
        group!("vm.builtin.", builtins::tuple),
        group!("vm.builtin.", builtins::control),
        group!("vm.builtin.", builtins::dynamic),
        group!("vm.builtin.", builtins::prim_value),
        group!("vm.builtin.", builtins::cuda_graph),
        group!("vm.builtin.", builtins::debug),
        group!("vm.builtin.", builtins::device),
        group!("vm.builtin.", builtins::kv_cache),
        group!("vm.builtin.", builtins::kv_state),
        group!("vm.builtin.", builtins::paged_kv_cache),
        group!("vm.builtin.", builtins::python),
        group!("vm.builtin.", builtins::rnn_state),
        group!("vm.builtin.", builtins::sampling),
        group!("vm.builtin.", builtins::tensor_cache),
        group!("tvm.contrib.random.", builtins::random),
        group!("tvm.contrib.sort.", builtins::sort),
    ];
}

#[cfg(feature = "all-builtins")]
pub use defaults::GROUPS;
