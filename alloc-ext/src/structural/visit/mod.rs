//! Structural visits and walks, and the context of their errors.

use ferrite_core::builtins::StaticFunction;

/// The functions of this module.
///
/// # Upstream
/// The registrations in `structural_visit.cc and visit_error_context.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[];
