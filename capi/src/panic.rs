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
    if let Some(place) = info.location() {
        // A message with arguments would link the formatting machinery.
        let text = info.message().as_str().unwrap_or_default();
        ferrite_core::plain_warn!("panicked at {}:{}: {}", place.file(), place.line(), text);
    }
    abort()
}
