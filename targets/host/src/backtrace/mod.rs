//! Backtrace provider for hosts: unwinds the stack and formats its frames as upstream does.
//!
//! # Upstream
//! `backtrace.cc` and `backtrace_utils.h`.

use ferrite_core::platform::backtrace::{self, BacktraceRequest};

#[cfg(all(feature = "backtrace", unix))]
mod cache;
#[cfg(all(feature = "backtrace", unix))]
mod demangle;
mod filter;
#[cfg(all(feature = "backtrace", unix))]
mod forks;
mod limit;
#[cfg(all(feature = "backtrace", target_os = "linux"))]
mod modules;
#[cfg(all(feature = "backtrace", unix))]
mod stack;
#[cfg(all(feature = "backtrace", unix))]
mod symbols;
#[cfg(all(feature = "backtrace", unix))]
mod walk;
#[cfg(not(all(feature = "backtrace", unix)))]
#[path = "disabled.rs"]
mod walk;

pub(crate) use walk::WALKS_AT_FORK;

/// Installs the backtrace provider: errors raised from now on contain a backtrace.
///
/// # Threads
/// May be called from any thread. Later calls have no effect.
pub fn install() {
    backtrace::set_provider(provide);
}

/// Writes the line that the raising code gives for itself, then the frames of its callers. As in
/// upstream, the first line is written even if the limit is 0.
fn provide(sink: &mut dyn FnMut(&[u8]), request: &BacktraceRequest<'_>) {
    let own_line = request.filename.is_some() && request.func.is_some();
    let mut remaining = limit::limit();
    if own_line && !filter::excluded_own_line(request.filename, request.func.unwrap_or(b"")) {
        request.write_own_line(sink);
        remaining = remaining.saturating_sub(1);
    }
    // Nothing could be written, so the stack is not walked.
    if remaining > 0 {
        walk::frames(sink, request, remaining, usize::from(own_line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let request = BacktraceRequest {
            filename: Some(b"x.cc"),
            line: 7,
            func: Some(b"f"),
            ..Default::default()
        };
        assert!(backtrace::text(&request).starts_with(b"  File \"x.cc\", line 7, in f\n"));
    }
}
