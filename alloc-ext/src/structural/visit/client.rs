//! Orders of walks, and the search for the access paths of an error.
#![forbid(unsafe_code)]

use ferrite_core::error::Result;
use ferrite_core::object::ObjectRef;

use crate::containers::Array;
use crate::global_function::library_function;
use crate::reflection::{AccessPath, VisitErrorContext};

mod order;
pub use order::WalkOrder;

/// Finds the paths from `root` to the innermost node of the context that pass the other nodes in
/// order, with any steps in between.
///
/// With `allow_prefix_match`, also returns paths that match only the outer nodes, where no longer
/// match exists.
///
/// # Errors
/// Errors of field getters; MemoryError.
///
/// # Upstream
/// `VisitErrorContext::FindAccessPaths` in `visit_error_context.cc`.
pub fn find_access_paths(
    root: ObjectRef,
    context: &VisitErrorContext,
    allow_prefix_match: bool,
) -> Result<Array<AccessPath>> {
    library_function!("ffi.VisitErrorContext.FindAccessPaths").call((
        root,
        context,
        allow_prefix_match,
    ))
}
