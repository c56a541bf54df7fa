//! Tests panics and backtraces in a program with the lazily linked unwinder, as in the shared
//! object.
#![cfg(all(
    target_os = "linux",
    target_env = "gnu",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

use std::backtrace::Backtrace;
use std::fs;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};

use ferrite_host as _;

fn loaded() -> bool {
    fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains("libgcc_s"))
}

/// Takes a backtrace while the process can open no more files, and returns its text.
fn trace_without_files() -> String {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the record is readable and writable.
    let backtrace = unsafe {
        assert_eq!(libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit), 0);
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: 0, ..limit }), 0);
        let backtrace = Backtrace::force_capture();
        assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit), 0);
        backtrace
    };
    backtrace.to_string()
}

static CLEANED: AtomicBool = AtomicBool::new(false);

struct Cleanup;

impl Drop for Cleanup {
    fn drop(&mut self) {
        CLEANED.store(true, Ordering::Relaxed);
    }
}

// A single test, since a library that is loaded stays loaded for the whole program.
#[test]
fn the_unwinder_is_opened_at_its_first_use() {
    assert!(!loaded(), "the program needs the unwinder from the start");
    assert_eq!(trace_without_files(), "unsupported backtrace", "there was no unwinder");

    let caught = catch_unwind(|| {
        let _cleanup = Cleanup;
        panic!("on purpose");
    });
    assert_eq!(caught.expect_err("it panicked").downcast_ref::<&str>(), Some(&"on purpose"));
    assert!(CLEANED.load(Ordering::Relaxed), "unwinding drops what it passes");
    assert!(loaded(), "the system's unwinder did it");

    let text = Backtrace::force_capture().to_string();
    assert!(text.contains("the_unwinder_is_opened_at_its_first_use"), "{text}");
}
