//! Global functions for structural equality and hash.

use ferrite_core::error::Result;
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::static_function;
use ferrite_core::value::any::Any;

use super::calls::Structure;
use super::{Options, first_structural_mismatch};
use crate::containers::Tuple;
use crate::operation::operation;
use crate::reflection::AccessPath;

/// Static function table of this module, without the functions that return access paths.
///
/// # Upstream
/// The registrations in `structural_equal.cc` and `structural_hash.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    operation!(Equal of Structure, "ffi.StructuralEqual", (Any, Any, bool, bool) -> bool),
    operation!(Hash of Structure, "ffi.StructuralHash", (Any, bool, bool) -> i64),
];

/// Static table of the functions that return access paths. Separate, because
/// [`crate::reflection::install`] must have registered the class.
pub static PATH_FUNCTIONS: &[StaticFunction] =
    &[static_function!("ffi.GetFirstStructuralMismatch", first_mismatch)];

type Paths = Tuple<(AccessPath, AccessPath)>;

fn first_mismatch(
    lhs: Any,
    rhs: Any,
    map_free_vars: bool,
    skip_tensor_content: bool,
) -> Result<Option<Paths>> {
    let paths =
        first_structural_mismatch(&lhs, &rhs, Options { map_free_vars, skip_tensor_content })?;
    paths.map(Tuple::new).transpose()
}
