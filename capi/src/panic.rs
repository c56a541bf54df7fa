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
