//! By the destructor of a pthread key. It runs after the destructors of thread-local values in C++
//! and Rust.
//!
//! glibc allocates only in threads of processes with more than 32 keys, and reports when it cannot;
//! musl never does.

use core::ffi::{c_int, c_uint, c_void};
use core::sync::atomic::{AtomicU32, Ordering};

unsafe extern "C" {
    fn pthread_key_create(
        key: *mut c_uint,
        destructor: Option<unsafe extern "C" fn(*mut c_void)>,
    ) -> c_int;
    fn pthread_key_delete(key: c_uint) -> c_int;
    fn pthread_setspecific(key: c_uint, value: *const c_void) -> c_int;
}

const NO_KEY: c_uint = c_uint::MAX;

/// The key of this library, created when a thread first needs it.
static KEY: AtomicU32 = AtomicU32::new(NO_KEY);

pub(super) fn announce() -> bool {
    // Any value that is not null makes the destructor run.
    // SAFETY: the value is never read.
    key().is_some_and(|key| unsafe { pthread_setspecific(key, (&raw const KEY).cast()) } == 0)
}

/// Returns the key, or `None` if the process has too many.
fn key() -> Option<c_uint> {
    let present = KEY.load(Ordering::Relaxed);
    if present != NO_KEY {
        return Some(present);
    }
    let mut new = NO_KEY;
    // SAFETY: `new` is valid for the write, and `end` as long as the key: see `AT_UNLOAD`.
    if unsafe { pthread_key_create(&mut new, Some(end)) } != 0 {
        return None;
    }
    match KEY.compare_exchange(NO_KEY, new, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => Some(new),
        Err(present) => {
            // SAFETY: no other thread has seen the new key.
            unsafe { pthread_key_delete(new) };
            Some(present)
        }
    }
}

unsafe extern "C" fn end(_value: *mut c_void) {
    super::values::destroy_all();
}

/// Deletes the key when a plug-in that contains the library is unloaded: threads that end later
/// keep their values.
extern "C" fn delete_key() {
    let key = KEY.swap(NO_KEY, Ordering::Relaxed);
    if key != NO_KEY {
        // SAFETY: the key was created by `key`.
        unsafe { pthread_key_delete(key) };
    }
}

#[used]
#[unsafe(link_section = ".fini_array")]
static AT_UNLOAD: extern "C" fn() = delete_key;
