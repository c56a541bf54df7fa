//! The global function `ffi.GetRegisteredTypeKeys`.
#![forbid(unsafe_code)]

use ferrite_core::error::{Error, Result};
use ferrite_core::names::type_table;
use ferrite_core::value::string::String;

use crate::containers::Array;

/// Returns the keys of all registered types, in the order of their type indices.
///
/// # Upstream
/// `TypeTable::GetRegisteredTypeKeys` in `src/ffi/object.cc`.
pub(super) fn registered_type_keys() -> Result<Array<String>> {
    let mut keys = Array::new()?;
    type_table::for_each_key::<Error>(|key| keys.push(String::from_bytes(key)?))?;
    Ok(keys)
}
