//! Tests that backtraces and forks do not deadlock. A program of its own, so that its fork handlers
//! run before the library's.
#![cfg(all(feature = "backtrace", unix))]

#[path = "../../../tests/watchdog/watchdog.rs"]
mod watchdog;

use core::ffi::c_int;
use core::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ferrite_core::platform::backtrace::{self, BacktraceRequest};

type Handler = Option<unsafe extern "C" fn()>;

unsafe extern "C" {
    fn fork() -> c_int;
    fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// The program's lock, held while it forks.
static LOCKED: AtomicBool = AtomicBool::new(false);

unsafe extern "C" fn lock() {
    while LOCKED.swap(true, Ordering::Acquire) {
        thread::yield_now();
    }
}

unsafe extern "C" fn unlock() {
    LOCKED.store(false, Ordering::Release);
}

unsafe extern "C" fn unlock_and_trace() {
    // SAFETY: the forking thread holds the lock. A hanging child is ended by its watchdog.
    unsafe {
        watchdog::watchdog(60);
        unlock();
    }
    frames();
}

/// Returns the number of frames that a backtrace shows.
fn frames() -> usize {
    let request = BacktraceRequest { cross_ffi_boundary: true, ..Default::default() };
    backtrace::text(&request).iter().filter(|byte| **byte == b'\n').count()
}

/// Forks. Returns `true` if a backtrace of the child has frames, which is `false` only for a child
/// forked during a long walk.
fn child_has_frames() -> bool {
    // SAFETY: the child walks its stack and exits. Memory comes from the system's allocator, which
    // works after forks.
    unsafe {
        let child = fork();
        if child == 0 {
            _exit(c_int::from(frames() > 0));
        }
        let mut status = 0;
        assert_eq!(waitpid(child, ptr::from_mut(&mut status), 0), child);
        assert_eq!(status & 0x7f, 0, "a signal ended the child: it hung");
        status != 0
    }
}

#[test]
#[cfg_attr(miri, ignore = "forks")]
fn forks_and_backtraces_under_a_lock_of_both_go_on() {
    static STOP: AtomicBool = AtomicBool::new(false);
    // SAFETY: the handlers are functions of this program, and a hanging test is ended by its
    // watchdog.
    unsafe {
        assert_eq!(pthread_atfork(Some(lock), Some(unlock), Some(unlock_and_trace)), 0);
        watchdog::watchdog(300);
    }
    ferrite_host::backtrace::install();
    let tracer = thread::spawn(|| {
        while !STOP.load(Ordering::Relaxed) {
            // SAFETY: the lock is released below.
            unsafe { lock() };
            frames();
            // SAFETY: as above.
            unsafe { unlock() };
            // The lock is unfair: on a busy machine, the thread that forks would hardly ever get
            // it.
            thread::sleep(Duration::from_millis(1));
        }
    });
    let with_frames = (0..50).filter(|_| child_has_frames()).count();
    assert!(with_frames > 0);
    STOP.store(true, Ordering::Relaxed);
    tracer.join().unwrap();
    assert!(frames() > 0);
}
