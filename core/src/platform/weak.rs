//! Weak symbols for the default hooks. The linker uses each one unless firmware defines the function.
//!
//! A hook therefore costs no memory and works before `main`, and a replaced default is not linked. Stable Rust cannot
//! declare a weak function; assembly can declare a weak alias of one.

use core::arch::global_asm;

use super::defaults;

global_asm!(".weak FerritePlatformAllocate", ".set FerritePlatformAllocate, {}", sym defaults::allocate);
global_asm!(".weak FerritePlatformRelease", ".set FerritePlatformRelease, {}", sym defaults::release);
global_asm!(".weak FerritePlatformLargestFree", ".set FerritePlatformLargestFree, {}", sym defaults::largest_free);
global_asm!(".weak FerritePlatformRaisedSlot", ".set FerritePlatformRaisedSlot, {}", sym defaults::raised_slot);
global_asm!(".weak FerritePlatformYield", ".set FerritePlatformYield, {}", sym defaults::yield_now);
