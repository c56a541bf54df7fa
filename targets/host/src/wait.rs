//! Short waits for other threads.

use core::time::Duration;
use std::thread;
use std::time::Instant;

/// Waits until `busy` returns `false`. Returns `false` if that takes longer than `longest`.
pub(crate) fn wait_while(busy: impl Fn() -> bool, longest: Duration) -> bool {
    if !busy() {
        return true;
    }
    let start = Instant::now();
    while busy() {
        if start.elapsed() > longest {
            return false;
        }
        thread::yield_now();
    }
    true
}
