//! The backtrace block of errors in builds without backtraces: there is none, and updates have no
//! effect.

use super::super::record::ErrorRecord;
use super::super::static_error::ignore_backtrace;
use crate::abi::{TVMFFIByteArray, TVMFFIObjectHandle};

/// The size of a backtrace block; a unit type, because this build has no such blocks.
pub(in crate::error) type BlockBytes = ();

/// The value of [`BlockBytes`] without a block.
pub(in crate::error) const NONE: BlockBytes = ();

/// The `update_backtrace` callback of errors created by this library.
pub(in crate::error) const UPDATE: unsafe extern "C" fn(
    TVMFFIObjectHandle,
    *const TVMFFIByteArray,
    i32,
) = ignore_backtrace;

/// Does nothing.
///
/// # Safety
/// No requirements.
#[inline(always)]
pub(in crate::error) unsafe fn release(_: *mut ErrorRecord) {}
