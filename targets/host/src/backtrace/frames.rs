//! Walks the stack with the `backtrace` crate, which reads the debug information that there is.
//!
//! The crate allocates through Rust's allocator and keeps what it read of debug information for the life of
//! the process. It lists loaded objects once; frames of objects that were opened later are named by the
//! dynamic linker, without file and line.

use core::ffi::c_void;

use backtrace::{Frame, Symbol};
use ferrite_core::backtrace::{BacktraceRequest, write_line};

use super::{demangle, filter};

/// One backtrace being written.
struct Walk<'a> {
    sink: &'a mut dyn FnMut(&[u8]),
    stop_at_boundary: bool,
    room: usize,
    skip: usize,
}

/// Writes up to `room` frames to the sink, of those above the entry of the request and `skip` more.
pub(super) fn frames(sink: &mut dyn FnMut(&[u8]), request: &BacktraceRequest<'_>, room: usize, skip: usize) {
    let mut below_entry = has_entry(request.entry);
    // Without an entry the frames of this library are known by their names alone.
    let skip = if below_entry { skip } else { 0 };
    let mut walk = Walk { sink, stop_at_boundary: !request.cross_ffi_boundary, room, skip };
    backtrace::trace(|frame| {
        if below_entry {
            below_entry = !is_entry(frame, request.entry);
            return true;
        }
        walk.physical_frame(frame)
    });
}

fn is_entry(frame: &Frame, entry: usize) -> bool {
    frame.symbol_address().addr() == entry
}

/// Whether the C function that was asked is on the stack.
fn has_entry(entry: usize) -> bool {
    let (mut found, mut frames) = (false, 0);
    if entry != 0 {
        backtrace::trace(|frame| {
            frames += 1;
            found = is_entry(frame, entry);
            // The library's own frames are few.
            !found && frames < 64
        });
    }
    found
}

impl Walk<'_> {
    /// Writes a frame and what was inlined into it; false ends the walk.
    fn physical_frame(&mut self, frame: &Frame) -> bool {
        let (mut any, mut proceed) = (false, true);
        backtrace::resolve_frame(frame, |symbol| {
            any = true;
            proceed = proceed && self.symbol(symbol);
        });
        if !any {
            proceed =
                demangle::with_linker_name(frame.ip().cast::<c_void>(), |name| self.line(None, 0, name));
        }
        proceed
    }

    fn symbol(&mut self, symbol: &Symbol) -> bool {
        let file = symbol.filename().map(|path| path.as_os_str().as_encoded_bytes());
        let line = i64::from(symbol.lineno().unwrap_or(0));
        match symbol.name() {
            Some(name) => demangle::with_demangled(&name, |name| self.line(file, line, name)),
            None => self.line(file, line, b"<unknown>"),
        }
    }

    /// Decides upon a frame as upstream does, in upstream's order.
    fn line(&mut self, file: Option<&[u8]>, line: i64, name: &[u8]) -> bool {
        if self.room == 0 || (self.stop_at_boundary && filter::is_boundary(name)) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return true;
        }
        // A frame with neither file nor name says nothing.
        if filter::excluded(file, name) || (file.is_none() && name == b"<unknown>") {
            return true;
        }
        write_line(file.unwrap_or(b"<unknown>"), line, name, self.sink);
        self.room -= 1;
        true
    }
}
