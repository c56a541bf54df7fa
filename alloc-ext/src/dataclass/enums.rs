//! Detection of enum objects.
#![forbid(unsafe_code)]

use ferrite_core::names::type_table;

/// Returns the type index of the enum base class; `None` before it is registered.
pub(super) fn enum_class() -> Option<i32> {
    type_table::key_to_index(b"ffi.Enum")
}

/// Returns `true` if a type derives from `class`, the enum base class.
pub(super) fn is_enum(type_index: i32, class: Option<i32>) -> bool {
    class.is_some_and(|class| type_table::is_instance(type_index, class))
}
