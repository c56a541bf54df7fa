//! Platform hooks, by which firmware replaces the library's memory allocation and integrates the
//! tasks of its operating system.
//!
//! On bare metal, each hook is a weak symbol that firmware may override. Other builds call the
//! defaults directly.

mod defaults;
#[cfg(target_os = "none")]
mod symbols;

#[cfg(not(target_os = "none"))]
pub use defaults::{allocate, largest_free, raised_slot, release, yield_now};
#[cfg(target_os = "none")]
pub use symbols::{
    FerritePlatformAllocate as allocate, FerritePlatformLargestFree as largest_free,
    FerritePlatformRaisedSlot as raised_slot, FerritePlatformRelease as release,
    FerritePlatformYield as yield_now,
};
