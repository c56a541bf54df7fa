//! Which objects are enums.
#![forbid(unsafe_code)]

use ferrite_core::any::Any;
use ferrite_core::type_table;

/// The index of the class of enums, once it is registered.
pub(super) fn enum_class() -> Option<i32> {
    type_table::key_to_index(b"ffi.Enum")
}

/// Whether an object is one of the named instances of its type.
pub(super) fn is_enum(object: &Any, class: Option<i32>) -> bool {
    class.is_some_and(|class| type_table::is_instance(object.type_index(), class))
}
