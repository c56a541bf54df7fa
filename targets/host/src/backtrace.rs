//! The backtrace provider of hosts: walks the stack and names its frames as upstream does.
//!
//! # Upstream
//! `backtrace.cc` and `backtrace_utils.h`.

use ferrite_core::backtrace::{self, BacktraceRequest};

#[cfg(all(feature = "backtrace", unix))]
mod demangle;
mod filter;
#[cfg(all(feature = "backtrace", unix))]
#[path = "backtrace/frames.rs"]
mod walk;
#[cfg(not(all(feature = "backtrace", unix)))]
#[path = "backtrace/no_frames.rs"]
mod walk;

/// Frames shown unless `TVM_TRACEBACK_LIMIT` says otherwise.
const DEFAULT_LIMIT: usize = 512;

/// Makes backtraces show the frames that led to the caller.
///
/// # Threads
/// One atomic store; calling it again changes nothing.
pub fn install() {
    backtrace::set_provider(provide);
}

/// Writes the caller's own line, then the frames above it. The own line does not ask for the limit, as in
/// upstream.
fn provide(sink: &mut dyn FnMut(&[u8]), request: &BacktraceRequest<'_>) {
    let own_line = request.filename.is_some() && request.func.is_some();
    let mut room = limit();
    if own_line && !filter::excluded(request.filename, request.func.unwrap_or(b"")) {
        request.write_own_line(sink);
        room = room.saturating_sub(1);
    }
    // Without room the stack is not even walked.
    if room > 0 {
        walk::frames(sink, request, room, usize::from(own_line));
    }
}

fn limit() -> usize {
    match std::env::var_os("TVM_TRACEBACK_LIMIT") {
        Some(text) => parse_limit(text.as_encoded_bytes()),
        None => DEFAULT_LIMIT,
    }
}

/// A number from 0 to 2147483647 as C's `strtol` reads it, else the default.
fn parse_limit(text: &[u8]) -> usize {
    let value =
        core::str::from_utf8(text.trim_ascii_start()).ok().and_then(|digits| digits.parse::<i32>().ok());
    value.and_then(|value| usize::try_from(value).ok()).unwrap_or(DEFAULT_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_upstream_reads_them() {
        for (text, limit) in [("0", 0), (" 7", 7), ("+5", 5), ("2147483647", i32::MAX as usize)] {
            assert_eq!(parse_limit(text.as_bytes()), limit, "{text:?}");
        }
        for text in ["", "x", "-1", "5 ", "5x", "2147483648"] {
            assert_eq!(parse_limit(text.as_bytes()), DEFAULT_LIMIT, "{text:?}");
        }
    }

    #[cfg(all(feature = "backtrace", unix))]
    #[test]
    fn frames_lead_to_the_caller() {
        install();
        let request = BacktraceRequest { cross_ffi_boundary: true, ..Default::default() };
        backtrace::with_text(&request, |text| {
            let text = std::string::String::from_utf8_lossy(text);
            // This library's frames are left out, and so is this test's; the harness is what calls it.
            assert!(text.contains("in test::") && !text.contains("in ferrite_"), "{text}");
            assert!(
                text.lines().all(|line| line.starts_with("  File \"") && line.contains(", in ")),
                "{text}"
            );
        });
    }

    #[test]
    fn the_own_line_comes_first() {
        install();
        let request =
            BacktraceRequest { filename: Some(b"x.cc"), line: 7, func: Some(b"f"), ..Default::default() };
        backtrace::with_text(&request, |text| assert!(text.starts_with(b"  File \"x.cc\", line 7, in f\n")));
    }
}
