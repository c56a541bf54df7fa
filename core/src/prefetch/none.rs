//! Hints that memory will be needed soon: nothing where they are unknown or memory is near.
#![forbid(unsafe_code)]

/// Hints do nothing, and work to find out what to ask for is in vain.
pub const GIVEN: bool = false;

/// Does nothing.
#[inline(always)]
pub fn to_read<T>(_: *const T) {}

/// Does nothing.
#[inline(always)]
pub fn to_write<T>(_: *const T) {}
