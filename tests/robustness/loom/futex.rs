//! The thread pool's futexes on loom: one condition variable for all words.

use loom::sync::atomic::{AtomicU32, Ordering};
use loom::sync::{Condvar, Mutex};

loom::lazy_static! {
    static ref LOCK: Mutex<()> = Mutex::new(());
    static ref CHANGED: Condvar = Condvar::new();
}

pub fn wait(word: &AtomicU32, value: u32) {
    let guard = LOCK.lock().unwrap();
    if word.load(Ordering::Acquire) == value {
        drop(CHANGED.wait(guard).unwrap());
    }
}

pub fn wake(_word: *const AtomicU32) {
    drop(LOCK.lock().unwrap());
    CHANGED.notify_all();
}
