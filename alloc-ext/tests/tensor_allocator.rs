//! Tensor allocators of threads, from the time that a process has one thread. The harness of unit
//! tests starts threads, so this program has none.
use core::ffi::{c_char, c_int, c_void};

use ferrite_alloc_ext::env::tensor_alloc::{get, set};
use ferrite_core::abi::{DLManagedTensorVersioned, DLPackManagedTensorAllocator, DLTensor};
use ferrite_core::platform::sync::{find_thread_flag, is_single_threaded};

type SetError = Option<unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char)>;

/// An allocator that is never called; its status tells it from others.
unsafe extern "C" fn refuse<const STATUS: c_int>(
    _: *mut DLTensor,
    _: *mut *mut DLManagedTensorVersioned,
    _: *mut c_void,
    _: SetError,
) -> c_int {
    STATUS
}

const EARLY: DLPackManagedTensorAllocator = Some(refuse::<1>);
const OWN: DLPackManagedTensorAllocator = Some(refuse::<2>);
const GLOBAL: DLPackManagedTensorAllocator = Some(refuse::<3>);

fn assert_in_use(expected: DLPackManagedTensorAllocator) {
    assert_eq!(get().map(|one| one as usize), expected.map(|one| one as usize));
}

/// Sets the allocator of this thread, and the global one if `is_global`.
fn put(allocator: DLPackManagedTensorAllocator, is_global: bool) {
    // SAFETY: the allocators are functions of this program, and nothing calls them.
    unsafe { set(allocator, is_global) };
}

fn main() {
    assert_in_use(None);
    // The library does not know yet that the process has one thread.
    put(EARLY, false);
    assert_in_use(EARLY);
    find_thread_flag();
    if cfg!(all(target_os = "linux", target_env = "gnu")) {
        assert!(is_single_threaded(), "the program has no threads");
    }
    assert_in_use(EARLY);
    put(GLOBAL, true);
    put(None, false);
    assert_in_use(GLOBAL);
    put(OWN, false);
    assert_in_use(OWN);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert_in_use(GLOBAL);
            put(EARLY, false);
            assert_in_use(EARLY);
        });
    });
    assert_in_use(OWN);
    println!("1 test");
}
