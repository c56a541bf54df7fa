//! Warnings to a function that the program sets; without one they are dropped.
#![forbid(unsafe_code)]

use crate::config::LOG_CHUNK_BYTES;
use crate::sync::Mutex;
use crate::text::Writer;

/// Takes a line.
pub type Sink = fn(&str);

/// What writes a line.
type Line<'a> = dyn Fn(&mut Writer<'_>) + 'a;

/// Where lines go, and what renders them for it: a program that sets no sink need not link that.
#[derive(Clone, Copy)]
struct Log {
    sink: Sink,
    render: fn(&Line<'_>, Sink),
}

static LOG: Mutex<Option<Log>> = Mutex::new(None);

/// Sends warnings to `sink` from now on, or nowhere.
///
/// A line has up to twice `LOG_CHUNK_BYTES` bytes and ends with a newline.
pub fn set_sink(sink: Option<Sink>) {
    *LOG.lock() = sink.map(|sink| Log { sink, render });
}

/// Writes one line that `write` gives.
pub fn write(write: &Line<'_>) {
    // Copied out, so that the lock is not held while the sink runs.
    let log = *LOG.lock();
    if let Some(log) = log {
        (log.render)(write, log.sink);
    }
}

/// Renders one line on the stack; what is longer than two pieces is cut.
fn render(write: &Line<'_>, sink: Sink) {
    let mut line = [0; 2 * LOG_CHUNK_BYTES];
    let mut out = Writer::new(&mut line);
    write(&mut out);
    let len = out.wanted.min(line.len() - 1);
    line[len] = b'\n';
    sink(core::str::from_utf8(&line[..=len]).unwrap_or("a warning that is no text\n"));
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn a_line_reaches_the_sink_and_is_cut_when_it_is_too_long() {
        static HEARD: Mutex<std::string::String> = Mutex::new(std::string::String::new());
        set_sink(Some(|line| HEARD.lock().push_str(line)));
        write(&|out| out.put("é".as_bytes()));
        write(&|out| out.put(&[b'x'; 3 * LOG_CHUNK_BYTES]));
        set_sink(None);
        write(&|out| out.put(b"unheard"));
        assert_eq!(*HEARD.lock(), std::format!("é\n{}\n", "x".repeat(2 * LOG_CHUNK_BYTES - 1)));
    }
}
