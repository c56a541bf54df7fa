//! Walks the stack and writes the frames that upstream would.

use ferrite_core::backtrace::{BacktraceRequest, write_line};
use ferrite_core::sync::per_thread;

use super::cache::Cache;
use super::{filter, forks, stack, symbols};

pub(crate) use forks::WALKS_AT_FORK;

ferrite_core::per_thread!(static CACHE: Cache = Cache::new());

/// Frames of this library below the C function that was asked: there are fewer.
const MAX_OWN_FRAMES: usize = 64;

/// One backtrace being written.
struct Walk<'a> {
    sink: &'a mut dyn FnMut(&[u8]),
    stop_at_boundary: bool,
    room: usize,
    skip: usize,
}

/// Writes up to `room` frames to the sink, of those above the entry of the request and `skip` more.
///
/// Writes nothing on a thread that is ending, inside another walk, and while the process forks.
pub(super) fn frames(sink: &mut dyn FnMut(&[u8]), request: &BacktraceRequest<'_>, room: usize, skip: usize) {
    per_thread::with(&CACHE, |cache| {
        forks::unless_forking(|| frames_with(cache, sink, request, room, skip));
    });
}

fn frames_with(
    cache: &mut Cache,
    sink: &mut dyn FnMut(&[u8]),
    request: &BacktraceRequest<'_>,
    room: usize,
    skip: usize,
) {
    cache.refresh(stack::generation());
    let mut below_entry = has_entry(cache, request.entry);
    // Without an entry the frames of this library are known by their names alone.
    let skip = if below_entry { skip } else { 0 };
    let mut walk = Walk { sink, stop_at_boundary: !request.cross_ffi_boundary, room, skip };
    stack::trace(cache, &mut |cache, frame| {
        if below_entry {
            below_entry = frame.function() != request.entry;
            return true;
        }
        walk.physical_frame(cache, frame.pc)
    });
}

/// Whether the C function that was asked is on the stack.
fn has_entry(cache: &mut Cache, entry: usize) -> bool {
    let (mut found, mut frames) = (false, 0);
    if entry != 0 {
        stack::trace(cache, &mut |_, frame| {
            frames += 1;
            found = frame.function() == entry;
            !found && frames < MAX_OWN_FRAMES
        });
    }
    found
}

impl Walk<'_> {
    /// Writes a frame and what was inlined into it; false ends the walk.
    fn physical_frame(&mut self, cache: &mut Cache, pc: usize) -> bool {
        let lines = cache.lines(pc, |cache| find_lines(cache, pc));
        lines.into_iter().all(|at| match cache.line(at) {
            Some((boundary, text)) => self.line(boundary, text),
            None => true,
        })
    }

    /// Decides upon a frame as upstream does, in upstream's order.
    fn line(&mut self, boundary: bool, text: &[u8]) -> bool {
        if self.room == 0 || (self.stop_at_boundary && boundary) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
        } else if !text.is_empty() {
            (self.sink)(text);
            self.room -= 1;
        }
        true
    }
}

fn find_lines(cache: &mut Cache, pc: usize) {
    symbols::resolve(pc, &mut |file, line, name| {
        cache.add_line(filter::is_boundary(name), |sink| {
            // A frame with neither file nor name says nothing.
            if !filter::excluded(file, name) && (file.is_some() || name != b"<unknown>") {
                write_line(file.unwrap_or(b"<unknown>"), line, name, sink);
            }
        });
    });
}
