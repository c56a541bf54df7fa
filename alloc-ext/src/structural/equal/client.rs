//! Structural equality, structural hash, and the first structural mismatch of two values.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::value::any::Any;

use crate::containers::Tuple;
use crate::global_function::library_function;
use crate::reflection::AccessPath;

mod options;
pub use options::Options;

/// Returns `true` if two values are structurally equal.
///
/// # Errors
/// TypeError for an object whose type has no structural kind; InternalError for tensors that are
/// not contiguous in CPU memory and whose content must be compared; errors of hooks and field
/// getters; MemoryError.
///
/// # Upstream
/// `StructuralEqual::Equal` in `extra/structural_equal.h`.
pub fn structural_equal(lhs: &Any, rhs: &Any, options: Options) -> Result<bool> {
    let Options { map_free_vars, skip_tensor_content } = options;
    library_function!("ffi.StructuralEqual").call((lhs, rhs, map_free_vars, skip_tensor_content))
}

/// Returns the access paths to the first difference of two values; `None` if they are equal.
///
/// # Errors
/// Errors of [`structural_equal`].
///
/// # Upstream
/// `StructuralEqual::GetFirstMismatch` in `extra/structural_equal.h`.
pub fn first_structural_mismatch(
    lhs: &Any,
    rhs: &Any,
    options: Options,
) -> Result<Option<(AccessPath, AccessPath)>> {
    let Options { map_free_vars, skip_tensor_content } = options;
    let paths: Option<Tuple<(AccessPath, AccessPath)>> = library_function!(
        "ffi.GetFirstStructuralMismatch"
    )
    .call((lhs, rhs, map_free_vars, skip_tensor_content))?;
    paths.map(|paths| paths.get()).transpose()
}

/// Returns the structural hash of a value. Structurally equal values have equal hashes.
///
/// # Errors
/// Errors of [`structural_equal`].
///
/// # Upstream
/// `StructuralHash::Hash` in `extra/structural_hash.h`.
pub fn structural_hash(value: &Any, options: Options) -> Result<u64> {
    let Options { map_free_vars, skip_tensor_content } = options;
    let hash: i64 = library_function!("ffi.StructuralHash").call((
        value,
        map_free_vars,
        skip_tensor_content,
    ))?;
    Ok(hash.cast_unsigned())
}
