//! The memory of builds without an operating system's heap: a pool of blocks.
//!
//! `fixed.rs` has the regions that the program gives it, for microcontrollers. With
//! `growing-memory`, WebAssembly modules have `growing.rs`, whose memory grows up to a limit.

#[cfg_attr(all(feature = "growing-memory", target_family = "wasm"), path = "growing.rs")]
#[cfg_attr(not(all(feature = "growing-memory", target_family = "wasm")), path = "fixed.rs")]
mod imp;

// Compiled for its tests on hosts, too.
#[cfg(any(test, all(feature = "growing-memory", target_family = "wasm")))]
mod growth;

pub use imp::*;

/// Usage statistics of the pool in bytes, block headers included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolStats {
    /// Total capacity of all regions.
    pub capacity: usize,
    /// Number of bytes in use. Memory that grows does not count them: all of its capacity is in
    /// use.
    pub used: usize,
    /// High-water mark: the maximum number of bytes in use so far.
    pub high_water: usize,
}
