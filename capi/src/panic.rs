//! The end of a panic in firmware: one line in the log, then the C library's `abort`.

use core::panic::PanicInfo;

unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    ferrite_core::log::warn(format_args!("{info}"));
    abort()
}
