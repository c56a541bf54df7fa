//! Device attributes as text, in the formats of TVM's own back ends.
#![forbid(unsafe_code)]

use ferrite_core::String;
use ferrite_core::error::Result;

/// Formats the maximum extents of a block, such as `[1024, 1024, 64]`.
///
/// # Errors
/// MemoryError.
pub fn extents(x: i64, y: i64, z: i64) -> Result<String> {
    String::format(format_args!("[{x}, {y}, {z}]"))
}

/// Formats a version, such as `9.0`.
///
/// # Errors
/// MemoryError.
pub fn version(major: i64, minor: i64) -> Result<String> {
    String::format(format_args!("{major}.{minor}"))
}
