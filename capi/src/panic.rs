//! The end of a panic in firmware: one line in the log, then the platform's abort.

use core::panic::PanicInfo;

#[cfg(target_os = "none")]
use crate::platform::abort;

#[cfg(not(target_os = "none"))]
unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    ferrite_core::log::warn(format_args!("{info}"));
    abort()
}

/// Never called. Calls through the virtual tables of modules are declared to unwind, as C++ code may; a build that aborts
/// instead still names the function that would look at their frames.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
