//! Substitute for the host's waits: by a number of looks in place of time, which loom does not
//! have.

use std::time::Duration;

/// Waits for as long as it takes, or looks only once if the longest time is zero.
pub fn wait_while(busy: impl Fn() -> bool, longest: Duration) -> bool {
    while busy() {
        if longest.is_zero() {
            return false;
        }
        loom::thread::yield_now();
    }
    true
}
