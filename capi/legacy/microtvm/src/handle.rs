//! Function handles: a function object of tvm-ffi, or the address of an entry in a function table
//! of generated code, with the lowest bit set as a tag.
#![forbid(unsafe_code)]

use core::ffi::c_void;

use super::registry::TVMBackendPackedCFunc;
use ferrite_core::abi::packed::TVMFunctionHandle;

/// Tag bit of entries.
const ENTRY: usize = 1;

/// Returns the handle of a function-table entry.
pub(super) fn handle_of(entry: *const TVMBackendPackedCFunc) -> TVMFunctionHandle {
    entry.cast_mut().cast::<c_void>().map_addr(|address| address | ENTRY)
}

/// Returns `true` if a handle is that of a function-table entry.
pub(super) fn is_entry(handle: TVMFunctionHandle) -> bool {
    handle.addr() & ENTRY != 0
}

/// Returns the function-table entry of a handle.
#[inline(always)]
pub(super) fn entry_of(handle: TVMFunctionHandle) -> *mut TVMBackendPackedCFunc {
    handle.map_addr(|address| address & !ENTRY).cast()
}
