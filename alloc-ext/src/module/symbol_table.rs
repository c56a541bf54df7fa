//! Symbol tables: registered addresses by name. Also used for the streams of devices on bare metal.
#![forbid(unsafe_code)]

use core::ffi::c_void;

use ferrite_core::error::Result;
use ferrite_core::names::name_table::NameTable;
use ferrite_core::platform::sync::atomic::{AtomicPtr, Ordering};

/// Symbol table: maps names to addresses, which can be replaced.
pub(crate) type SymbolTable = NameTable<AtomicPtr<c_void>>;

/// Sets the address of a name. Returns the previous address, or the new address if the name was not
/// in the table.
///
/// # Errors
/// MemoryError.
#[inline(never)]
pub(crate) fn set(table: &SymbolTable, name: &[u8], address: *mut c_void) -> Result<*mut c_void> {
    let entry = table.get_or_insert(name, || AtomicPtr::new(address))?;
    let previous = entry.value.load(Ordering::Acquire);
    entry.value.store(address, Ordering::Release);
    Ok(previous)
}
