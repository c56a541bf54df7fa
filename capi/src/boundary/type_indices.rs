//! How messages of the profile `core` name a type: by its index, as `c_api.h` lists them. Keys would bring the type table's texts into
//! every program.

/// What stands for a type in a message.
pub(super) fn name(type_index: i32) -> i32 {
    type_index
}
