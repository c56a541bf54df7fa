//! Backtraces and forks do not wait for each other. In a program of its own: its handlers of forks come before the library's.
#![cfg(all(feature = "backtrace", unix))]

use core::ffi::{c_int, c_uint};
use core::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use ferrite_core::backtrace::{self, BacktraceRequest};

type Handler = Option<unsafe extern "C" fn()>;

unsafe extern "C" {
    fn fork() -> c_int;
    fn pthread_atfork(prepare: Handler, parent: Handler, child: Handler) -> c_int;
    fn waitpid(process: c_int, status: *mut c_int, options: c_int) -> c_int;
    fn alarm(seconds: c_uint) -> c_uint;
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
    // SAFETY: the thread that forked holds the lock. A child that hangs ends by the signal.
    unsafe {
        alarm(60);
        unlock();
    }
    frames();
}

/// The number of frames that a backtrace shows.
fn frames() -> usize {
    let request = BacktraceRequest { cross_ffi_boundary: true, ..Default::default() };
    backtrace::text(&request).iter().filter(|byte| **byte == b'\n').count()
}

/// Forks; gives whether a backtrace of the child has frames, as all have but those of children that were forked in the middle
/// of a long walk.
fn child_has_frames() -> bool {
    // SAFETY: the child traces its stack and exits. Memory is the system's, which is ready after forks.
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
    // SAFETY: the handlers are functions of this program, and a hanging test ends by the signal.
    unsafe {
        assert_eq!(pthread_atfork(Some(lock), Some(unlock), Some(unlock_and_trace)), 0);
        alarm(300);
    }
    ferrite_host::backtrace::install();
    let tracer = thread::spawn(|| {
        while !STOP.load(Ordering::Relaxed) {
            // SAFETY: the lock is given back.
            unsafe { lock() };
            frames();
            // SAFETY: as above.
            unsafe { unlock() };
        }
    });
    let with_frames = (0..50).filter(|_| child_has_frames()).count();
    assert!(with_frames > 0);
    STOP.store(true, Ordering::Relaxed);
    tracer.join().unwrap();
    assert!(frames() > 0);
}
