//! Sleeping until a word changes, on systems other than Linux: all sleepers share one condition variable.
#![forbid(unsafe_code)]

use std::sync::{Condvar, PoisonError};

use ferrite_core::sync::Mutex;
use ferrite_core::sync::atomic::{AtomicU32, Ordering};

/// Held from the check of a word until the thread sleeps.
static LOCK: Mutex<()> = Mutex::new(());
static CHANGED: Condvar = Condvar::new();

/// Sleeps while the word has this value, until [`wake`] is called. Spurious returns are possible.
pub(super) fn wait(word: &AtomicU32, value: u32) {
    let guard = LOCK.lock();
    if word.load(Ordering::Acquire) == value {
        drop(CHANGED.wait(guard).unwrap_or_else(PoisonError::into_inner));
    }
}

/// Wakes all sleeping threads, whatever they wait for. The word may already be freed.
pub(super) fn wake(_word: *const AtomicU32) {
    // A thread that saw the word's old value sleeps by now.
    drop(LOCK.lock());
    CHANGED.notify_all();
}
