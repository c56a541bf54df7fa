//! The defaults under weak names: the linker takes them unless firmware defines the function.
//!
//! So a hook costs no memory and works before `main`, and a default that is replaced is not linked. A weak function itself
//! is not to be had in stable Rust; a weak second name of one is.

use core::arch::global_asm;

use super::defaults;

global_asm!(".weak FerritePlatformAllocate", ".set FerritePlatformAllocate, {}", sym defaults::allocate);
global_asm!(".weak FerritePlatformRelease", ".set FerritePlatformRelease, {}", sym defaults::release);
global_asm!(".weak FerritePlatformLargestFree", ".set FerritePlatformLargestFree, {}", sym defaults::largest_free);
global_asm!(".weak FerritePlatformRaisedSlot", ".set FerritePlatformRaisedSlot, {}", sym defaults::raised_slot);
global_asm!(".weak FerritePlatformYield", ".set FerritePlatformYield, {}", sym defaults::yield_now);
