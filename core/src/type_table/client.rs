//! The type table of a kernel library: queries to the loaded `libtvm_ffi` through its C functions.
//!
//! With the feature `client` a binary has no type table, raised error or allocator of its own. Its objects of built-in
//! classes are created by the loaded library, whose code outlives the kernel library.

use crate::abi::{TVMFFITypeInfo, client};
use crate::type_index;

/// Returns the type registered at an index, or `None`.
pub fn type_info(type_index: i32) -> Option<&'static TVMFFITypeInfo> {
    // SAFETY: the record of a type lives as long as the process (ABI); objects only have registered types.
    unsafe { client::TVMFFIGetTypeInfo(type_index).as_ref() }
}

/// Returns the key of a type, or a placeholder for an unregistered type.
pub fn type_key_of(type_index: i32) -> &'static [u8] {
    // SAFETY: the key lives as long as its record.
    type_info(type_index).map_or(b"<unregistered type>", |info| unsafe { info.type_key.as_slice() })
}

/// Returns `true` if the type at `index` is `target` or derived from it.
pub fn is_instance(index: i32, target: i32) -> bool {
    if index == target {
        return true;
    }
    if index < type_index::STATIC_OBJECT_BEGIN || target == type_index::OBJECT {
        return index >= type_index::STATIC_OBJECT_BEGIN && target == type_index::OBJECT;
    }
    let (Some(info), Some(wanted)) = (type_info(index), type_info(target)) else {
        return false;
    };
    // SAFETY: a type of depth n has n ancestors, whose records live as long as the process (ABI).
    info.type_depth > wanted.type_depth
        && unsafe { (*(*info.type_ancestors.add(wanted.type_depth as usize))).type_index == target }
}
