//! How messages of the profile `core` say what is wrong, in few texts. Types go by their index, as `c_api.h` lists them:
//! keys would bring the type table's texts into every program.

use ferrite_core::error::Error;

/// What stands for a type in a message.
pub(super) fn type_name(type_index: i32) -> i32 {
    type_index
}

/// The error for a negative number of records.
pub(super) fn negative_count(name: &str, count: i32) -> Error {
    super::impossible_size(name, count.into())
}
