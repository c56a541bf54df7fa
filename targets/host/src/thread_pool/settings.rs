//! Settings of the pool from environment variables. Each is read once, on first use.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `TVM_NUM_THREADS`, else `OMP_NUM_THREADS` | tasks of a launch that leaves their number open | the processors that the process may use |
//! | `TVM_BIND_THREADS` | 1: every worker stays on one processor; 0: none does, whatever `runtime.config_threadpool` says | only to processors that this function names |
//! | `FERRITE_SPIN_US` | microseconds that a thread without work stays awake before it sleeps | 5000 |

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;

use super::{MAX_TASKS, system};

/// Default of `FERRITE_SPIN_US`.
const SPIN_US: usize = 5000;

/// A setting and its cached value.
struct Setting {
    known: AtomicUsize,
    read: fn() -> usize,
}

impl Setting {
    const fn new(read: fn() -> usize) -> Setting {
        Setting { known: AtomicUsize::new(usize::MAX), read }
    }

    /// Returns the value. Threads that race on first use read the same.
    #[inline]
    fn get(&self) -> usize {
        match self.known.load(Ordering::Relaxed) {
            usize::MAX => self.learn(),
            value => value,
        }
    }

    #[cold]
    fn learn(&self) -> usize {
        let value = (self.read)().min(usize::MAX - 1);
        self.known.store(value, Ordering::Relaxed);
        value
    }
}

/// Returns the default number of tasks of a launch, on threads that have no other number configured: from 1 to [`MAX_TASKS`].
///
/// `MaxConcurrency` of `src/runtime/threading_backend.cc`, which uses half of the processors on x86.
pub fn max_concurrency() -> usize {
    static SETTING: Setting = Setting::new(|| {
        let asked = [c"TVM_NUM_THREADS", c"OMP_NUM_THREADS"].into_iter().find_map(positive);
        asked.unwrap_or_else(processors).clamp(1, MAX_TASKS)
    });
    SETTING.get()
}

/// Returns the number of processors available to the process.
pub(super) fn processors() -> usize {
    static SETTING: Setting = Setting::new(|| system::processors().unwrap_or(1));
    SETTING.get()
}

/// Returns how long a thread without work stays awake.
pub(super) fn spin_limit() -> Duration {
    static SETTING: Setting = Setting::new(|| number(c"FERRITE_SPIN_US").unwrap_or(SPIN_US));
    Duration::from_micros(SETTING.get() as u64)
}

/// Whether workers are bound to processors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bind {
    Never,
    Always,
    /// To configured processors only. Other processes that bind threads may choose the same ones.
    WhenConfigured,
}

/// Returns whether workers are bound to processors.
pub(super) fn bind() -> Bind {
    static SETTING: Setting = Setting::new(|| number(c"TVM_BIND_THREADS").unwrap_or(usize::MAX));
    match SETTING.get() {
        0 => Bind::Never,
        1 => Bind::Always,
        _ => Bind::WhenConfigured,
    }
}

fn positive(name: &CStr) -> Option<usize> {
    number(name).filter(|number| *number > 0)
}

/// Parses a number from the environment; of a list such as `4,2`, the first.
fn number(name: &CStr) -> Option<usize> {
    // `std::env::var` would copy the text with an allocator that aborts the process when out of memory.
    // SAFETY: the name ends in a NUL. As everywhere in C, changing the environment concurrently is the program's mistake.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: environment texts end in a NUL.
    let value = unsafe { CStr::from_ptr(value) }.to_str().ok()?;
    value.split(',').next()?.trim().parse().ok()
}
