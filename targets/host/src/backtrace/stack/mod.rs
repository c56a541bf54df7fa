//! Unwinding of the current thread's stack: by call frame information where this is supported, else
//! by the system's unwinder.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod cfi;
mod frame;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod no_cfi;
mod unwinder;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(super) use cfi::{Rule, trace};
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(super) use no_cfi::{Rule, trace};

/// Returns a value that changes when cached code addresses become stale: see
/// [`super::modules::generation`].
pub(super) fn generation() -> Option<[u64; 2]> {
    #[cfg(target_os = "linux")]
    return super::modules::generation();
    #[cfg(not(target_os = "linux"))]
    None
}
