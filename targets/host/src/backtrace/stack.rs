//! Unwinding of the current thread's stack: by call frame information where this is supported, else
//! by the system's unwinder.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod cfi;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod no_rules;
mod unwinder;

use super::cache::Cache;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) use cfi::{Rule, trace};
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(super) use no_rules::{Rule, trace};

/// A stack frame, as reported by the unwinding method of this platform.
pub(super) struct Frame<'a> {
    /// Return address: the address at which the frame's code continues.
    pub pc: usize,
    function: &'a dyn Fn() -> usize,
}

impl Frame<'_> {
    /// Returns the start address of the frame's function; zero if unknown.
    pub(super) fn function(&self) -> usize {
        (self.function)()
    }
}

/// Callback that receives frames, innermost first. Returns `false` to end the walk.
pub(super) type Visitor<'a> = dyn FnMut(&mut Cache, &Frame<'_>) -> bool + 'a;

/// Returns a value that changes when cached code addresses become stale: see
/// [`super::modules::generation`].
pub(super) fn generation() -> Option<[u64; 2]> {
    #[cfg(target_os = "linux")]
    return super::modules::generation();
    #[cfg(not(target_os = "linux"))]
    None
}
