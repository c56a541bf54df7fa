//! Tables of registered addresses by name; also used for streams on bare metal.
#![forbid(unsafe_code)]

use core::ffi::c_void;

use ferrite_core::error::Result;
use ferrite_core::name_table::NameTable;
use ferrite_core::sync::atomic::{AtomicPtr, Ordering};

/// Table from names to addresses.
pub(crate) type SymbolTable = NameTable<AtomicPtr<c_void>>;

/// Sets the address of a name. Returns its previous address, or the new one if the name is new.
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
