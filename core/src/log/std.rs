//! The log on hosts: warnings are written to standard error without the lock of `std::io::stderr`, which could stay
//! locked in a forked child.

extern crate std;

use core::mem::ManuallyDrop;
use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;

use crate::message::{Arg, Template};
use crate::text::Writer;

/// Maximum length of a line in bytes.
const LINE_BYTES: usize = 1024;

/// The file descriptor of standard error.
const STDERR: i32 = 2;

/// Writes one line, composed on the stack to avoid allocation. Longer lines are truncated, and errors of the stream are
/// ignored.
///
/// # Safety
/// The requirements of [`Template::write`].
pub(super) unsafe fn write(template: Template, args: *const Arg<'_>) {
    let mut line = [0; LINE_BYTES];
    let mut out = Writer::new(&mut line);
    // SAFETY: the caller's promise.
    unsafe { template.write(args, &mut out) };
    let len = out.wanted.min(LINE_BYTES - 1);
    line[len] = b'\n';
    // SAFETY: the process owns the descriptor; `ManuallyDrop` never closes it.
    let mut stderr = ManuallyDrop::new(unsafe { File::from_raw_fd(STDERR) });
    let _ = stderr.write_all(&line[..=len]);
}
