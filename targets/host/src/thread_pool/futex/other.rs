//! Sleeping until an atomic word changes, on systems other than Linux: all sleeping threads share
//! one condition variable.
#![forbid(unsafe_code)]

use std::sync::{Condvar, PoisonError};

use ferrite_core::platform::sync::Mutex;
use ferrite_core::platform::sync::atomic::{AtomicU32, Ordering};

/// Lock that a thread holds from the check of the word until it sleeps, so that no wake-up is lost.
static LOCK: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

/// Sleeps while the word has this value, until [`wake`] is called. Spurious returns are possible.
pub(super) fn wait(word: &AtomicU32, value: u32) {
    let guard = LOCK.lock();
    if word.load(Ordering::Acquire) == value {
        drop(CHANGED.wait(guard).unwrap_or_else(PoisonError::into_inner));
    }
}

/// Wakes all sleeping threads, whatever word they wait for. The word may already be freed.
pub(super) fn wake(_word: *const AtomicU32) {
    // A thread that saw the word's old value sleeps by now.
    drop(LOCK.lock());
    CHANGED.notify_all();
}
