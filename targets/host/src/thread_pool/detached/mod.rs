//! Starts detached threads by the system's own function: `std::thread` allocates by an allocator
//! that aborts the process when out of memory.

use core::ffi::c_void;

#[cfg_attr(windows, path = "windows.rs")]
#[cfg_attr(not(windows), path = "pthread.rs")]
mod system;

pub(super) use system::start;

/// Stack size in bytes where the system's default is smaller. Equal to the default of `std`.
const LEAST_STACK_BYTES: usize = 2 << 20;

/// Body of a thread.
pub(super) trait Body {
    /// Runs on the thread, with the argument of [`start`].
    ///
    /// # Safety
    /// The argument must be one that the type's users pass.
    unsafe fn run(argument: *mut c_void);
}
