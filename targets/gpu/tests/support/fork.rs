//! Children of a process that forks.

#[path = "../../../../tests/watchdog/watchdog.rs"]
mod watchdog;

use ferrite_core::error::Result;

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn _exit(status: i32) -> !;
}

/// Exit status of a child that panicked.
const PANICKED: i32 = 2;
/// Status of a child that hung or crashed.
const CRASHED: i32 = 99;

/// Runs `body` in a child; returns its exit status.
pub fn in_child(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child runs `body` and exits; programs that fork have no other threads of their
    // own.
    unsafe {
        let pid = fork();
        if pid == 0 {
            watchdog::watchdog(60);
            _exit(std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).unwrap_or(PANICKED));
        }
        let mut status = 0;
        assert_eq!(waitpid(pid, &mut status, 0), pid);
        if status & 0x7f == 0 { status >> 8 & 0xff } else { CRASHED }
    }
}

/// Returns `true` if a call fails because the process is the child of one that used a device.
pub fn is_refused<T>(result: Result<T>) -> bool {
    result.is_err_and(|error| {
        error.kind_bytes() == b"RuntimeError"
            && error.message_bytes().starts_with(b"Devices cannot be used in a forked")
    })
}
