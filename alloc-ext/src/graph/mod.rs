//! Graphs of objects as JSON, both ways.

use ferrite_core::builtins::StaticFunction;

/// The functions of this module.
///
/// # Upstream
/// The registrations in `serialization.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[];
