//! Default implementations of the platform hooks, as weak symbols. The linker uses a default unless
//! the firmware defines the hook.
//!
//! Hooks therefore need no function pointers in memory and work before `main`, and a replaced
//! default is not linked. Stable Rust cannot define weak functions, so assembly declares weak
//! aliases.

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
