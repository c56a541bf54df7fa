//! Table of the global container functions.

use ferrite_core::call::function::Function;
use ferrite_core::error::{Error, Result};
use ferrite_core::names::builtins::StaticFunction;
use ferrite_core::names::type_table;
use ferrite_core::static_function;
use ferrite_core::value::any::Any;
use ferrite_core::value::string::String;

mod device;
mod iteration;
mod sequence;
mod table;

use super::{Array, ArrayObject, Dict, DictObject, List, ListObject, MapObject};
use crate::operation::{Key, operation};
use sequence::Sequence;
use table::Entries;

/// Static table of the global container functions.
///
/// # Upstream
/// The registrations in `src/ffi/container.cc`, and `ffi.GetRegisteredTypeKeys` in
/// `src/ffi/object.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!(packed "ffi.Array", sequence::create_array),
    operation!(hot GetItem of Sequence, "ffi.ArrayGetItem", (ArrayObject, i64) -> Any),
    operation!(hot Size of Sequence, "ffi.ArraySize", (ArrayObject) -> i64),
    operation!(Contains of Sequence, "ffi.ArrayContains", (ArrayObject, Key) -> bool),
    static_function!(packed "ffi.List", sequence::create_list),
    operation!(hot GetListItem of Sequence, "ffi.ListGetItem", (ListObject, i64) -> Any),
    operation!(hot SetItem of Sequence, "ffi.ListSetItem", (List, i64, Any) -> ()),
    operation!(hot Size of Sequence, "ffi.ListSize", (ListObject) -> i64),
    operation!(Contains of Sequence, "ffi.ListContains", (ListObject, Key) -> bool),
    operation!(hot Append of Sequence, "ffi.ListAppend", (List, Any) -> ()),
    operation!(hot Insert of Sequence, "ffi.ListInsert", (List, i64, Any) -> ()),
    operation!(hot Pop of Sequence, "ffi.ListPop", (List, i64) -> Any),
    operation!(hot Erase of Sequence, "ffi.ListErase", (List, i64) -> ()),
    operation!(owning EraseRange of Sequence, "ffi.ListEraseRange", (List, i64, i64) -> ()),
    operation!(owning ReplaceSlice of Sequence, "ffi.ListReplaceSlice", (List, i64, i64, List) -> ()),
    operation!(Reverse of Sequence, "ffi.ListReverse", (List) -> ()),
    operation!(owning Clear of Sequence, "ffi.ListClear", (List) -> ()),
    operation!(Reserve of Sequence, "ffi.ListReserve", (List, i64) -> ()),
    static_function!(packed "ffi.Map", table::create_map),
    operation!(hot Size of Entries, "ffi.MapSize", (MapObject) -> i64),
    operation!(hot GetItem of Entries, "ffi.MapGetItem", (MapObject, Key) -> Any),
    operation!(hot Count of Entries, "ffi.MapCount", (MapObject, Key) -> i64),
    operation!(ForwardIterFunctor of Entries, "ffi.MapForwardIterFunctor", (MapObject) -> Function),
    operation!(hot GetItemOrMissing of Entries, "ffi.MapGetItemOrMissing", (MapObject, Key) -> Any),
    static_function!(packed "ffi.Dict", table::create_dict),
    operation!(hot Size of Entries, "ffi.DictSize", (DictObject) -> i64),
    operation!(hot GetDictItem of Entries, "ffi.DictGetItem", (DictObject, Key) -> Any),
    operation!(hot SetItem of Entries, "ffi.DictSetItem", (Dict, Key, Any) -> ()),
    operation!(hot CountInDict of Entries, "ffi.DictCount", (DictObject, Key) -> i64),
    operation!(hot Erase of Entries, "ffi.DictErase", (Dict, Key) -> ()),
    operation!(owning Clear of Entries, "ffi.DictClear", (Dict) -> ()),
    operation!(ForwardIterFunctor of Entries, "ffi.DictForwardIterFunctor", (DictObject) -> Function),
    operation!(hot GetDictItemOrMissing of Entries, "ffi.DictGetItemOrMissing", (DictObject, Key) -> Any),
    static_function!("ffi.ContainerFindFirstNonCPUDevice", device::find_first_non_cpu),
    static_function!("ffi.GetRegisteredTypeKeys", registered_type_keys),
];

/// Returns the keys of all registered types, in the order of their type indices.
///
/// # Upstream
/// `TypeTable::GetRegisteredTypeKeys` in `src/ffi/object.cc`.
fn registered_type_keys() -> Result<Array<String>> {
    let mut keys = Array::new()?;
    type_table::for_each_key::<Error>(|key| keys.push(String::from_bytes(key)?))?;
    Ok(keys)
}

#[cfg(test)]
mod tests;
