//! The log: lines are written to standard error on hosts, and passed to a function that firmware sets on bare metal.

use crate::platform::text::Writer;

#[cfg(feature = "std")]
#[path = "std.rs"]
mod sink;
#[cfg(not(feature = "std"))]
#[path = "bare.rs"]
mod sink;

#[cfg(not(feature = "std"))]
pub use sink::set_sink;

/// Logs the line that `compose` writes, composed on the stack. Longer lines are truncated. Allocates nothing, ignores failures, and
/// holds no lock while the sink runs. [`plain_warn!`](crate::plain_warn) logs warnings.
#[inline]
pub(crate) fn line(compose: &dyn Fn(&mut Writer<'_>)) {
    sink::line(compose);
}
