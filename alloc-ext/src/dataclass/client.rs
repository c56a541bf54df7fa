//! Recursive operations on values by the reflection of the loaded `libtvm_ffi`: repr, deep copy,
//! equality, order and hash.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

use crate::global_function::library_function;

/// Returns `true` if two values are equal, recursively.
///
/// # Errors
/// Errors of hooks and getters; MemoryError.
///
/// # Upstream
/// `RecursiveEq` in `extra/dataclass.h`.
pub fn recursive_eq(lhs: &Any, rhs: &Any) -> Result<bool> {
    library_function!("ffi.RecursiveEq").call((lhs, rhs))
}

/// Compares two values. Returns a negative number, zero or a positive number.
///
/// # Errors
/// TypeError for different types and for values without an order; errors of [`recursive_eq`].
///
/// # Upstream
/// `RecursiveLt` and `RecursiveGt` in `extra/dataclass.h`.
pub fn recursive_compare(lhs: &Any, rhs: &Any) -> Result<i32> {
    if library_function!("ffi.RecursiveLt").call((lhs, rhs))? {
        return Ok(-1);
    }
    let is_greater: bool = library_function!("ffi.RecursiveGt").call((lhs, rhs))?;
    Ok(i32::from(is_greater))
}

/// Returns the recursive hash of a value. Values that are equal by [`recursive_eq`] have equal
/// hashes.
///
/// # Errors
/// ValueError for an object whose type has an equality or comparison hook but no hash hook; errors
/// of hooks and getters; MemoryError.
///
/// # Upstream
/// `RecursiveHash` in `extra/dataclass.h`.
pub fn recursive_hash(value: &Any) -> Result<i64> {
    library_function!("ffi.RecursiveHash").call((value,))
}

/// Copies a value with everything that can be reached from it.
///
/// # Errors
/// Errors for an object whose type cannot be copied, such as a function or tensor; errors of hooks,
/// getters and setters; MemoryError.
///
/// # Upstream
/// `DeepCopy` in `extra/dataclass.h`.
pub fn deep_copy(value: &Any) -> Result<Any> {
    library_function!("ffi.DeepCopy").call((value,))
}

/// Returns the repr of a value: human-readable text, recursively.
///
/// # Errors
/// Errors of hooks and getters; MemoryError.
///
/// # Upstream
/// `ReprPrint` in `extra/dataclass.h`.
pub fn repr_print(value: &Any) -> Result<String> {
    library_function!("ffi.ReprPrint").call((value,))
}
