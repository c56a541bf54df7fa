//! One state for the whole program, under a lock: boards have one thread of execution and its interrupts.
//!
//! Where several cores or threads do share it, an object may be destroyed by another one than the one that
//! released it, and an error raised by two at once keeps the later one.

use super::ReleaseQueue;
use crate::abi::TVMFFIObject;
use crate::sync::Mutex;
use core::cell::Cell;
use core::ptr;

/// Makes a value that holds raw pointers acceptable to the lock.
struct Shared<T>(T);

// SAFETY: holds pointers to objects whose counts work from every thread; the mutex admits one at a time.
unsafe impl Send for Shared<ReleaseQueue> {}
// SAFETY: as above, with errors, which any thread may read and release.
unsafe impl Send for Shared<Cell<*mut TVMFFIObject>> {}

static QUEUE: Mutex<Shared<ReleaseQueue>> = Mutex::new(Shared(ReleaseQueue::new()));
static RAISED: Mutex<Shared<Cell<*mut TVMFFIObject>>> = Mutex::new(Shared(Cell::new(ptr::null_mut())));

/// Lends the queue of objects to destroy.
#[inline]
pub fn release_queue<R>(body: impl FnOnce(&ReleaseQueue) -> R) -> R {
    body(&QUEUE.lock().0)
}

/// Lends the slot of the raised error, which owns a strong reference unless null. Never `None` here.
#[inline]
pub fn with_raised<R>(body: impl FnOnce(&Cell<*mut TVMFFIObject>) -> R) -> Option<R> {
    Some(body(&RAISED.lock().0))
}

#[doc(hidden)]
pub use crate::sync::Mutex as __Mutex;

/// A value of [`per_thread!`](crate::per_thread); never dropped.
pub type PerThread<T> = Mutex<T>;

/// Declares a value that every thread would have for itself: `per_thread!(static COUNT: u32 = 0);`,
/// initialised by a constant.
#[macro_export]
macro_rules! per_thread {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $initial:expr) => {
        $(#[$meta])*
        static $name: $crate::sync::per_thread::__Mutex<$type> =
            $crate::sync::per_thread::__Mutex::new($initial);
    };
}

/// Lends the one value of the program. Never `None` here; not to be used inside another `body` on the same
/// value.
#[inline]
pub fn with<T: Send, R>(value: &'static PerThread<T>, body: impl FnOnce(&mut T) -> R) -> Option<R> {
    Some(body(&mut value.lock()))
}
