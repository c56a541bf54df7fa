//! Where warnings go: standard error on hosts, a hook that firmware sets elsewhere.
#![forbid(unsafe_code)]

use core::fmt;

#[cfg(feature = "std")]
#[path = "log/stderr.rs"]
mod sink;
#[cfg(not(feature = "std"))]
#[path = "log/hook.rs"]
mod sink;

#[cfg(not(feature = "std"))]
pub use sink::set_sink;

/// Writes one line of warning. Allocates nothing, fails silently, and holds no lock while the hook runs.
pub fn warn(message: fmt::Arguments<'_>) {
    sink::write(message);
}
