//! Weak symbols for the default hooks: the linker uses them unless firmware defines the hook.
//!
//! A hook therefore costs no memory and works before `main`, and a replaced default is not linked. Stable Rust cannot
//! declare a weak function; assembly can declare a weak alias of one.

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
