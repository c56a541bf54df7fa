//! Standard error on Unix, by its descriptor: the lock of `std::io::stderr` could stay locked in a
//! forked child.

extern crate std;

use core::mem::ManuallyDrop;
use std::fs::File;
use std::io::Write;
use std::os::fd::FromRawFd;

/// The file descriptor of standard error.
const STDERR: i32 = 2;

/// Writes a line; errors of the stream are ignored.
pub(super) fn write(line: &[u8]) {
    // SAFETY: the process owns the descriptor; `ManuallyDrop` never closes it.
    let mut stderr = ManuallyDrop::new(unsafe { File::from_raw_fd(STDERR) });
    let _ = stderr.write_all(line);
}
