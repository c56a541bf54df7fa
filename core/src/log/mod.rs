//! The log: warnings to standard error on hosts, or to a function that firmware sets.

use crate::message::{Arg, Template};

#[cfg(feature = "std")]
#[path = "std.rs"]
mod sink;
#[cfg(not(feature = "std"))]
#[path = "bare.rs"]
mod sink;

#[cfg(not(feature = "std"))]
pub use sink::set_sink;

/// Logs a warning of one line from a template with `N` placeholders. Allocates nothing, fails silently, and holds no
/// lock while the sink runs. For [`plain_warn!`](crate::plain_warn).
#[doc(hidden)]
#[inline(always)]
pub fn warn<const N: usize>(template: Template, args: &[Arg<'_>; N]) {
    warn_of_template(template, args.as_ptr());
}

#[cold]
#[inline(never)]
fn warn_of_template(template: Template, args: *const Arg<'_>) {
    // SAFETY: the macro that makes templates checks that placeholders and arguments are equally many.
    unsafe { sink::write(template, args) };
}
