//! Boards, which keep no backtraces: updates change nothing.

use super::record::ErrorRecord;
use super::static_error::ignore_backtrace;
use crate::abi::{TVMFFIByteArray, TVMFFIObjectHandle};

/// There are no blocks.
pub(super) type BlockBytes = ();

/// There is no block.
pub(super) const NONE: BlockBytes = ();

/// What C calls to update a backtrace.
pub(super) const UPDATE: unsafe extern "C" fn(TVMFFIObjectHandle, *const TVMFFIByteArray, i32) =
    ignore_backtrace;

/// Does nothing.
///
/// # Safety
/// None is needed.
#[inline(always)]
pub(super) unsafe fn release(_: *mut ErrorRecord) {}
