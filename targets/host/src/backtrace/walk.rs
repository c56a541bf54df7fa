//! Walks the stack, and writes the frames that upstream would show.

use ferrite_core::platform::backtrace::{BacktraceRequest, write_line};
use ferrite_core::platform::sync::per_thread;

use super::cache::Cache;
use super::{filter, forks, stack, symbols};

pub(crate) use forks::WALKS_AT_FORK;

ferrite_core::per_thread!(static CACHE: Cache = Cache::new());

/// Maximum number of frames searched for the requested C function.
const MAX_OWN_FRAMES: usize = 64;

/// State of a backtrace that is being written.
struct Walk<'a> {
    sink: &'a mut dyn FnMut(&[u8]),
    stop_at_boundary: bool,
    remaining: usize,
    skip: usize,
}

/// Writes up to `remaining` frames to the sink, beginning with the caller of the C function that
/// the request names, after skipping `skip` frames.
///
/// Writes nothing on a terminating thread, within another walk, and while the process forks.
pub(super) fn frames(
    sink: &mut dyn FnMut(&[u8]),
    request: &BacktraceRequest<'_>,
    remaining: usize,
    skip: usize,
) {
    per_thread::with(&CACHE, |cache| {
        forks::unless_forking(|| frames_with(cache, sink, request, remaining, skip));
    });
}

fn frames_with(
    cache: &mut Cache,
    sink: &mut dyn FnMut(&[u8]),
    request: &BacktraceRequest<'_>,
    remaining: usize,
    skip: usize,
) {
    cache.refresh(stack::generation());
    let mut below_entry = has_entry(cache, request.entry);
    // If the entry is not on the stack, this library's frames are recognised by name alone.
    let skip = if below_entry { skip } else { 0 };
    let mut walk = Walk { sink, stop_at_boundary: !request.cross_ffi_boundary, remaining, skip };
    stack::trace(cache, &mut |cache, frame| {
        if below_entry {
            below_entry = frame.function() != request.entry;
            return true;
        }
        walk.physical_frame(cache, frame.pc)
    });
}

/// Returns `true` if the requested C function is on the stack.
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
    /// Writes a frame and the functions inlined into it; returns `false` to end the walk.
    fn physical_frame(&mut self, cache: &mut Cache, pc: usize) -> bool {
        let lines = cache.lines(pc, |cache| find_lines(cache, pc));
        lines.into_iter().all(|at| match cache.line(at) {
            Some((boundary, text)) => self.line(boundary, text),
            None => true,
        })
    }

    /// Writes or skips a line, or ends the walk, by the same rules as upstream. Returns `false` to
    /// end the walk.
    fn line(&mut self, boundary: bool, text: &[u8]) -> bool {
        if self.remaining == 0 || (self.stop_at_boundary && boundary) {
            return false;
        }
        if self.skip > 0 {
            self.skip -= 1;
        } else if !text.is_empty() {
            (self.sink)(text);
            self.remaining -= 1;
        }
        true
    }
}

fn find_lines(cache: &mut Cache, pc: usize) {
    symbols::resolve(pc, &mut |file, line, name| {
        cache.add_line(filter::is_boundary(name), |sink| {
            // A frame with neither file nor name is of no use.
            if !filter::excluded(file, name) && (file.is_some() || name != b"<unknown>") {
                write_line(file.unwrap_or(b"<unknown>"), line, name, sink);
            }
        });
    });
}
