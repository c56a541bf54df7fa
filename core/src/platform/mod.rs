//! Hooks by which firmware replaces parts of the library: memory, and the tasks of an operating system.
//!
//! On bare metal, firmware may define each hook, and a weak symbol provides the default; other builds call the defaults
//! directly.

mod defaults;
#[cfg(target_os = "none")]
mod hooks;
#[cfg(target_os = "none")]
mod weak;

#[cfg(not(target_os = "none"))]
pub use defaults::{allocate, largest_free, raised_slot, release, yield_now};
#[cfg(target_os = "none")]
pub use hooks::{
    FerritePlatformAllocate as allocate, FerritePlatformLargestFree as largest_free,
    FerritePlatformRaisedSlot as raised_slot, FerritePlatformRelease as release,
    FerritePlatformYield as yield_now,
};
