//! Errors without backtraces: updates have no effect.

use super::super::record::ErrorRecord;
use super::super::static_error::ignore_backtrace;
use crate::abi::{TVMFFIByteArray, TVMFFIObjectHandle};

/// The size of a backtrace block: none exists.
pub(in crate::error) type BlockBytes = ();

/// The size without a block.
pub(in crate::error) const NONE: BlockBytes = ();

/// The `update_backtrace` of errors made by this library.
pub(in crate::error) const UPDATE: unsafe extern "C" fn(TVMFFIObjectHandle, *const TVMFFIByteArray, i32) =
    ignore_backtrace;

/// Does nothing.
///
/// # Safety
/// None is needed.
#[inline(always)]
pub(in crate::error) unsafe fn release(_: *mut ErrorRecord) {}
