//! Settings of the pool from environment variables. Each variable is read once, on first use.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `TVM_NUM_THREADS`, else `OMP_NUM_THREADS` | default number of tasks of a launch | number of processors available to the process |
//! | `TVM_BIND_THREADS` | 1: bind each worker to a processor; 0: bind none, despite `runtime.config_threadpool` | bind to the processors set by that function |
//! | `FERRITE_SPIN_US` | microseconds that a thread without work stays awake before it sleeps | 5000 |

use core::ffi::CStr;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;

use super::system;
use crate::environment;

/// Default of `FERRITE_SPIN_US`.
const SPIN_US: usize = 5000;

/// Maximum number of tasks of a launch, and of threads in the pool.
pub const MAX_TASKS: usize = 1024;

/// A setting: an environment variable and its cached value.
struct Setting {
    known: AtomicUsize,
    read: fn() -> usize,
}

impl Setting {
    const fn new(read: fn() -> usize) -> Setting {
        Setting { known: AtomicUsize::new(usize::MAX), read }
    }

    /// Returns the value, and caches it on first use. Threads that race on first use compute the
    /// same value.
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

/// Returns the default number of tasks of a launch, from 1 to [`MAX_TASKS`]. It applies to threads
/// that have not configured another number.
///
/// `MaxConcurrency` in `src/runtime/threading_backend.cc`, which uses only half of the processors
/// on x86.
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

/// Returns the time for which a thread without work stays awake.
pub(super) fn spin_limit() -> Duration {
    static SETTING: Setting = Setting::new(|| number(c"FERRITE_SPIN_US").unwrap_or(SPIN_US));
    Duration::from_micros(SETTING.get() as u64)
}

/// Policy for binding workers to processors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bind {
    Never,
    Always,
    /// Workers are bound only if the program configures processors, since other processes may bind
    /// their threads to the same ones.
    WhenConfigured,
}

/// Returns the policy for binding workers, from `TVM_BIND_THREADS`.
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

/// Parses a number in an environment variable. In a list such as `4,2`, the first number counts.
fn number(name: &CStr) -> Option<usize> {
    environment::read(name, |value| {
        core::str::from_utf8(value).ok()?.split(',').next()?.trim().parse().ok()
    })?
}
