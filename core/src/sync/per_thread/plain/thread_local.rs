//! The plain values of each thread, in std's thread-local storage.

extern crate std;

use core::cell::Cell;
use core::ptr;

use super::Plain;

std::thread_local! {
    static PLAIN: Plain = const {
        Plain {
            dying: Cell::new(ptr::null_mut()),
            asks: Cell::new(false),
            outer: (Cell::new(0), Cell::new(ptr::null_mut())),
        }
    };
}

/// Lends what this thread has.
#[inline]
pub fn with<R>(body: impl FnOnce(&Plain) -> R) -> R {
    PLAIN.with(body)
}
