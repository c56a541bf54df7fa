//! The global functions on containers.

use ferrite_core::any::Any;
use ferrite_core::builtins::StaticFunction;
use ferrite_core::function::Function;
use ferrite_core::static_function;

mod device;
mod iteration;
mod sequence;
mod table;
mod type_keys;

use super::{ArrayObject, Dict, DictObject, List, ListObject, MapObject};
use crate::operation::{Key, operation};

/// The functions of this module.
///
/// # Upstream
/// The registrations in `src/ffi/container.cc`, and `ffi.GetRegisteredTypeKeys` in `src/ffi/object.cc`.
pub static FUNCTIONS: &[StaticFunction] = &[
    static_function!(packed "ffi.Array", sequence::create_array),
    operation!(hot sequence::GetItem, "ffi.ArrayGetItem", (ArrayObject, i64) -> Any),
    operation!(hot sequence::Size, "ffi.ArraySize", (ArrayObject) -> i64),
    operation!(sequence::Contains, "ffi.ArrayContains", (ArrayObject, Key) -> bool),
    static_function!(packed "ffi.List", sequence::create_list),
    operation!(hot sequence::GetItem, "ffi.ListGetItem", (ListObject, i64) -> Any),
    operation!(hot sequence::SetItem, "ffi.ListSetItem", (List, i64, Any) -> ()),
    operation!(hot sequence::Size, "ffi.ListSize", (ListObject) -> i64),
    operation!(sequence::Contains, "ffi.ListContains", (ListObject, Key) -> bool),
    operation!(hot sequence::Append, "ffi.ListAppend", (List, Any) -> ()),
    operation!(hot sequence::Insert, "ffi.ListInsert", (List, i64, Any) -> ()),
    operation!(hot sequence::Pop, "ffi.ListPop", (List, i64) -> Any),
    operation!(hot sequence::Erase, "ffi.ListErase", (List, i64) -> ()),
    operation!(sequence::EraseRange, "ffi.ListEraseRange", (List, i64, i64) -> ()),
    operation!(sequence::ReplaceSlice, "ffi.ListReplaceSlice", (List, i64, i64, List) -> ()),
    operation!(sequence::Reverse, "ffi.ListReverse", (List) -> ()),
    operation!(sequence::Clear, "ffi.ListClear", (List) -> ()),
    operation!(sequence::Reserve, "ffi.ListReserve", (List, i64) -> ()),
    static_function!(packed "ffi.Map", table::create_map),
    operation!(hot table::Size, "ffi.MapSize", (MapObject) -> i64),
    operation!(hot table::GetItem, "ffi.MapGetItem", (MapObject, Key) -> Any),
    operation!(hot table::Count, "ffi.MapCount", (MapObject, Key) -> i64),
    operation!(table::ForwardIterFunctor, "ffi.MapForwardIterFunctor", (MapObject) -> Function),
    operation!(hot table::GetItemOrMissing, "ffi.MapGetItemOrMissing", (MapObject, Key) -> Any),
    static_function!(packed "ffi.Dict", table::create_dict),
    operation!(hot table::Size, "ffi.DictSize", (DictObject) -> i64),
    operation!(hot table::GetItem, "ffi.DictGetItem", (DictObject, Key) -> Any),
    operation!(hot table::SetItem, "ffi.DictSetItem", (Dict, Key, Any) -> ()),
    operation!(hot table::Count, "ffi.DictCount", (DictObject, Key) -> i64),
    operation!(hot table::Erase, "ffi.DictErase", (Dict, Key) -> ()),
    operation!(table::Clear, "ffi.DictClear", (Dict) -> ()),
    operation!(table::ForwardIterFunctor, "ffi.DictForwardIterFunctor", (DictObject) -> Function),
    operation!(hot table::GetItemOrMissing, "ffi.DictGetItemOrMissing", (DictObject, Key) -> Any),
    static_function!("ffi.ContainerFindFirstNonCPUDevice", device::find_first_non_cpu),
    static_function!("ffi.GetRegisteredTypeKeys", type_keys::registered_type_keys),
];

#[cfg(test)]
mod tests;
