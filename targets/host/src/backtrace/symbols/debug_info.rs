//! Symbolication by debug information: function names, files and lines.
//!
//! The `backtrace` crate reads debug information with Rust's allocator, which aborts the process
//! when out of memory, and keeps it in memory until the process ends. The crate lists loaded
//! objects only once; names for objects loaded later come from symbol tables.

use core::ptr;

use backtrace::Symbol;

use super::super::demangle::with_demangled;
use super::visitor::{UNKNOWN, Visitor};

/// Calls `visit` with the file, line and function name for the code before `pc`, once for the
/// function and for each function inlined there. Returns `false` if there is no debug information
/// for the code.
pub(super) fn resolve(pc: usize, visit: &mut Visitor<'_>) -> bool {
    let mut any = false;
    backtrace::resolve(ptr::without_provenance_mut(pc), |symbol| {
        any = true;
        show(symbol, visit);
    });
    any
}

fn show(symbol: &Symbol, visit: &mut Visitor<'_>) {
    let file = symbol.filename().map(|path| path.as_os_str().as_encoded_bytes());
    let line = i64::from(symbol.lineno().unwrap_or(0));
    match symbol.name() {
        Some(name) => with_demangled(name.as_bytes(), |name| visit(file, line, name)),
        None => visit(file, line, UNKNOWN),
    }
}
