//! The lock around this library's questions to the dynamic linker, held while the process forks.
//!
//! The linker has a lock of its own, which a child inherits as it was: if another thread was asking at that moment, the
//! child would wait for ever at its first error.

use core::cell::UnsafeCell;
use std::sync::Once;

struct Lock(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a mutex of the system may be used from all threads.
unsafe impl Sync for Lock {}

static LOCK: Lock = Lock(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));

/// Runs `body`, which asks the linker, while no other thread does so for this library, and no thread forks.
pub(super) fn with<R>(body: impl FnOnce() -> R) -> R {
    struct Held;
    impl Drop for Held {
        fn drop(&mut self) {
            // SAFETY: this thread holds the lock.
            unsafe { release() };
        }
    }
    // SAFETY: `Held` gives it back.
    unsafe { take() };
    let _held = Held;
    body()
}

/// Makes forks wait for the lock. Without memory for the handlers they do not.
pub(super) fn install_once() {
    static INSTALLED: Once = Once::new();
    // SAFETY: the handlers may run on any thread; a process forks on one at a time.
    INSTALLED.call_once(|| unsafe {
        libc::pthread_atfork(Some(take), Some(release), Some(release));
    });
}

unsafe extern "C" fn take() {
    // SAFETY: a static mutex of the system; a thread that holds it does not come here.
    unsafe { libc::pthread_mutex_lock(LOCK.0.get()) };
}

unsafe extern "C" fn release() {
    // SAFETY: the caller took the lock on this thread, which is also the only one of a new process.
    unsafe { libc::pthread_mutex_unlock(LOCK.0.get()) };
}
