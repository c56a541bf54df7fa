//! The log on bare metal: warnings are passed to a sink that the program sets, or dropped.

use core::cell::Cell;
use core::ffi::c_char;
use core::hint::black_box;

use crate::error::message::{Arg, Text};
use crate::platform::config::LOG_CHUNK_BYTES;
use crate::platform::sync::Lock;
use crate::platform::text::Writer;

/// A callback that receives a line of the log: `size` bytes, the last of which is a newline.
pub type Sink = unsafe extern "C" fn(text: *const c_char, size: usize);

/// The sink and the function that renders lines for it. A program that sets no sink does not link
/// the renderer.
#[derive(Clone, Copy)]
struct Log {
    sink: Sink,
    render: unsafe fn(Text, *const Arg<'_>, Sink),
}

static LOG: Lock<Cell<Option<Log>>> = Lock::new(Cell::new(None));

/// Sets or removes the sink of warnings.
///
/// A line ends with a newline and has at most `2 * LOG_CHUNK_BYTES` bytes.
///
/// # Safety
/// `sink` must accept such a line at any time until another sink is set.
pub unsafe fn set_sink(sink: Option<Sink>) {
    // Opaque: a compiler that knew the only renderer would call it directly, and link it into every
    // program.
    let log = sink.map(|sink| Log { sink, render: black_box(render) });
    LOG.with(|present| present.set(log));
}

/// Passes one line to the sink, if any.
///
/// # Safety
/// Same requirements as [`Template::write`].
#[inline]
pub(super) unsafe fn write(text: Text, args: *const Arg<'_>) {
    // Copied out, so that the lock is not held while the sink runs.
    let log = LOG.with(Cell::get);
    if let Some(log) = log {
        // SAFETY: the caller's promise; the caller of `set_sink` guaranteed the sink.
        unsafe { (log.render)(text, args, log.sink) };
    }
}

/// Renders one line on the stack and passes it to the sink. Longer lines are truncated.
///
/// # Safety
/// Same requirements as [`Template::write`] and [`set_sink`].
unsafe fn render(text: Text, args: *const Arg<'_>, sink: Sink) {
    let mut line = [0; 2 * LOG_CHUNK_BYTES];
    let mut out = Writer::new(&mut line);
    // SAFETY: the caller's promise.
    unsafe { text.write(args, &mut out) };
    let len = out.wanted.min(line.len() - 1);
    line[len] = b'\n';
    // SAFETY: the caller of `set_sink` guaranteed the sink.
    unsafe { sink(line.as_ptr().cast(), len + 1) };
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::plain_warn;
    use crate::platform::sync::Mutex;

    static HEARD: Mutex<std::vec::Vec<u8>> = Mutex::new(std::vec::Vec::new());

    unsafe extern "C" fn hear(text: *const c_char, size: usize) {
        // SAFETY: the library hands over a line of that size.
        HEARD.lock().extend_from_slice(unsafe { core::slice::from_raw_parts(text.cast(), size) });
    }

    #[test]
    fn a_line_reaches_the_sink_and_is_cut_when_it_is_too_long() {
        // SAFETY: the function takes any line.
        unsafe { set_sink(Some(hear)) };
        plain_warn!("{}", "é");
        plain_warn!("{}", &[b'x'; 3 * LOG_CHUNK_BYTES][..]);
        // SAFETY: nothing is called.
        unsafe { set_sink(None) };
        plain_warn!("unheard");
        let expected = std::format!("é\n{}\n", "x".repeat(2 * LOG_CHUNK_BYTES - 1));
        assert_eq!(*HEARD.lock(), expected.as_bytes());
    }
}
