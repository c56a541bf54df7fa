//! Panic handler for firmware: logs one line, then calls the platform's abort hook.

use core::panic::PanicInfo;

#[cfg(target_os = "none")]
use crate::platform::abort;

#[cfg(all(feature = "web", target_family = "wasm"))]
use core::arch::wasm32::unreachable as abort;

#[cfg(not(any(target_os = "none", all(feature = "web", target_family = "wasm"))))]
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
