//! Warnings to standard error.
#![forbid(unsafe_code)]

extern crate std;

use std::io::Write;

use crate::text::Writer;

/// The longest line of `write`, in bytes.
const LINE_BYTES: usize = 1024;

/// Writes one line that `write` gives, put together on the stack: there may be no memory. What is longer is cut; a closed
/// standard error is no reason to fail.
pub fn write(write: &dyn Fn(&mut Writer<'_>)) {
    let mut line = [0; LINE_BYTES];
    let mut out = Writer::new(&mut line);
    write(&mut out);
    let len = out.wanted.min(LINE_BYTES - 1);
    line[len] = b'\n';
    let _ = std::io::stderr().write_all(&line[..=len]);
}
