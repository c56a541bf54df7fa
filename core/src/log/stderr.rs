//! Warnings to standard error.
#![forbid(unsafe_code)]

extern crate std;

use core::fmt;
use std::io::Write;

use crate::text::Writer;

/// Writes one line; a closed standard error is no reason to fail.
pub fn write(message: fmt::Arguments<'_>) {
    let _ = std::io::stderr().write_fmt(format_args!("{message}\n"));
}

/// Writes one line that `write` gives; it is called twice, first to count.
pub fn write_plain(write: &dyn Fn(&mut Writer<'_>)) {
    let mut count = Writer::new(&mut []);
    write(&mut count);
    let mut line = std::vec![0; count.wanted];
    write(&mut Writer::new(&mut line));
    line.push(b'\n');
    let _ = std::io::stderr().write_all(&line);
}
