//! Tests the locks of bare metal on a host, with critical sections that are counted.
#![allow(missing_docs, reason = "each test's name says it")]

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Parts of the crate that the file uses.
mod platform {
    pub mod hooks {
        pub fn yield_now() {}

        pub fn raised_slot() -> *mut *mut core::ffi::c_void {
            core::ptr::null_mut()
        }
    }
}

#[path = "../src/platform/sync/masked.rs"]
#[expect(dead_code, reason = "locks alone are tested")]
mod masked;

use masked::{Lock, Mutex, critical};

/// Number of sections that have begun and not ended: interrupts come when it is 0.
static DEPTH: AtomicUsize = AtomicUsize::new(0);

struct Sections;

critical_section::set_impl!(Sections);

// SAFETY: one test uses the locks, on one thread.
unsafe impl critical_section::Impl for Sections {
    unsafe fn acquire() -> critical_section::RawRestoreState {
        DEPTH.fetch_add(1, Ordering::Relaxed);
        Default::default()
    }

    unsafe fn release(_: critical_section::RawRestoreState) {
        DEPTH.fetch_sub(1, Ordering::Relaxed);
    }
}

fn depth() -> usize {
    DEPTH.load(Ordering::Relaxed)
}

#[test]
fn sections_end_in_reverse_order() {
    static LOCK: Lock<Cell<usize>> = Lock::new(Cell::new(1));
    static MUTEX: Mutex<usize> = Mutex::new(2);
    let depths = LOCK.with(|value| {
        let inner = MUTEX.with_mut(|other| {
            *other += value.replace(3);
            critical(depth)
        });
        (inner, depth())
    });
    assert_eq!((depths, depth()), ((3, 1), 0));
    assert_eq!((LOCK.with(Cell::get), MUTEX.with_mut(|value| *value)), (3, 3));
    // A section of other code outlasts those in it.
    critical_section::with(|_| {
        assert_eq!(LOCK.with(|_| depth()), 2);
        assert_eq!(depth(), 1);
    });
    assert_eq!(depth(), 0);
}

/// Compiles only while the locks have no method that returns a guard: it would be found first.
#[test]
fn no_guard_leaves_a_section() {
    struct None;
    trait NoGuard {
        fn lock(&self) -> None {
            None
        }
    }
    impl<T> NoGuard for Lock<T> {}
    impl<T> NoGuard for Mutex<T> {}
    let None = Lock::new(1).lock();
    let None = Mutex::new(1).lock();
}
