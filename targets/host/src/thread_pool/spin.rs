//! Polling before sleeping: a waiting thread spins, then yields, and goes to sleep after a time
//! limit or when other threads need the processor.
//!
//! Waking a sleeping thread costs both threads a system call, tens of times as long as a launch.
//! The loops of a model follow each other within microseconds, so it pays off to keep workers awake
//! in between. This is not the case if there are more runnable threads than processors: a thread
//! that yields is scheduled again late, and a thread that spins has used up its time slice when
//! work arrives.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

use ferrite_core::platform::sync::atomic::{AtomicU32, Ordering};

use super::settings;

/// Spin rounds before the first yield: a few microseconds.
const FIRST_ROUNDS: u32 = 128;

/// Spin rounds between two yields. They take longer than a yield on an idle processor, so that most
/// results are seen while spinning.
const ROUNDS: u32 = 64;

/// Duration of a yield above which another busy thread must have run on the processor.
const LONG_YIELD: Duration = Duration::from_millis(1);

/// Number of waits after a long yield that sleep immediately, before a wait tries to yield again.
static PENALTY: AtomicU32 = AtomicU32::new(0);

/// Maximum of [`PENALTY`]. Each long yield doubles the penalty, so that an occasional disturbance
/// costs little; short yields halve it.
const MAX_PENALTY: u32 = 64;

/// Number of remaining waits that sleep immediately. Waits of racing threads may be counted once.
static LEFT: AtomicU32 = AtomicU32::new(0);

/// Polls `look` until it returns a result. Returns `None` if the thread should sleep instead.
pub(super) fn poll<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    briefly(&look).or_else(|| yield_until(settings::spin_limit(), &look))
}

/// Polls `look` for a few microseconds until it returns a result.
pub(super) fn briefly<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    spin(FIRST_ROUNDS, &look)
}

fn spin<T>(rounds: u32, look: &impl Fn() -> Option<T>) -> Option<T> {
    for _ in 0..rounds {
        let result = look();
        if result.is_some() {
            return result;
        }
        hint::spin_loop();
    }
    None
}

#[cold]
fn yield_until<T>(limit: Duration, look: &impl Fn() -> Option<T>) -> Option<T> {
    let left = LEFT.load(Ordering::Relaxed);
    if left > 0 {
        LEFT.store(left - 1, Ordering::Relaxed);
        return None;
    }
    let start = Instant::now();
    let mut before = start;
    let mut result = None;
    while result.is_none() && before - start < limit {
        thread::yield_now();
        let after = Instant::now();
        if after - before > LONG_YIELD {
            note_crowd();
            return look();
        }
        before = after;
        result = spin(ROUNDS, look);
    }
    let penalty = PENALTY.load(Ordering::Relaxed);
    if penalty > 0 {
        PENALTY.store(penalty / 2, Ordering::Relaxed);
    }
    result
}

fn note_crowd() {
    let penalty = (2 * PENALTY.load(Ordering::Relaxed)).clamp(2, MAX_PENALTY);
    PENALTY.store(penalty, Ordering::Relaxed);
    LEFT.store(penalty, Ordering::Relaxed);
}
