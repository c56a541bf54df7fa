//! The log on hosts: warnings are written to standard error.

use crate::error::message::{Arg, Text};
use crate::platform::log;
use crate::platform::text::Writer;

/// Maximum length of a line in bytes.
const LINE_BYTES: usize = 1024;

/// Writes one line, composed on the stack to avoid allocation. Longer lines are truncated, and
/// errors of the stream are ignored.
///
/// # Safety
/// Same requirements as [`Template::write`].
pub(super) unsafe fn write(text: Text, args: *const Arg<'_>) {
    let mut line = [0; LINE_BYTES];
    let mut out = Writer::new(&mut line);
    // SAFETY: the caller's promise.
    unsafe { text.write(args, &mut out) };
    let len = out.wanted.min(LINE_BYTES - 1);
    line[len] = b'\n';
    log::write(&line[..=len]);
}
