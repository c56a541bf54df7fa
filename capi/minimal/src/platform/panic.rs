//! The panic handler that the compiler requires. The profile `minimal` never panics, so linked
//! programs do not contain the handler.

use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
