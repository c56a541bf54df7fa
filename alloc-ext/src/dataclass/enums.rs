//! Which objects are enums.
#![forbid(unsafe_code)]

use ferrite_core::type_table;

/// The index of the class of enums, once it is registered.
pub(super) fn enum_class() -> Option<i32> {
    type_table::key_to_index(b"ffi.Enum")
}

/// Whether objects of a type are its named instances.
pub(super) fn is_enum(type_index: i32, class: Option<i32>) -> bool {
    class.is_some_and(|class| type_table::is_instance(type_index, class))
}
