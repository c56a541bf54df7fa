//! Settings of the pool from environment variables. Each is read once, when it is first needed.
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

/// The default of `FERRITE_SPIN_US`.
const SPIN_US: usize = 5000;

/// A setting, and a place for it once it is known.
struct Setting {
    known: AtomicUsize,
    read: fn() -> usize,
}

impl Setting {
    const fn new(read: fn() -> usize) -> Setting {
        Setting { known: AtomicUsize::new(usize::MAX), read }
    }

    /// The value. Threads that ask at the same time for the first time read the same.
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

/// The number of tasks of a launch that leaves it open, on threads for which nothing else was configured. At least 1, at most
/// [`MAX_TASKS`].
///
/// # Upstream
/// `MaxConcurrency` of `src/runtime/threading_backend.cc`, which takes half of the processors on x86.
pub fn max_concurrency() -> usize {
    static SETTING: Setting = Setting::new(|| {
        let asked = [c"TVM_NUM_THREADS", c"OMP_NUM_THREADS"].into_iter().find_map(positive);
        asked.unwrap_or_else(processors).clamp(1, MAX_TASKS)
    });
    SETTING.get()
}

/// The number of processors that the process may use.
pub(super) fn processors() -> usize {
    static SETTING: Setting = Setting::new(|| system::processors().unwrap_or(1));
    SETTING.get()
}

/// How long a thread without work stays awake.
pub(super) fn spin_limit() -> Duration {
    static SETTING: Setting = Setting::new(|| number(c"FERRITE_SPIN_US").unwrap_or(SPIN_US));
    Duration::from_micros(SETTING.get() as u64)
}

/// When workers are bound to processors.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bind {
    Never,
    Always,
    /// To processors that were configured. Other processes may have threads bound to the same ones if they are bound to any.
    WhenConfigured,
}

/// When workers are bound to processors.
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

/// A number from the environment; of a list such as `4,2` the first.
fn number(name: &CStr) -> Option<usize> {
    // Not by std, which copies the text with an allocator that ends the process when memory is refused.
    // SAFETY: the name ends in a NUL. As for all of C, changing the environment meanwhile is the program's mistake.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: environment texts end in a NUL.
    let value = unsafe { CStr::from_ptr(value) }.to_str().ok()?;
    value.split(',').next()?.trim().parse().ok()
}
