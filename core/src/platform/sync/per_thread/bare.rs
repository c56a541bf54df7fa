//! Per-thread state without std: one instance for the whole program, guarded by a lock. Firmware
//! has one thread of execution and its interrupts.
//!
//! If several cores or tasks share the library, an object may be destroyed by another core or task
//! than the one that released it. The raised error is per task if the platform identifies tasks.

use core::cell::Cell;
use core::ptr;

use super::Dying;
use crate::platform::sync::atomic::{AtomicBool, Ordering};
use crate::platform::sync::{Mutex, critical};

/// The program's queue of dying objects.
struct SharedQueue(Dying);

// SAFETY: only borrowed in critical sections, which exclude each other.
unsafe impl Sync for SharedQueue {}

static DYING: SharedQueue = SharedQueue(Cell::new(ptr::null_mut()));

/// A handle to the queue of dying objects.
pub(crate) struct Queue;

/// Returns the queue of dying objects.
#[inline]
pub(crate) fn dying() -> Queue {
    Queue
}

/// A single-threaded process has the same queue.
pub(crate) use dying as dying_single_threaded;

impl Queue {
    /// Runs `body` with access to the queue.
    #[inline]
    pub fn with<R>(&self, body: impl FnOnce(&Dying) -> R) -> R {
        critical(|| body(&DYING.0))
    }
}

/// Records whether a custom allocator is allocating an error object. Returns the previous state.
#[inline]
pub(crate) fn swap_asking_for_error(asks: bool) -> bool {
    static ASKS: AtomicBool = AtomicBool::new(false);
    // Not atomic: an interrupt between the two restores the state that it found.
    let before = ASKS.load(Ordering::Relaxed);
    ASKS.store(asks, Ordering::Relaxed);
    before
}

#[doc(hidden)]
pub use crate::platform::sync::Mutex as __Mutex;

/// A value declared by [`per_thread!`](crate::per_thread); never dropped.
pub type PerThread<T> = Mutex<T>;

/// Declares a per-thread value with a constant initialiser: `per_thread!(static COUNT: u32 = 0);`.
/// In this build the whole program shares one value.
#[macro_export]
macro_rules! per_thread {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $initial:expr) => {
        $(#[$meta])*
        static $name: $crate::platform::sync::per_thread::__Mutex<$type> =
            $crate::platform::sync::per_thread::__Mutex::new($initial);
    };
}

/// Runs `body` with access to the value. Never returns `None` in this build. `body` must not access
/// the same value.
#[inline]
pub fn with<T: Send, R>(value: &'static PerThread<T>, body: impl FnOnce(&mut T) -> R) -> Option<R> {
    Some(value.with_mut(body))
}

/// Runs `body` with shared access to the value. Never returns `None` in this build. `body` must not
/// access the same value.
#[inline]
pub fn with_shared<T: Send, R>(
    value: &'static PerThread<T>,
    body: impl FnOnce(&T) -> R,
) -> Option<R> {
    Some(value.with_mut(|value| body(value)))
}
