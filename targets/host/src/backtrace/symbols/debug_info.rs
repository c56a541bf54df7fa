//! Names, files and lines of frames from debug information.
//!
//! The `backtrace` crate reads it with Rust's allocator, which aborts the process when out of memory, and keeps it until the
//! process ends. It lists loaded objects once; frames of objects loaded later get their names from symbol tables.

use core::ptr;

use backtrace::Symbol;

use super::super::demangle::with_demangled;
use super::{UNKNOWN, Visitor};

/// Calls `visit` with file, line and name of the code before `pc`, and of each function inlined there. Returns `false` without
/// debug information for it.
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
