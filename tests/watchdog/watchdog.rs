//! A watchdog for tests that hang, however slow or busy the machine is: `watchdog.h` in Rust. Tests
//! of any package include this file as a module.

use std::ffi::{c_int, c_long, c_uint};
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering::Relaxed};

const SIGALRM: c_int = 14;
/// Number of looks at the process before it counts as hanging.
const TICKS: u32 = 10;
/// Processor time in microseconds between two looks that means no progress. The look itself takes
/// some.
const IDLE_MICROS: i64 = 2000;

unsafe extern "C" {
    fn alarm(seconds: c_uint) -> c_uint;
    fn clock() -> c_long;
    fn raise(number: c_int) -> c_int;
    fn signal(number: c_int, handler: usize) -> usize;
}

static SECONDS: AtomicU32 = AtomicU32::new(0);
static IDLE_TICKS: AtomicU32 = AtomicU32::new(0);
static START: AtomicI64 = AtomicI64::new(0);
static LAST: AtomicI64 = AtomicI64::new(0);

/// Returns the processor time of this process in microseconds.
#[allow(clippy::useless_conversion, reason = "the type has 32 bits on 32-bit systems")]
fn used() -> i64 {
    // SAFETY: takes no arguments, and may be called by signal handlers. POSIX counts in
    // microseconds.
    i64::from(unsafe { clock() })
}

fn wait() {
    let tick = (SECONDS.load(Relaxed) / TICKS).max(1);
    // SAFETY: the handler only calls functions that signal handlers may call. It restarts system
    // calls.
    unsafe {
        signal(SIGALRM, look as *const () as usize);
        alarm(tick);
    }
}

extern "C" fn look(number: c_int) {
    let now = used();
    let is_idle = now - LAST.swap(now, Relaxed) < IDLE_MICROS;
    let idle_ticks = if is_idle { IDLE_TICKS.fetch_add(1, Relaxed) + 1 } else { 0 };
    IDLE_TICKS.store(idle_ticks, Relaxed);
    let in_all = (now - START.load(Relaxed)) / 1_000_000;
    if idle_ticks < TICKS && in_all <= 10 * i64::from(SECONDS.load(Relaxed)) {
        return wait();
    }
    // SAFETY: ends the process, at the latest when this handler returns.
    unsafe {
        signal(number, 0);
        raise(number);
    }
}

/// Ends the process by `SIGALRM` if it gets no processor time for this many seconds, or uses ten
/// times as many of processor time, until the next call. A forked child has no watchdog until it
/// calls this itself.
pub fn watchdog(seconds: u32) {
    SECONDS.store(seconds, Relaxed);
    IDLE_TICKS.store(0, Relaxed);
    START.store(used(), Relaxed);
    LAST.store(used(), Relaxed);
    wait();
}
