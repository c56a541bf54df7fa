//! Warnings to standard error, past the lock of `std::io::stderr`: a fork could leave that held.

extern crate std;

use core::mem::ManuallyDrop;
use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;

use crate::message::{Arg, Template};
use crate::text::Writer;

/// The longest line of `write`, in bytes.
const LINE_BYTES: usize = 1024;

/// The file descriptor of standard error.
const STDERR: i32 = 2;

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
    // SAFETY: the descriptor is the process's, which this file does not close.
    let mut stderr = ManuallyDrop::new(unsafe { File::from_raw_fd(STDERR) });
    let _ = stderr.write_all(&line[..=len]);
}
