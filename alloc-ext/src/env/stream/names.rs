//! The streams of a board, whose threads share them: in a table of symbols, named by the numbers of their devices.
#![forbid(unsafe_code)]

use core::ffi::c_void;
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::sync::atomic::Ordering;

use super::Device;
use crate::module::symbol_table::{self, SymbolTable};

static STREAMS: SymbolTable = SymbolTable::new();

/// No device has a place before others.
pub(super) fn replace_first(_device: Device, _stream: *mut c_void) -> Option<*mut c_void> {
    None
}

/// Sets a stream, and tells the one that was set before, or null. A device takes memory from its first stream on.
///
/// # Errors
/// MemoryError.
pub(super) fn replace(device: Device, stream: *mut c_void) -> Result<*mut c_void> {
    let original = find(device);
    if original != stream {
        symbol_table::set(&STREAMS, &device.0.to_ne_bytes(), stream)?;
    }
    Ok(original)
}

/// The stream that was set for a device, or null.
pub(super) fn find(device: Device) -> *mut c_void {
    let entry = STREAMS.get(&device.0.to_ne_bytes());
    entry.map_or(ptr::null_mut(), |entry| entry.value.load(Ordering::Acquire))
}
