//! Structural equality, hash and the first mismatch of two values.

use ferrite_core::builtins::StaticFunction;

/// The functions of this module.
///
/// # Upstream
/// The registrations in `structural_equal.cc, structural_hash.cc and structural_key.h`.
pub static FUNCTIONS: &[StaticFunction] = &[];
