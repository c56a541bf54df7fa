//! Panic handler: the kernels have no panicking paths, so that a panic aborts.

unsafe extern "C" {
    safe fn abort() -> !;
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    abort()
}
