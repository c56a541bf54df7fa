//! Mapping between type keys of TVM 0.5 to 0.20 and type indices of tvm-ffi.

use ferrite_core::abi::type_index;
use ferrite_core::error::Result;
use ferrite_core::names::type_table;
use ferrite_core::platform::sync::atomic::{AtomicI32, Ordering};

use super::boxed;
use super::type_registration::register;

/// Former type keys with their type indices. If a type had several keys, the first one is reported
/// to front ends.
static FORMER_KEYS: &[(&[u8], i32)] = &[
    (b"runtime.Module", type_index::MODULE),
    (b"runtime.NDArray", type_index::TENSOR),
    (b"Array", type_index::ARRAY),
    (b"Map", type_index::MAP),
    (b"runtime.ShapeTuple", type_index::SHAPE),
    (b"runtime.PackedFunc", type_index::FUNCTION),
    (b"runtime.Object", type_index::OBJECT),
    (b"Object", type_index::OBJECT),
    (b"Node", type_index::OBJECT),
];

/// Type key of Maps with string keys, which are a separate class in 0.5 and 0.6.
const STR_MAP: &[u8] = b"StrMap";

/// Type index of [`STR_MAP`]; 0 until a front end looks it up.
static STR_MAP_INDEX: AtomicI32 = AtomicI32::new(0);

/// Finds the type index of a former or current type key. Returns `None` for an unknown key.
///
/// # Errors
/// MemoryError.
pub fn index_of(key: &[u8]) -> Result<Option<i32>> {
    if key == STR_MAP {
        return str_map_index().map(Some);
    }
    if let Some(class) = boxed::Class::find(key) {
        return class.index().map(Some);
    }
    let former = FORMER_KEYS.iter().find(|(known, _)| *known == key).map(|(_, index)| *index);
    Ok(former.or_else(|| type_table::key_to_index(key)))
}

/// Returns the type key of a type that front ends expect: a former one if there is one. Returns
/// `None` for an unknown index.
pub fn key_of(index: i32) -> Option<&'static [u8]> {
    let former = FORMER_KEYS.iter().find(|(_, known)| *known == index).map(|(key, _)| *key);
    former.or_else(|| type_table::type_info(index).map(|entry| entry.type_key()))
}

fn str_map_index() -> Result<i32> {
    let index = register(STR_MAP)?;
    STR_MAP_INDEX.store(index, Ordering::Release);
    Ok(index)
}

/// Returns the type index of Maps with string keys. Returns `None` unless a front end has looked up
/// their class.
pub fn str_map() -> Option<i32> {
    Some(STR_MAP_INDEX.load(Ordering::Acquire)).filter(|index| *index != 0)
}
