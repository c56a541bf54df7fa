//! The log: warnings are written to standard error on hosts, and passed to a function that firmware
//! sets on bare metal.

use crate::error::message::{Arg, Template, Text};

#[cfg(feature = "std")]
#[path = "std.rs"]
mod sink;
#[cfg(not(feature = "std"))]
#[path = "bare.rs"]
mod sink;

#[cfg(not(feature = "std"))]
pub use sink::set_sink;

/// Logs a one-line warning from a template with `N` placeholders. Allocates nothing, ignores
/// failures, and holds no lock while the sink runs. For [`plain_warn!`](crate::plain_warn).
#[doc(hidden)]
#[inline(always)]
pub fn warn<const N: usize>(template: Template<N>, args: &[Arg<'_>; N]) {
    warn_of_text(template.text(), args.as_ptr());
}

#[cold]
#[inline(never)]
fn warn_of_text(text: Text, args: *const Arg<'_>) {
    // SAFETY: the template of the text has at most as many placeholders as there are arguments, by
    // its type.
    unsafe { sink::write(text, args) };
}
