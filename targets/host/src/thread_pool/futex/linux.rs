//! Sleeping until an atomic word changes, by the Linux futex.

use core::ptr;

use ferrite_core::platform::sync::atomic::AtomicU32;

/// Sleeps while the word has this value, until [`wake`] is called for it. Spurious returns are
/// possible.
pub(super) fn wait(word: &AtomicU32, value: u32) {
    let no_timeout = ptr::null::<libc::timespec>();
    // SAFETY: the kernel reads the word, which is borrowed, and compares it before it puts the
    // thread to sleep.
    unsafe { call(word.as_ptr(), libc::FUTEX_WAIT, value, no_timeout) };
}

/// Wakes all threads that sleep on the word. The word may already be freed; the wake-up is then
/// lost or spurious.
pub(super) fn wake(word: *const AtomicU32) {
    // SAFETY: the kernel takes the address as a key and reads nothing there.
    unsafe { call(word.cast_mut().cast(), libc::FUTEX_WAKE, i32::MAX as u32, ptr::null()) };
}

/// Calls the futex system call.
///
/// # Safety
///
/// For a wait, the word must be readable.
unsafe fn call(word: *mut u32, operation: i32, value: u32, timeout: *const libc::timespec) {
    // SAFETY: the caller's promise. A failure counts as a spurious wake-up: the value had changed,
    // or a signal came.
    unsafe {
        libc::syscall(libc::SYS_futex, word, operation | libc::FUTEX_PRIVATE_FLAG, value, timeout)
    };
}
