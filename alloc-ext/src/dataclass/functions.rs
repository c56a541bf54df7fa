//! Global functions for recursive copy, comparison, hash and repr.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::static_function;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

/// Static table of the global functions for recursive operations.
///
/// # Upstream
/// The registrations in `src/ffi/extra/dataclass.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!("ffi.DeepCopy", deep_copy),
    static_function!("ffi.RecursiveEq", recursive_eq),
    static_function!("ffi.RecursiveGe", recursive_ge),
    static_function!("ffi.RecursiveGt", recursive_gt),
    static_function!("ffi.RecursiveHash", recursive_hash),
    static_function!("ffi.RecursiveLe", recursive_le),
    static_function!("ffi.RecursiveLt", recursive_lt),
    static_function!("ffi.ReprPrint", repr_print),
];

fn deep_copy(value: Any) -> Result<Any> {
    super::deep_copy(&value)
}

fn repr_print(value: Any) -> Result<String> {
    super::repr_print(&value)
}

fn recursive_hash(value: Any) -> Result<i64> {
    super::recursive_hash(&value)
}

fn recursive_eq(lhs: Any, rhs: Any) -> Result<bool> {
    super::recursive_eq(&lhs, &rhs)
}

fn recursive_lt(lhs: Any, rhs: Any) -> Result<bool> {
    super::recursive_compare(&lhs, &rhs).map(|order| order < 0)
}

fn recursive_le(lhs: Any, rhs: Any) -> Result<bool> {
    super::recursive_compare(&lhs, &rhs).map(|order| order <= 0)
}

fn recursive_gt(lhs: Any, rhs: Any) -> Result<bool> {
    super::recursive_compare(&lhs, &rhs).map(|order| order > 0)
}

fn recursive_ge(lhs: Any, rhs: Any) -> Result<bool> {
    super::recursive_compare(&lhs, &rhs).map(|order| order >= 0)
}
