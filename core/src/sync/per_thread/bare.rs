//! One state for the whole program, under a lock: firmware has one thread of execution and its interrupts.
//!
//! Where several cores or tasks do share it, an object may be destroyed by another one than the one that
//! released it. The raised error is each task's own where the platform tells tasks apart.

use core::cell::Cell;
use core::ptr;

use super::Dying;
use crate::sync::atomic::{AtomicBool, Ordering};
use crate::sync::{Mutex, critical};

/// The one queue.
struct SharedQueue(Dying);

// SAFETY: it is lent in critical sections only, which exclude each other.
unsafe impl Sync for SharedQueue {}

static DYING: SharedQueue = SharedQueue(Cell::new(ptr::null_mut()));

/// The queue of dying objects.
pub struct Queue;

/// The queue of dying objects.
#[inline]
pub fn dying() -> Queue {
    Queue
}

/// The queue of a single-threaded process: the one queue.
pub use dying as dying_single_threaded;

impl Queue {
    /// Lends the queue.
    #[inline]
    pub fn with<R>(&self, body: impl FnOnce(&Dying) -> R) -> R {
        critical(|| body(&DYING.0))
    }
}

/// Says whether a custom allocator is being asked for an error object; gives what was said before.
#[inline]
pub fn swap_asking_for_error(asks: bool) -> bool {
    static ASKS: AtomicBool = AtomicBool::new(false);
    // Not one step: an interrupt between the two ends as it found this.
    let before = ASKS.load(Ordering::Relaxed);
    ASKS.store(asks, Ordering::Relaxed);
    before
}

#[cfg(not(feature = "client"))]
mod raised {
    use core::cell::Cell;

    use crate::abi::TVMFFIObject;
    use crate::platform;
    use crate::sync::critical;

    /// Lends the slot of the raised error, which owns a strong reference unless null.
    #[inline]
    pub fn with_raised<R>(body: impl FnOnce(&Cell<*mut TVMFFIObject>) -> R) -> R {
        let slot = platform::raised_slot().cast();
        // SAFETY: the platform gives the place of a pointer, which is touched in critical sections only.
        critical(|| body(unsafe { Cell::from_mut(&mut *slot) }))
    }
}
#[cfg(not(feature = "client"))]
pub use raised::with_raised;

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
