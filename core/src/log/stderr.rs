//! Warnings to standard error.
#![forbid(unsafe_code)]

extern crate std;

use core::fmt;
use std::io::Write;

/// Writes one line; a closed standard error is no reason to fail.
pub fn write(message: fmt::Arguments<'_>) {
    let _ = std::io::stderr().write_fmt(format_args!("{message}\n"));
}
