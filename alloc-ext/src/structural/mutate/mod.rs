//! Structural maps and mutations.

use ferrite_core::builtins::StaticFunction;

/// The functions of this module.
///
/// # Upstream
/// The registrations in `structural_mutate.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[];
