//! Fault injection for tests: makes the n-th allocation of this thread fail, of objects and of
//! blocks.

use core::ffi::c_void;
use std::cell::Cell;
use std::sync::{Once, mpsc};
use std::time::Duration;

use ferrite_core::abi::TVMFFICustomAllocator;
use ferrite_core::object::object_alloc;

std::thread_local! {
    /// Number of allocations that still succeed; `None` for no limit.
    static GRANTED: Cell<Option<usize>> = const { Cell::new(None) };
    /// Callback to run before each allocation.
    static MEANWHILE: Cell<Option<fn()>> = const { Cell::new(None) };
}

/// Returns `true` if the current allocation must fail.
pub(super) fn refuse() -> bool {
    // The callback may allocate, too.
    if let Some(meanwhile) = MEANWHILE.take() {
        meanwhile();
        MEANWHILE.set(Some(meanwhile));
    }
    GRANTED.with(|granted| match granted.get() {
        Some(0) => true,
        Some(left) => {
            granted.set(Some(left - 1));
            false
        }
        None => false,
    })
}

/// Runs `body` repeatedly, permitting one more allocation each time, until a run leaves one unused.
/// Returns the number of allocations permitted in that run.
pub(crate) fn with_every_refusal(mut body: impl FnMut()) -> usize {
    install();
    for granted in 0.. {
        GRANTED.set(Some(granted));
        body();
        let left = GRANTED.replace(None);
        if left != Some(0) {
            return granted;
        }
    }
    unreachable!("the loop has no end")
}

/// Runs `body` like [`with_every_refusal`], in a separate thread that calls `meanwhile` before each
/// allocation. Panics if the thread does not finish, for example because `meanwhile` waits for a
/// lock that is held during the allocation.
pub(crate) fn asked_while(meanwhile: fn(), body: impl FnMut() + Send + 'static) {
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || {
        MEANWHILE.set(Some(meanwhile));
        let _ = done.send(with_every_refusal(body));
    });
    let requests = ended
        .recv_timeout(Duration::from_secs(600))
        .expect("a lock is held while memory is asked for");
    assert!(requests > 0);
}

/// Installs an object allocator that calls [`refuse`] before the built-in allocator.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let builtin = object_alloc::custom_allocator();
        let record = TVMFFICustomAllocator { allocate: Some(allocate), context: builtin.cast() };
        // SAFETY: the record is never freed.
        unsafe {
            object_alloc::set_custom_allocator(std::boxed::Box::leak(std::boxed::Box::new(record)))
        }
    });
}

unsafe extern "C" fn allocate(
    size: usize,
    alignment: usize,
    type_index: i32,
    context: *mut c_void,
) -> *mut c_void {
    if refuse() {
        return core::ptr::null_mut();
    }
    let builtin = context.cast::<TVMFFICustomAllocator>();
    // SAFETY: the context is the built-in allocator's record, which is static.
    unsafe {
        match (*builtin).allocate {
            Some(allocate) => allocate(size, alignment, type_index, (*builtin).context),
            None => core::ptr::null_mut(),
        }
    }
}
