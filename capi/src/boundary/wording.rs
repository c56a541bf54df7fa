//! How messages say what is wrong: types by their keys.

use ferrite_core::error::Error;
use ferrite_core::{common_error, type_table};

/// What stands for a type in a message.
pub(super) fn type_name(type_index: i32) -> &'static [u8] {
    type_table::type_key_of(type_index)
}

/// The error for a negative number of records.
#[cold]
pub(super) fn negative_count(name: &str, count: i32) -> Error {
    common_error!(VALUE_ERROR, "The number of `{}` must not be negative, got {}", name, count)
}
