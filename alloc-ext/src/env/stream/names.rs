//! The streams of a board, whose threads share them: in a table of symbols, named by the numbers of their devices.
#![forbid(unsafe_code)]

use core::ffi::c_void;
use core::ptr;

use ferrite_core::error::Result;
use ferrite_core::sync::atomic::Ordering;

use super::{DeviceStream, number};
use crate::module::symbol_table::{self, SymbolTable};

static STREAMS: SymbolTable = SymbolTable::new();

/// Sets a stream, and tells the one that was set before, or null. A device takes memory from its first stream on.
///
/// # Errors
/// MemoryError.
pub(super) fn replace(new: DeviceStream) -> Result<*mut c_void> {
    let original = find(new.device_type, new.device_id);
    if original != new.stream {
        symbol_table::set(&STREAMS, &name(new.device_type, new.device_id), new.stream)?;
    }
    Ok(original)
}

/// The stream that was set for a device, or null.
pub(super) fn find(device_type: i32, device_id: i32) -> *mut c_void {
    let entry = STREAMS.get(&name(device_type, device_id));
    entry.map_or(ptr::null_mut(), |entry| entry.value.load(Ordering::Acquire))
}

fn name(device_type: i32, device_id: i32) -> [u8; 8] {
    number(device_type, device_id).to_ne_bytes()
}
