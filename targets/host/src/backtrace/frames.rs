//! Walks the stack and writes the frames that upstream would.

use backtrace::Frame;
use ferrite_core::backtrace::{BacktraceRequest, write_line};

use super::{filter, symbols};

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
    trace(|frame| {
        if below_entry {
            below_entry = !is_entry(frame, request.entry);
            return true;
        }
        walk.physical_frame(frame)
    });
}

/// Visits the frames of this thread, innermost first, until told to stop. Allocates nothing.
fn trace(visit: impl FnMut(&Frame) -> bool) {
    // SAFETY: the crate's lock is for its symbol caches, which are not used here; the unwinder needs none.
    unsafe { backtrace::trace_unsynchronized(visit) };
}

fn is_entry(frame: &Frame, entry: usize) -> bool {
    frame.symbol_address().addr() == entry
}

/// Whether the C function that was asked is on the stack.
fn has_entry(entry: usize) -> bool {
    let (mut found, mut frames) = (false, 0);
    if entry != 0 {
        trace(|frame| {
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
        let mut proceed = true;
        symbols::resolve(frame, &mut |file, line, name| proceed = proceed && self.line(file, line, name));
        proceed
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
