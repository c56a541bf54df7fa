//! Names, files and lines of frames from the debug information that there is.
//!
//! The `backtrace` crate reads it with Rust's allocator, which ends the process when memory is refused, and keeps what
//! it read for the life of the process. It lists loaded objects once; frames of objects that were opened later are named
//! by the dynamic linker.

use backtrace::{Frame, Symbol};

use super::super::demangle::with_demangled;
use super::{Visitor, linker};

/// Calls `visit` with file, line and name of the frame and of each function that was inlined into it.
pub(in super::super) fn resolve(frame: &Frame, visit: &mut Visitor<'_>) {
    let mut any = false;
    backtrace::resolve_frame(frame, |symbol| {
        any = true;
        show(symbol, visit);
    });
    if !any {
        linker::resolve(frame, visit);
    }
}

fn show(symbol: &Symbol, visit: &mut Visitor<'_>) {
    let file = symbol.filename().map(|path| path.as_os_str().as_encoded_bytes());
    let line = i64::from(symbol.lineno().unwrap_or(0));
    match symbol.name() {
        Some(name) => with_demangled(&name, |name| visit(file, line, name)),
        None => visit(file, line, b"<unknown>"),
    }
}
