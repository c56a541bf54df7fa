//! Whether the process is single-threaded, by the flag of glibc.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The name of the flag, which glibc has since 2.32.
const NAME: &CStr = c"__libc_single_threaded";

/// The answer before glibc was asked, and where it does not tell.
static UNKNOWN: AtomicU8 = AtomicU8::new(0);

static FLAG: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const UNKNOWN).cast_mut());

/// Whether this thread is the only one. It stays so for as long as it starts no other one.
///
/// Locked instructions are most of what a count costs; libstdc++'s `shared_ptr` leaves them out by the same flag, and malloc
/// its locks. glibc clears it before it starts a thread, and never sets it for a further copy of itself in the process. What
/// was written alone is seen by threads that are started later.
#[inline(always)]
pub fn is_single_threaded() -> bool {
    // SAFETY: the pointer leads to the byte above or to that of glibc, which stays; any order will do, for the value is that of
    // this thread's own starting of threads.
    unsafe { &*FLAG.load(Ordering::Relaxed) }.load(Ordering::Relaxed) != 0
}

/// Asks glibc where it keeps the flag; until then, nobody is known to be alone.
pub fn find_thread_flag() {
    // SAFETY: null stands for all libraries of the program.
    let flag = unsafe { dlsym(ptr::null_mut(), NAME.as_ptr()) };
    if !flag.is_null() {
        FLAG.store(flag.cast(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_noticed_by_all() {
        extern crate std;
        find_thread_flag();
        std::thread::scope(|scope| {
            let other = scope.spawn(is_single_threaded);
            assert!(!is_single_threaded());
            assert!(!other.join().unwrap());
        });
    }
}
