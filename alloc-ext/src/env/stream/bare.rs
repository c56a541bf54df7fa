//! Current streams on bare metal, shared by all threads, in a symbol table keyed by the bytes of
//! the device key.
#![forbid(unsafe_code)]

use core::ffi::c_void;
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::platform::sync::atomic::Ordering;

use super::key::DeviceKey;
use crate::module::symbol_table::{self, SymbolTable};

static STREAMS: SymbolTable = SymbolTable::new();

/// Returns `None`: there is no inline slot.
pub(super) fn replace_inline(_device: DeviceKey, _stream: *mut c_void) -> Option<*mut c_void> {
    None
}

/// Sets the stream of a device. Returns the previous one, or null. Allocates when a device's first
/// stream is set.
///
/// # Errors
/// MemoryError.
pub(super) fn replace(device: DeviceKey, stream: *mut c_void) -> Result<*mut c_void> {
    let original = find(device);
    if original != stream {
        symbol_table::set(&STREAMS, &device.to_bytes(), stream)?;
    }
    Ok(original)
}

/// Returns the current stream of a device, or null.
pub(super) fn find(device: DeviceKey) -> *mut c_void {
    let entry = STREAMS.get(&device.to_bytes());
    entry.map_or(ptr::null_mut(), |entry| entry.value.load(Ordering::Acquire))
}
