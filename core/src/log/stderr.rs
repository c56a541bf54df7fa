//! Warnings to standard error.

extern crate std;

use std::io::Write;

use crate::message::{Arg, Template};
use crate::text::Writer;

/// The longest line of `write`, in bytes.
const LINE_BYTES: usize = 1024;

/// Writes one line, put together on the stack: there may be no memory. What is longer is cut; a closed
/// standard error is no reason to fail.
///
/// # Safety
/// As for [`Template::write`].
pub(super) unsafe fn write(template: Template, args: *const Arg<'_>) {
    let mut line = [0; LINE_BYTES];
    let mut out = Writer::new(&mut line);
    // SAFETY: the caller's promise.
    unsafe { template.write(args, &mut out) };
    let len = out.wanted.min(LINE_BYTES - 1);
    line[len] = b'\n';
    let _ = std::io::stderr().write_all(&line[..=len]);
}
