//! The defaults of hooks: functions under weak names, which the linker takes unless firmware defines the hook.
//!
//! So a hook costs no memory and works before `main`, and a default that is replaced is not linked. A weak function itself
//! is not to be had in stable Rust; a weak second name of one is.

use core::arch::global_asm;

use super::interrupts::{self, lock, unlock};

extern "C" fn abort() -> ! {
    loop {
        interrupts::mask();
        interrupts::fault();
    }
}

global_asm!(".weak FerritePlatformLock", ".set FerritePlatformLock, {}", sym lock);
global_asm!(".weak FerritePlatformUnlock", ".set FerritePlatformUnlock, {}", sym unlock);
global_asm!(".weak FerritePlatformAbort", ".set FerritePlatformAbort, {}", sym abort);
