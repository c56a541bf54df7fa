//! Addresses by name, as programs register them; also the streams of boards.
#![forbid(unsafe_code)]

use core::ffi::c_void;

use ferrite_core::error::Result;
use ferrite_core::name_table::NameTable;
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};

/// Names and their addresses.
pub(crate) type SymbolTable = NameTable<AtomicPtr<c_void>>;

/// Gives a name an address; answers the one that it had before, or this one if it is new.
///
/// # Errors
/// `MemoryError`.
#[inline(never)]
pub(crate) fn set(table: &SymbolTable, name: &[u8], address: *mut c_void) -> Result<*mut c_void> {
    let entry = table.get_or_insert(name, || AtomicPtr::new(address))?;
    let previous = entry.value.load(Ordering::Acquire);
    entry.value.store(address, Ordering::Release);
    Ok(previous)
}
