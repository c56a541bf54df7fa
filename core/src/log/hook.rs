//! Warnings to a function that the program sets; without one they are dropped.
#![forbid(unsafe_code)]

use crate::config::LOG_CHUNK_BYTES;
use crate::sync::Mutex;
use core::fmt::{self, Write};
use heapless::String;

use crate::text::Writer;

/// Takes a piece of a line.
pub type Sink = fn(&str);

/// What writes a line.
type Line<'a> = dyn Fn(&mut Writer<'_>) + 'a;

/// Where pieces of text go, and what renders formatted lines for it: a program that sets no sink need not link that.
#[derive(Clone, Copy)]
struct Log {
    sink: Sink,
    render: fn(fmt::Arguments<'_>, Sink),
    render_plain: fn(&Line<'_>, Sink),
}

static LOG: Mutex<Option<Log>> = Mutex::new(None);

/// Sends warnings to `sink` from now on, or nowhere.
///
/// A line comes in pieces of up to twice `LOG_CHUNK_BYTES` bytes and ends with a newline.
pub fn set_sink(sink: Option<Sink>) {
    *LOG.lock() = sink.map(|sink| Log { sink, render, render_plain });
}

/// What to do with a line, copied out, so that the lock is not held while the sink runs.
fn log() -> Option<Log> {
    *LOG.lock()
}

/// Writes one line.
pub fn write(message: fmt::Arguments<'_>) {
    if let Some(log) = log() {
        (log.render)(message, log.sink);
    }
}

/// Renders one line into pieces on the stack.
fn render(message: fmt::Arguments<'_>, sink: Sink) {
    let mut pieces = Pieces { sink, piece: String::new() };
    let _ = writeln!(pieces, "{message}");
    pieces.flush();
}

/// Writes one line that `write` gives.
pub fn write_plain(write: &Line<'_>) {
    if let Some(log) = log() {
        (log.render_plain)(write, log.sink);
    }
}

/// Renders one line on the stack; what is longer than two pieces is cut.
fn render_plain(write: &Line<'_>, sink: Sink) {
    let mut line = [0; 2 * LOG_CHUNK_BYTES];
    let mut out = Writer::new(&mut line);
    write(&mut out);
    let len = out.wanted.min(line.len() - 1);
    line[len] = b'\n';
    sink(core::str::from_utf8(&line[..=len]).unwrap_or("a warning that is no text\n"));
}

struct Pieces {
    sink: Sink,
    piece: String<LOG_CHUNK_BYTES>,
}

impl Pieces {
    fn flush(&mut self) {
        if !self.piece.is_empty() {
            (self.sink)(&self.piece);
            self.piece.clear();
        }
    }
}

impl Write for Pieces {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            if self.piece.push(character).is_err() {
                self.flush();
                let _ = self.piece.push(character);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;

    #[test]
    fn a_long_line_reaches_the_sink_in_whole_characters() {
        static HEARD: Mutex<std::string::String> = Mutex::new(std::string::String::new());
        set_sink(Some(|piece| HEARD.lock().push_str(piece)));
        write(format_args!("{}{}", "é".repeat(100), 42));
        set_sink(None);
        write(format_args!("unheard"));
        assert_eq!(*HEARD.lock(), std::format!("{}42\n", "é".repeat(100)));
    }
}
