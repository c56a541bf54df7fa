//! The global functions on whole values.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::builtins::StaticFunction;
use ferrite_core::error::Result;
use ferrite_core::static_function;
use ferrite_core::string::String;

/// The functions of this module.
///
/// # Upstream
///
/// The registrations in `src/ffi/extra/dataclass.cc`.
pub static FUNCTIONS: &[StaticFunction] =
    &[static_function!("ffi.DeepCopy", deep_copy), static_function!("ffi.ReprPrint", repr_print)];

fn deep_copy(value: Any) -> Result<Any> {
    super::deep_copy(&value)
}

fn repr_print(value: Any) -> Result<String> {
    super::repr_print(&value)
}
