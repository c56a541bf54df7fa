//! Detection of single-threaded processes by glibc's flag.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

unsafe extern "C" {
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Name of glibc's flag, which exists since version 2.32.
const NAME: &CStr = c"__libc_single_threaded";

/// The flag that is read before [`find_thread_flag`], and if glibc has none: always multi-threaded.
static UNKNOWN: AtomicU8 = AtomicU8::new(0);

static FLAG: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const UNKNOWN).cast_mut());

/// Returns `true` if the process is single-threaded. It stays single-threaded until the calling
/// thread starts another thread.
///
/// Locked instructions are most of the cost of a reference count; libstdc++'s `shared_ptr` and
/// malloc omit them depending on the same flag. glibc clears the flag before it starts a thread,
/// and never sets it for a second copy of itself in the process. Writes made while single-threaded
/// are visible to threads started later.
#[inline(always)]
pub fn is_single_threaded() -> bool {
    // SAFETY: the pointer is the static above or the flag of glibc, which is never freed. Any
    // ordering will do, since only this thread can start the first other thread.
    unsafe { &*FLAG.load(Ordering::Relaxed) }.load(Ordering::Relaxed) != 0
}

/// Looks up the address of glibc's flag. Until it is called, every process counts as
/// multi-threaded.
pub fn find_thread_flag() {
    // SAFETY: a null handle searches all libraries of the program.
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
