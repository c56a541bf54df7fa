//! How a thread waits before it sleeps: it spins, then yields, and gives up when the time is over or the processor is wanted.
//!
//! To wake a sleeping thread takes both threads a system call, tens of times as long as a launch takes. Loops of a model follow
//! one another within microseconds, so a worker that stays awake between them is worth its processor. On a machine with more
//! threads to run than processors it is not: a thread that yields comes back late, and one that used up its time slice for
//! nothing has none left when there is work.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

use ferrite_core::sync::atomic::{AtomicU32, Ordering};

use super::settings;

/// Rounds of spinning before the first yield: some microseconds.
const FIRST_ROUNDS: u32 = 128;

/// Rounds of spinning between two yields: longer than a yield takes when no other thread wants the processor, so that a result is
/// mostly seen at once.
const ROUNDS: u32 = 64;

/// A yield that takes longer gave the processor to a thread that has much to do.
const LONG_YIELD: Duration = Duration::from_millis(1);

/// How often threads sleep at once after a long yield, before one tries again to yield.
static PENALTY: AtomicU32 = AtomicU32::new(0);

/// The most of these. They double with every long yield, so that a disturbance now and then costs little, and are halved when
/// yields are short again.
const MAX_PENALTY: u32 = 64;

/// How often threads are still to sleep at once. Threads that count at the same time may count once.
static LEFT: AtomicU32 = AtomicU32::new(0);

/// Looks for a result until there is one; `None` when it is time to sleep.
pub(super) fn poll<T>(look: impl Fn() -> Option<T>) -> Option<T> {
    spin(FIRST_ROUNDS, &look).or_else(|| yield_until(settings::spin_limit(), &look))
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
