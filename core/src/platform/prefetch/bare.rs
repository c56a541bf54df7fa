//! Prefetch hints without effect.
#![forbid(unsafe_code)]

/// Whether prefetch hints have an effect; they do not in this build.
pub const GIVEN: bool = false;

/// Does nothing.
#[inline(always)]
pub fn to_read<T>(_: *const T) {}

/// Does nothing.
#[inline(always)]
pub fn to_write<T>(_: *const T) {}
