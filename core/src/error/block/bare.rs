//! Errors without backtraces: updates change nothing.

use super::super::record::ErrorRecord;
use super::super::static_error::ignore_backtrace;
use crate::abi::{TVMFFIByteArray, TVMFFIObjectHandle};

/// No bytes: an error has no block.
pub(in crate::error) type BlockBytes = ();

/// The bytes of no block.
pub(in crate::error) const NONE: BlockBytes = ();

/// The `update_backtrace` of errors made here.
pub(in crate::error) const UPDATE: unsafe extern "C" fn(TVMFFIObjectHandle, *const TVMFFIByteArray, i32) =
    ignore_backtrace;

/// Does nothing.
///
/// # Safety
/// None is needed.
#[inline(always)]
pub(in crate::error) unsafe fn release(_: *mut ErrorRecord) {}
