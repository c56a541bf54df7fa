//! Type keys of the built-in types in read-only data. They are separate from the entries, so that
//! looking up a key does not link the entries.
#![forbid(unsafe_code)]

use crate::abi::type_index::{OBJECT, STATIC_OBJECT_END, UNCHANGED};

/// Type keys in the order of their indices, each NUL-terminated for readers of C strings. A static,
/// since pointers into it are compared and advanced.
pub(super) static KEYS: &[u8] = b"None\0int\0bool\0float\0void*\0DataType\0Device\0DLTensor*\0const char*\0\
    TVMFFIByteArray*\0ObjectRValueRef\0ffi.SmallStr\0ffi.SmallBytes\0ffi.Unchanged\0\
    ffi.Object\0ffi.String\0ffi.Bytes\0ffi.Error\0ffi.Function\0ffi.Shape\0ffi.Tensor\0ffi.Array\0ffi.Map\0ffi.Module\0\
    ffi.OpaquePyObject\0ffi.List\0ffi.Dict\0ffi.VisitInterrupt\0ffi.BigInt\0";

/// Number of built-in types that are not objects. Their indices start at 0, and those of objects at
/// [`OBJECT`].
pub(super) const VALUE_COUNT: usize = (UNCHANGED + 1) as usize;

/// Number of built-in types.
pub(super) const COUNT: usize = VALUE_COUNT + (STATIC_OBJECT_END - OBJECT) as usize;

/// Returns the position of a type index among the keys, or `None` if it is not built in.
#[inline]
pub(super) const fn position(type_index: i32) -> Option<usize> {
    if 0 <= type_index && type_index < VALUE_COUNT as i32 {
        Some(type_index as usize)
    } else if OBJECT <= type_index && type_index < STATIC_OBJECT_END {
        Some((type_index - OBJECT) as usize + VALUE_COUNT)
    } else {
        None
    }
}

/// Returns the type index at a position among the keys.
pub(super) const fn index_at(position: usize) -> i32 {
    if position < VALUE_COUNT { position as i32 } else { (position - VALUE_COUNT) as i32 + OBJECT }
}
