//! What the compiler wants to have for panics, of which there are none in this profile: no linked program contains this.

use core::panic::PanicInfo;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {
        core::hint::spin_loop();
    }
}
