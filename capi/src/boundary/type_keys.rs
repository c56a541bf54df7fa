//! How messages name a type: by its key.

use ferrite_core::type_table;

/// What stands for a type in a message.
pub(super) fn name(type_index: i32) -> &'static [u8] {
    type_table::type_key_of(type_index)
}
