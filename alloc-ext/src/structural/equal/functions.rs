//! The global functions on structure.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::builtins::StaticFunction;
use ferrite_core::error::Result;
use ferrite_core::static_function;

use super::{Options, first_structural_mismatch, structural_equal, structural_hash};
use crate::containers::Tuple;
use crate::reflection::AccessPath;

/// The functions of this module that answer with plain values.
///
/// # Upstream
///
/// The registrations in `structural_equal.cc` and `structural_hash.cc`.
pub static FUNCTIONS: &[StaticFunction] =
    &[static_function!("ffi.StructuralEqual", equal), static_function!("ffi.StructuralHash", hash)];

/// The functions of this module that answer with access paths, a class that [`crate::reflection::install`] registers.
pub static PATH_FUNCTIONS: &[StaticFunction] =
    &[static_function!("ffi.GetFirstStructuralMismatch", first_mismatch)];

fn equal(lhs: Any, rhs: Any, map_free_vars: bool, skip_tensor_content: bool) -> Result<bool> {
    structural_equal(&lhs, &rhs, Options { map_free_vars, skip_tensor_content })
}

type Paths = Tuple<(AccessPath, AccessPath)>;

fn first_mismatch(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> Result<Option<Paths>> {
    let paths = first_structural_mismatch(&lhs, &rhs, Options { map_free_vars, skip_tensor_content })?;
    paths.map(Tuple::new).transpose()
}

fn hash(value: Any, map_free_vars: bool, skip_tensor_content: bool) -> Result<i64> {
    structural_hash(&value, Options { map_free_vars, skip_tensor_content }).map(|hash| hash as i64)
}
