//! Registration of the types that only the legacy API has.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::type_table::{self, NewTypeRequest};

/// Registers a type derived from `ffi.Object`, or finds it if its key is registered already.
/// Returns the type index.
///
/// # Errors
/// MemoryError.
pub fn register(key: &[u8]) -> Result<i32> {
    type_table::get_or_alloc_index(&NewTypeRequest {
        type_key: key,
        static_type_index: -1,
        type_depth: 1,
        num_child_slots: 0,
        child_slots_can_overflow: true,
        parent_type_index: type_index::OBJECT,
    })
}
