//! Per-thread state in thread-local storage.

extern crate std;

use super::Dying;
use crate::abi::TVMFFIObject;
use core::cell::{Cell, RefCell};
use core::ptr;

/// Slot for the raised error of a thread. Releases the error when the thread ends.
struct RaisedSlot(Cell<*mut TVMFFIObject>);

impl Drop for RaisedSlot {
    fn drop(&mut self) {
        let error = self.0.replace(ptr::null_mut());
        if !error.is_null() {
            // SAFETY: the slot's strong reference was taken out of it.
            unsafe { crate::release::release_object(error) };
        }
    }
}

std::thread_local! {
    // Without a destructor, so that it works while other thread-local values are being destroyed.
    static DYING: Dying = const { Cell::new(ptr::null_mut()) };
    static ASKS: Cell<bool> = const { Cell::new(false) };
    static RAISED_AT_EXIT: Cell<*mut TVMFFIObject> = const { Cell::new(ptr::null_mut()) };
    static RAISED: RaisedSlot = const { RaisedSlot(Cell::new(ptr::null_mut())) };
}

/// Queue of a single-threaded process. It is a static, so that access needs no thread-local lookup.
struct SingleThreadQueue(Dying);

// SAFETY: a thread uses it only while the process is single-threaded, until its destruction ends. Threads started
// meanwhile use their own queues: glibc never counts a process as single-threaded again, not even a child of `fork`.
unsafe impl Sync for SingleThreadQueue {}

static SINGLE_THREAD_QUEUE: SingleThreadQueue = SingleThreadQueue(Cell::new(ptr::null_mut()));

/// A handle to a queue of dying objects.
pub struct Queue(*const Dying);

/// Returns this thread's queue of dying objects.
#[inline]
pub fn dying() -> Queue {
    Queue(DYING.with(ptr::from_ref))
}

/// Returns the queue of a single-threaded process. Once the process starts threads, dying objects go to [`dying`].
#[inline]
pub fn dying_single_threaded() -> Queue {
    Queue(&raw const SINGLE_THREAD_QUEUE.0)
}

impl Queue {
    /// Runs `body` with access to the queue.
    #[inline]
    pub fn with<R>(&self, body: impl FnOnce(&Dying) -> R) -> R {
        // SAFETY: the pointer is a static, or a thread-local without a destructor of the current thread; queues are not
        // sent to other threads.
        body(unsafe { &*self.0 })
    }
}

/// Records whether a custom allocator is allocating an error object for this thread. Returns the previous state.
#[inline]
pub fn swap_asking_for_error(asks: bool) -> bool {
    ASKS.replace(asks)
}

/// Runs `body` with access to the slot of this thread's raised error. The slot is null or owns a strong reference.
///
/// Destructors of other thread-local values and exit handlers of the process run after the slot is destroyed. They use
/// another slot, whose error is never released.
#[inline]
pub fn with_raised<R>(body: impl FnOnce(&Cell<*mut TVMFFIObject>) -> R) -> R {
    let slot = RAISED.try_with(|slot| ptr::from_ref(&slot.0)).unwrap_or_else(|_| exit_slot());
    // SAFETY: both slots are in the thread's storage; the first is only destroyed at the end of the thread, not during
    // this call.
    body(unsafe { &*slot })
}

/// Returns the slot for accesses after [`RAISED`] was destroyed.
#[cold]
#[inline(never)]
fn exit_slot() -> *const Cell<*mut TVMFFIObject> {
    RAISED_AT_EXIT.with(ptr::from_ref)
}

#[doc(hidden)]
pub use core::cell::RefCell as __RefCell;
#[doc(hidden)]
pub use std::thread_local as __thread_local;

/// A value declared by [`per_thread!`](crate::per_thread); dropped when its thread ends.
pub type PerThread<T> = std::thread::LocalKey<RefCell<T>>;

/// Declares a thread-local value with a constant initialiser: `per_thread!(static COUNT: u32 = 0);`.
#[macro_export]
macro_rules! per_thread {
    ($(#[$meta:meta])* static $name:ident: $type:ty = $initial:expr) => {
        $crate::sync::per_thread::__thread_local! {
            $(#[$meta])*
            static $name: $crate::sync::per_thread::__RefCell<$type> =
                const { $crate::sync::per_thread::__RefCell::new($initial) };
        }
    };
}

/// Runs `body` with access to this thread's value.
///
/// Returns `None` if the thread is ending and the value is already destroyed, or if `body` of an outer call is
/// accessing the same value.
#[inline]
pub fn with<T, R>(value: &'static PerThread<T>, body: impl FnOnce(&mut T) -> R) -> Option<R> {
    value.try_with(|value| value.try_borrow_mut().ok().map(|mut value| body(&mut value))).ok().flatten()
}
