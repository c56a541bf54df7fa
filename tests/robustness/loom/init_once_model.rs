//! Models of one-time handles: one initialiser of a handle runs at a time, beside those of other
//! handles; its writes are visible, and failures are retried.

use core::ffi::c_void;
use core::ptr;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use loom::thread;

use crate::in_progress::{self, InProgress, InitFailure};
use crate::sync::Lock;

/// A one-time handle, its content, and the number of initialisations.
struct Once {
    makers: Arc<Lock<InProgress>>,
    handle: AtomicPtr<c_void>,
    content: UnsafeCell<usize>,
    made: AtomicUsize,
}

// SAFETY: the initialiser writes the content, and owners of the handle read it, which loom checks.
unsafe impl Sync for Once {}

impl Once {
    fn new() -> Arc<Self> {
        Self::with_makers(Arc::new(Lock::new(InProgress::none())))
    }

    /// Creates a second handle, whose initialisations are in the same list.
    fn new_beside(&self) -> Arc<Self> {
        Self::with_makers(self.makers.clone())
    }

    fn with_makers(makers: Arc<Lock<InProgress>>) -> Arc<Self> {
        Arc::new(Self {
            makers,
            handle: AtomicPtr::new(ptr::null_mut()),
            content: UnsafeCell::new(0),
            made: AtomicUsize::new(0),
        })
    }

    /// Initialises the handle; the first `failures` attempts fail.
    fn init(&self, failures: usize) -> Result<i32, InitFailure> {
        self.init_after(failures, || ())
    }

    /// Initialises the handle; each attempt calls `before` first.
    fn init_after(&self, failures: usize, before: impl FnOnce()) -> Result<i32, InitFailure> {
        in_progress::init(&self.makers, &self.handle, |result| {
            before();
            // SAFETY: loom checks for concurrent writes, and for reads before the handle is set.
            let attempt = self.content.with_mut(|content| unsafe {
                *content += 1;
                *content
            });
            self.made.fetch_add(1, Ordering::Relaxed);
            if attempt <= failures {
                return -1;
            }
            // SAFETY: `init` passes a valid result pointer.
            unsafe { result.write(ptr::without_provenance_mut(attempt)) };
            0
        })
    }

    fn content(&self) -> usize {
        // SAFETY: loom checks for concurrent writes.
        self.content.with(|content| unsafe { *content })
    }
}

#[test]
fn one_thread_makes_the_handle_and_the_other_sees_its_work() {
    loom::model(|| {
        let once = Once::new();
        let theirs = once.clone();
        let thread = thread::spawn(move || {
            assert_eq!(theirs.init(0), Ok(0));
            assert_eq!(theirs.content(), 1);
        });
        assert_eq!(once.init(0), Ok(0));
        assert_eq!(once.content(), 1);
        thread.join().unwrap();
        assert_eq!(once.made.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn after_a_failure_the_other_thread_tries() {
    loom::model(|| {
        let once = Once::new();
        let theirs = once.clone();
        let thread = thread::spawn(move || theirs.init(1));
        let (here, there) = (once.init(1), thread.join().unwrap());
        assert!(matches!((here, there), (Ok(0), Ok(-1)) | (Ok(-1), Ok(0))));
        assert_eq!((once.content(), once.made.load(Ordering::Relaxed)), (2, 2));
    });
}

#[test]
fn two_handles_are_made_at_once() {
    loom::model(|| {
        let first = Once::new();
        let second = first.new_beside();
        let theirs = second.clone();
        let thread = thread::spawn(move || assert_eq!(theirs.init(0), Ok(0)));
        let wait_for_second = || {
            while second.handle.load(Ordering::Relaxed).is_null() {
                thread::yield_now();
            }
        };
        assert_eq!(first.init_after(0, wait_for_second), Ok(0));
        thread.join().unwrap();
    });
}

#[test]
fn a_nested_handle_is_made_by_another_thread() {
    loom::model(|| {
        let outer = Once::new();
        let inner = outer.new_beside();
        let (their_outer, their_inner) = (outer.clone(), inner.clone());
        let thread = thread::spawn(move || {
            make_at_second_attempt(&their_inner);
            assert_eq!(their_outer.init(0), Ok(0));
            assert_eq!(their_outer.content(), 1);
        });
        assert_eq!(outer.init_after(0, || make_at_second_attempt(&inner)), Ok(0));
        assert_eq!((inner.content(), outer.content()), (2, 1));
        thread.join().unwrap();
    });
}

/// Initialises a handle whose first attempt, by any thread, fails.
fn make_at_second_attempt(once: &Once) {
    let status = once.init(1).unwrap();
    assert!(status == 0 || once.init(1) == Ok(0));
}

#[test]
fn a_handle_that_asks_for_itself_is_refused() {
    loom::model(|| {
        let once = Once::new();
        let outcome = in_progress::init(&once.makers, &once.handle, |_| {
            assert_eq!(once.init(0), Err(InitFailure::Nested));
            -1
        });
        assert_eq!(outcome, Ok(-1));
    });
}
