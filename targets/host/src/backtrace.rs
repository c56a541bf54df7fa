//! Backtrace provider for hosts: unwinds the stack and formats its frames as upstream does.
//!
//! # Upstream
//! `backtrace.cc` and `backtrace_utils.h`.

use core::ffi::CStr;

use ferrite_core::backtrace::{self, BacktraceRequest};

#[cfg(all(feature = "backtrace", unix))]
mod cache;
#[cfg(all(feature = "backtrace", unix))]
mod demangle;
mod filter;
#[cfg(all(feature = "backtrace", unix))]
mod forks;
#[cfg(all(feature = "backtrace", target_os = "linux"))]
mod modules;
#[cfg(all(feature = "backtrace", unix))]
mod stack;
#[cfg(all(feature = "backtrace", unix))]
mod symbols;
#[cfg(all(feature = "backtrace", unix))]
mod walk;
#[cfg(not(all(feature = "backtrace", unix)))]
#[path = "backtrace/disabled.rs"]
mod walk;

pub(crate) use walk::WALKS_AT_FORK;

/// Default of the environment variable `TVM_TRACEBACK_LIMIT`: the maximum number of frames in a backtrace.
const DEFAULT_LIMIT: usize = 512;

/// Installs the backtrace provider: errors raised from now on contain a backtrace.
///
/// # Threads
/// May be called from any thread. Later calls have no effect.
pub fn install() {
    backtrace::set_provider(provide);
}

/// Writes the line that the raising code gives for itself, then the frames of its callers. As in upstream, the first
/// line is written even if the limit is 0.
fn provide(sink: &mut dyn FnMut(&[u8]), request: &BacktraceRequest<'_>) {
    let own_line = request.filename.is_some() && request.func.is_some();
    let mut remaining = limit();
    if own_line && !filter::excluded_own_line(request.filename, request.func.unwrap_or(b"")) {
        request.write_own_line(sink);
        remaining = remaining.saturating_sub(1);
    }
    // Nothing could be written, so the stack is not walked.
    if remaining > 0 {
        walk::frames(sink, request, remaining, usize::from(own_line));
    }
}

fn limit() -> usize {
    // `std::env::var` would copy the text with an allocator that aborts the process when out of memory.
    // SAFETY: the name ends in a NUL. As always in C, changing the environment concurrently is the program's mistake.
    let text = unsafe { libc::getenv(c"TVM_TRACEBACK_LIMIT".as_ptr()) };
    if text.is_null() {
        return DEFAULT_LIMIT;
    }
    // SAFETY: environment texts end in a NUL.
    parse_limit(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// Parses a number from 0 to 2147483647 as C's `strtol` does; returns the default for any other text.
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
    fn with_frames(check: impl FnOnce(&str)) {
        install();
        let request = BacktraceRequest { cross_ffi_boundary: true, ..Default::default() };
        {
            let text = backtrace::text(&request);
            let text = std::string::String::from_utf8_lossy(&text);
            assert!(!text.contains("in ferrite_"), "{text}");
            assert!(
                text.lines().all(|line| line.starts_with("  File \"") && line.contains(", in ")),
                "{text}"
            );
            check(&text);
        }
    }

    #[cfg(all(feature = "backtrace-lines", unix))]
    #[test]
    fn debug_information_names_every_frame() {
        // Frames of this library are left out, and with them this test's; its harness remains.
        with_frames(|text| assert!(text.contains("in test::"), "{text}"));
    }

    #[cfg(all(feature = "backtrace", target_os = "linux"))]
    #[test]
    fn exported_functions_have_names() {
        unsafe extern "C" fn compare(_: *const libc::c_void, _: *const libc::c_void) -> i32 {
            with_frames(|text| assert!(text.contains("qsort"), "{text}"));
            0
        }
        let mut two = [0u8; 2];
        // SAFETY: two elements of one byte, and a comparison that does not look at them.
        unsafe { libc::qsort(two.as_mut_ptr().cast(), 2, 1, Some(compare)) };
    }

    #[test]
    fn the_own_line_comes_first() {
        install();
        let request =
            BacktraceRequest { filename: Some(b"x.cc"), line: 7, func: Some(b"f"), ..Default::default() };
        assert!(backtrace::text(&request).starts_with(b"  File \"x.cc\", line 7, in f\n"));
    }
}
